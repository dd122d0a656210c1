//! The fields that an object mentions.

use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::element::Element;
use super::schema::{Form, Items, Members, Place};
use super::set::{Node, Set};

/// Every field of an object.
pub(super) fn to_set(place: Place<'_>, object: &Map<String, Value>) -> Set {
    match place.form(None) {
        Form::Map(members) if !members.atomic => members_of(members, object),
        Form::Map(_) | Form::Scalar(_) | Form::List(_) => Set::default(),
    }
}

/// What lies below a value, and whether the value itself is a member.
fn below(place: Place<'_>, value: &Value) -> (Set, bool) {
    match (place.form(Some(value)), value) {
        (Form::Scalar(_), _) => (Set::default(), true),
        (Form::List(items), _) if items.atomic() => (Set::default(), true),
        (Form::Map(members), _) if members.atomic => (Set::default(), true),
        (Form::List(items), Value::Array(list)) => (items_of(items, list), false),
        (Form::Map(members), Value::Object(map)) => (members_of(members, map), false),
        _ => (Set::default(), false),
    }
}

fn members_of(members: Members<'_>, map: &Map<String, Value>) -> Set {
    let mut set = Set::default();
    for (name, value) in map {
        let Some((place, named)) = members.get(name) else { continue };
        let (children, member) = below(place, value);
        let empty = match value {
            Value::Null => true,
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        set.push(&Element::Field(SmolStr::new(name)), member || empty || !named, children);
    }
    set
}

fn items_of(items: Items<'_>, list: &[Value]) -> Set {
    let mut nodes: Vec<(Node, bool)> = Vec::with_capacity(list.len());
    for item in list {
        let element = items.element_or_nameless(item);
        let (children, _) = below(items.place, item);
        nodes.push((Node { element, member: true, children }, false));
    }
    nodes.sort_by(|a, b| a.0.element.cmp(&b.0.element));
    // Of an element that occurs several times, only the element itself counts.
    nodes.dedup_by(|later, kept| {
        let twice = later.0.element == kept.0.element;
        kept.1 |= twice;
        twice
    });
    let alone = |(mut node, twice): (Node, bool)| {
        if twice {
            node.children = Set::default();
        }
        node
    };
    Set { nodes: nodes.into_iter().map(alone).collect() }
}

/// The same set with the named fields on the way to members as members.
pub(super) fn with_named_fields(place: Place<'_>, set: &Set) -> Set {
    named(Some(place), set)
}

fn named(place: Option<Place<'_>>, set: &Set) -> Set {
    let form = place.map(|place| place.form(None));
    let nodes = set.nodes.iter().map(|node| {
        let (place, is_named) = match (&node.element, form) {
            (Element::Field(name), Some(Form::Map(members))) => members.get(name).unzip(),
            (Element::Key(_), Some(Form::List(items))) => (Some(items.place), None),
            _ => (None, None),
        };
        let member = node.member || is_named.unwrap_or(false) && !node.children.is_empty();
        Node { element: node.element.clone(), member, children: named(place, &node.children) }
    });
    Set { nodes: nodes.collect() }
}
