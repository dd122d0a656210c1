//! Label selectors: as written, and as compiled to be matched.

mod compile;

pub(crate) use compile::Operator;
pub use compile::SelectorError;

use crate::Labels;
use crate::Name;

/// A label selector as written: all of its parts must hold. The empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default))]
pub struct LabelSelector {
    /// Labels that must be there with exactly these values.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Labels::is_empty", deserialize_with = "crate::null::or_default")
    )]
    pub match_labels: Labels,
    /// Further requirements.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::null::or_default")
    )]
    pub match_expressions: Vec<Requirement>,
}

/// One requirement of a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default))]
pub struct Requirement {
    /// The label key.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::null::or_default"))]
    pub key: Name,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`; text, because what was written may be wrong and must be reportable.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::null::or_default"))]
    pub operator: Name,
    /// Values for `In` and `NotIn`.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::null::or_default")
    )]
    pub values: Vec<Name>,
}

/// A selector that was checked and can be matched; made by [`LabelSelector::compile`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    clauses: Vec<Clause>,
}

/// One condition on labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// The label is there with one of these values; at least one value.
    In(Name, Vec<Name>),
    /// The label is absent, or has none of these values.
    NotIn(Name, Vec<Name>),
    /// The label is there.
    Exists(Name),
    /// The label is absent.
    DoesNotExist(Name),
}

impl Clause {
    /// The label it is about.
    pub fn key(&self) -> &Name {
        match self {
            Self::In(key, _) | Self::NotIn(key, _) | Self::Exists(key) | Self::DoesNotExist(key) => key,
        }
    }

    /// Whether the labels fulfil this condition.
    pub fn matches(&self, labels: &Labels) -> bool {
        match self {
            Self::In(key, values) => labels.get(key).is_some_and(|value| values.contains(value)),
            Self::NotIn(key, values) => labels.get(key).is_none_or(|value| !values.contains(value)),
            Self::Exists(key) => labels.contains_key(key),
            Self::DoesNotExist(key) => !labels.contains_key(key),
        }
    }
}

impl Selector {
    /// Whether all conditions hold; without any, everything matches.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.clauses.iter().all(|clause| clause.matches(labels))
    }

    /// The conditions, all of which must hold.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }
}
