//! JSON Merge Patch, as Kubernetes applies it.

use std::collections::BTreeMap;

use super::node::Node;

/// Merges the members of a patch into those of a document.
pub(super) fn members(document: &mut BTreeMap<String, Node>, patch: BTreeMap<String, Node>) {
    for (key, mut node) in patch {
        if node == Node::Null {
            document.remove(&key);
            continue;
        }
        match document.get_mut(&key) {
            None | Some(Node::Null) => {
                prune(&mut node);
                document.insert(key, node);
            }
            Some(current) => merge(current, node),
        }
    }
}

fn merge(current: &mut Node, mut patch: Node) {
    match current.open() {
        None => {
            prune(&mut patch);
            *current = patch;
        }
        // A list over an object keeps the nulls within it.
        Some(document) => match patch {
            Node::Object(_) => members(document, opened(patch)),
            other => *current = other,
        },
    }
}

/// The members of an object.
pub(super) fn opened(mut node: Node) -> BTreeMap<String, Node> {
    node.open().map(std::mem::take).unwrap_or_default()
}

/// Removes members that are `null`, also within lists.
pub(super) fn prune(node: &mut Node) {
    if let Node::Array(items) = node {
        items.iter_mut().for_each(prune);
    } else if let Some(members) = node.open() {
        members.retain(|_, node| *node != Node::Null);
        members.values_mut().for_each(prune);
    }
}
