//! Sets that were written before a list or map became one value lose what lies inside.

use super::element::Element;
use super::schema::{Form, Place};
use super::set::{Node, Set};

/// Makes the owner of a part of an atomic value the owner of the value.
pub(super) fn reconcile(place: Place<'_>, set: &mut Set) {
    match place.form(None) {
        Form::Scalar(_) => {}
        Form::List(items) => set.nodes.iter_mut().for_each(|node| reconcile_node(items.place, node)),
        // What is in maps of anything is not looked at.
        Form::Map(members) if members.is_deduced() || members.atomic => {}
        Form::Map(members) => {
            for node in &mut set.nodes {
                let place = match &node.element {
                    Element::Field(name) => members.get(name).map(|(place, _)| place),
                    _ => members.rest(),
                };
                if let Some(place) = place {
                    reconcile_node(place, node);
                }
            }
        }
    }
}

fn reconcile_node(place: Place<'_>, node: &mut Node) {
    if node.children.is_empty() {
        return;
    }
    let atomic = match place.form(None) {
        Form::Scalar(_) => return,
        Form::List(items) => items.atomic(),
        Form::Map(members) if members.is_deduced() => return,
        Form::Map(members) => members.atomic,
    };
    if atomic {
        node.member = true;
        node.children = Set::default();
    } else {
        reconcile(place, &mut node.children);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::type_of;

    #[test]
    fn parts_of_atomic_values_become_the_value() {
        let mut set = Set::from_fields(&json!({
            "f:spec": {
                "f:selector": {"f:app": {}},
                "f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}},
                "f:externalIPs": {"i:0": {}},
                "f:type": {"f:odd": {}},
            },
            "f:unknown": {"f:x": {}},
        }))
        .unwrap();
        reconcile(Place::of(type_of("", "v1", "Service").unwrap()), &mut set);
        let after = json!({
            "f:spec": {
                "f:selector": {},
                "f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}},
                "f:externalIPs": {},
                "f:type": {"f:odd": {}},
            },
            "f:unknown": {"f:x": {}},
        });
        assert_eq!(set.to_fields(), after);
    }
}
