//! Sets of fields, as trees of path elements.

use std::cmp::Ordering;
use std::sync::LazyLock;

use smol_str::SmolStr;

use super::element::Element;

/// A set of fields. The nodes are sorted, and each is a member or has children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    pub(super) nodes: Vec<Node>,
}

/// An element that is a member of its set, or leads to members, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) element: Element,
    pub(super) member: bool,
    pub(super) children: Set,
}

/// Where two sorted lists of nodes meet. What comes before is skipped, in a few steps where there is much of it.
fn find<'a>(rest: &mut &'a [Node], element: &Element) -> Option<&'a Node> {
    const FEW: usize = 8;
    if rest.len() > FEW {
        let skipped = rest.partition_point(|node| node.element < *element);
        *rest = rest.get(skipped..).unwrap_or_default();
    }
    while let Some((first, others)) = rest.split_first() {
        match first.element.cmp(element) {
            Ordering::Less => *rest = others,
            Ordering::Equal => return Some(first),
            Ordering::Greater => return None,
        }
    }
    None
}

impl Set {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds fields that come after all others; nothing happens without any.
    pub(super) fn push(&mut self, element: &Element, member: bool, children: Self) {
        if member || !children.is_empty() {
            self.nodes.push(Node { element: element.clone(), member, children });
        }
    }

    /// A set of paths, each the names of fields.
    pub(super) fn of_names<'a>(paths: impl IntoIterator<Item = &'a [&'a str]>) -> Self {
        let mut set = Self::default();
        for path in paths {
            let mut at = &mut set;
            let mut names = path.iter().peekable();
            while let Some(name) = names.next() {
                let node = at.node(Element::Field(SmolStr::new(name)));
                node.member |= names.peek().is_none();
                at = &mut node.children;
            }
        }
        set
    }

    /// The node of an element, inserted where it is missing. The caller gives it content.
    pub(super) fn node(&mut self, element: Element) -> &mut Node {
        let at = match self.nodes.binary_search_by(|node| node.element.cmp(&element)) {
            Ok(at) => at,
            Err(at) => {
                self.nodes.insert(at, Node { element, member: false, children: Self::default() });
                at
            }
        };
        self.nodes.get_mut(at).expect("it was found or has just been inserted")
    }

    /// The node of an element.
    pub(super) fn get(&self, element: &Element) -> Option<&Node> {
        let at = self.nodes.binary_search_by(|node| node.element.cmp(element)).ok()?;
        self.nodes.get(at)
    }

    /// What is in one or the other.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        let mut nodes = Vec::with_capacity(self.nodes.len().max(other.nodes.len()));
        let (mut left, mut right) = (self.nodes.into_iter().peekable(), other.nodes.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.element.cmp(&b.element) {
                Ordering::Less => nodes.extend(left.next()),
                Ordering::Greater => nodes.extend(right.next()),
                Ordering::Equal => {
                    if let (Some(a), Some(b)) = (left.next(), right.next()) {
                        let (member, children) = (a.member || b.member, a.children.union(b.children));
                        nodes.push(Node { element: a.element, member, children });
                    }
                }
            }
        }
        nodes.extend(left);
        nodes.extend(right);
        Self { nodes }
    }

    /// What is in any of them. Two by two, so that many small ones do not each walk through all before them.
    #[must_use]
    pub fn union_all(mut sets: Vec<Self>) -> Self {
        while sets.len() > 1 {
            let mut pairs = sets.into_iter();
            let mut halves = Vec::with_capacity(pairs.len().div_ceil(2));
            while let Some(first) = pairs.next() {
                halves.push(first.union(pairs.next().unwrap_or_default()));
            }
            sets = halves;
        }
        sets.pop().unwrap_or_default()
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut out = Self::default();
        let mut rest = other.nodes.as_slice();
        for node in &self.nodes {
            if let Some(both) = find(&mut rest, &node.element) {
                let children = node.children.intersection(&both.children);
                out.push(&node.element, node.member && both.member, children);
            }
        }
        out
    }

    /// Removes the members of another set. What lies below them stays.
    pub fn subtract(&mut self, other: &Self) {
        let mut rest = other.nodes.as_slice();
        if rest.is_empty() {
            return;
        }
        self.nodes.retain_mut(|node| {
            if let Some(gone) = find(&mut rest, &node.element) {
                node.member &= !gone.member;
                node.children.subtract(&gone.children);
            }
            node.member || !node.children.is_empty()
        });
    }

    /// Removes the members of another set, with everything below them.
    pub fn subtract_trees(&mut self, other: &Self) {
        let mut rest = other.nodes.as_slice();
        if rest.is_empty() {
            return;
        }
        self.nodes.retain_mut(|node| {
            if let Some(gone) = find(&mut rest, &node.element) {
                if gone.member {
                    return false;
                }
                node.children.subtract_trees(&gone.children);
            }
            node.member || !node.children.is_empty()
        });
    }

    /// The members without members below them.
    #[must_use]
    pub fn leaves(&self) -> Self {
        let mut out = Self::default();
        for node in &self.nodes {
            let leaf = node.children.is_empty();
            out.push(&node.element, node.member && leaf, node.children.leaves());
        }
        out
    }

    /// Every member's path as messages show it, those of a set before those of its children.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths(&mut String::new(), &mut out);
        out
    }

    fn collect_paths(&self, prefix: &mut String, out: &mut Vec<String>) {
        let length = prefix.len();
        for node in self.nodes.iter().filter(|node| node.member) {
            node.element.show(prefix);
            out.push(prefix.clone());
            prefix.truncate(length);
        }
        for node in &self.nodes {
            node.element.show(prefix);
            node.children.collect_paths(prefix, out);
            prefix.truncate(length);
        }
    }
}

/// What nobody owns, because the server or the address of the object decides it.
pub(super) fn unowned() -> &'static Set {
    static UNOWNED: LazyLock<Set> = LazyLock::new(|| {
        let of_metadata = [
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        ];
        let below: Vec<[&str; 2]> = of_metadata.iter().map(|name| ["metadata", name]).collect();
        let top: [&[&str]; 3] = [&["apiVersion"], &["kind"], &["metadata"]];
        Set::of_names(top.into_iter().chain(below.iter().map(<[&str; 2]>::as_slice)))
    });
    &UNOWNED
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(fields: &serde_json::Value) -> Set {
        Set::from_fields(fields).unwrap()
    }

    #[test]
    fn sets_are_combined() {
        let a = || set(&json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
        let b = || set(&json!({"f:a": {}, "f:d": {"f:e": {}}}));
        assert_eq!(a().union(b()), set(&json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}, "f:d": {"f:e": {}}})));
        assert_eq!(a().intersection(&b()), set(&json!({"f:a": {}})));
        let minus = |f: fn(&mut Set, &Set)| {
            let mut out = a();
            f(&mut out, &b());
            out
        };
        assert_eq!(minus(Set::subtract), set(&json!({"f:a": {"f:b": {}}, "f:c": {}})));
        assert_eq!(minus(Set::subtract_trees), set(&json!({"f:c": {}})));
        let all = [json!({"f:a": {}}), json!({"f:b": {}}), json!({"f:a": {"f:c": {}}})];
        let all = Set::union_all(all.iter().map(set).collect());
        assert_eq!(all, set(&json!({"f:a": {".": {}, "f:c": {}}, "f:b": {}})));
        assert_eq!(a().leaves(), set(&json!({"f:a": {"f:b": {}}, "f:c": {}})));
        assert_eq!(a().paths(), [".a", ".c", ".a.b"]);
    }
}
