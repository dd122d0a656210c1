//! Where in an object a fault lies.

use std::fmt;

/// A field's path, such as `rules[0].verbs`.
///
/// It borrows its parents and is written out only when there is something to report, so that checking valid objects
/// allocates nothing.
#[derive(Clone, Copy, Debug)]
pub enum Path<'a> {
    /// The object itself.
    Root,
    /// A field by name.
    Field(&'a Path<'a>, &'a str),
    /// An item of a list.
    Index(&'a Path<'a>, usize),
    /// An entry of a map.
    Key(&'a Path<'a>, &'a str),
}

impl<'a> Path<'a> {
    /// A field of the object itself.
    pub fn field(name: &'a str) -> Self {
        Self::Field(&Self::Root, name)
    }

    /// A field below this one.
    pub fn child(&'a self, name: &'a str) -> Self {
        Self::Field(self, name)
    }

    /// An item of this list.
    pub fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    /// An entry of this map.
    pub fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Kubernetes' text for an error about no field in particular.
            Self::Root => f.write_str("<nil>"),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(Self::Root, index) => write!(f, "[{index}]"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Self::Key(Self::Root, key) => write!(f, "[{key}]"),
            Self::Key(parent, key) => write!(f, "{parent}[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_kubernetes_writes_them() {
        let selectors = Path::field("aggregationRule");
        let selectors = selectors.child("clusterRoleSelectors");
        let selector = selectors.index(1);
        let values = selector.child("values");
        let value = values.index(0);
        assert_eq!(value.key("a/b").to_string(), "aggregationRule.clusterRoleSelectors[1].values[0][a/b]");
    }

    #[test]
    fn the_root_leaves_no_trace_in_its_children() {
        assert_eq!(Path::Root.to_string(), "<nil>");
        assert_eq!(Path::Root.child("key").to_string(), "key");
        assert_eq!(Path::Root.index(3).to_string(), "[3]");
        assert_eq!(Path::Root.key("k").to_string(), "[k]");
    }
}
