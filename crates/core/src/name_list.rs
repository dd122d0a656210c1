//! Lists of names: many, mostly the same, copied everywhere and changed nowhere.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::Name;

/// The names in one list of a rule. Copies are the same list, so that a rule costs its text once however many hold it.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameList(Arc<[Name]>);

impl NameList {
    /// The names, in order.
    pub fn as_slice(&self) -> &[Name] {
        &self.0
    }

    /// How many hold it.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

impl Deref for NameList {
    type Target = [Name];

    fn deref(&self) -> &[Name] {
        &self.0
    }
}

impl fmt::Debug for NameList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromIterator<Name> for NameList {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        names.into_iter().collect::<Vec<Name>>().into()
    }
}

impl From<Vec<Name>> for NameList {
    fn from(names: Vec<Name>) -> Self {
        // Nothing needs no room of its own.
        if names.is_empty() { Self::default() } else { Self(names.into()) }
    }
}

impl<const N: usize> From<[Name; N]> for NameList {
    fn from(names: [Name; N]) -> Self {
        Vec::from(names).into()
    }
}

impl<'a> IntoIterator for &'a NameList {
    type Item = &'a Name;
    type IntoIter = std::slice::Iter<'a, Name>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for NameList {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// `null` is an empty list, as Kubernetes has it.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for NameList {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(crate::null::or_default::<D, Vec<Name>>(deserializer)?.into())
    }
}
