//! Labels: few, looked up by key, and kept for every object there is.

use std::fmt;
use std::sync::Arc;

use crate::Name;

/// Labels or annotations of an object, sorted by key.
///
/// They are a list because a tree takes five times the memory for the two or three that most objects have. Copies are the
/// same list, because whoever looks for a label keeps the labels of all objects beside the objects.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(
    /// INVARIANT: `None` if there are none.
    Option<Arc<[(Name, Name)]>>,
);

impl Labels {
    /// No labels.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pairs().len()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Name> {
        let place = self.place(key).ok()?;
        self.pairs().get(place).map(|(_, value)| value)
    }

    /// Whether there is a value for a key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.place(key).is_ok()
    }

    /// Sets the value of a key; returns the one it had.
    pub fn insert(&mut self, key: Name, value: Name) -> Option<Name> {
        let place = self.place(&key);
        self.edit(|pairs| match place {
            Ok(place) => pairs.get_mut(place).map(|(_, held)| std::mem::replace(held, value)),
            Err(place) => {
                pairs.insert(place, (key, value));
                None
            }
        })
    }

    /// Takes a key away; returns the value it had.
    pub fn remove(&mut self, key: &str) -> Option<Name> {
        let place = self.place(key).ok()?;
        Some(self.edit(|pairs| pairs.remove(place).1))
    }

    /// Takes away what `keep` does not want.
    pub fn retain(&mut self, mut keep: impl FnMut(&Name, &Name) -> bool) {
        self.edit(|pairs| pairs.retain(|(key, value)| keep(key, value)));
    }

    /// All keys with their values, by key.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Name, &Name)> + Clone {
        self.into_iter()
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &Name> {
        self.pairs().iter().map(|(key, _)| key)
    }

    fn pairs(&self) -> &[(Name, Name)] {
        self.0.as_deref().unwrap_or_default()
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        self.pairs().binary_search_by(|(held, _)| held.as_str().cmp(key))
    }

    fn edit<T>(&mut self, change: impl FnOnce(&mut Vec<(Name, Name)>) -> T) -> T {
        let mut pairs = self.pairs().to_vec();
        let answer = change(&mut pairs);
        *self = Self::sorted(pairs);
        answer
    }

    fn sorted(pairs: Vec<(Name, Name)>) -> Self {
        Self((!pairs.is_empty()).then(|| pairs.into()))
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// Of several values for one key the last one counts.
impl FromIterator<(Name, Name)> for Labels {
    fn from_iter<I: IntoIterator<Item = (Name, Name)>>(pairs: I) -> Self {
        let mut pairs: Vec<(Name, Name)> = pairs.into_iter().collect();
        // The sort keeps the order of equal keys, and the first of them is kept.
        pairs.reverse();
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.dedup_by(|earlier, last| earlier.0 == last.0);
        Self::sorted(pairs)
    }
}

impl<const N: usize> From<[(Name, Name); N]> for Labels {
    fn from(pairs: [(Name, Name); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl Extend<(Name, Name)> for Labels {
    fn extend<I: IntoIterator<Item = (Name, Name)>>(&mut self, pairs: I) {
        for (key, value) in pairs {
            self.insert(key, value);
        }
    }
}

/// Keys with their values, by key.
type Iter<'a> = std::iter::Map<std::slice::Iter<'a, (Name, Name)>, fn(&'a (Name, Name)) -> (&'a Name, &'a Name)>;

impl<'a> IntoIterator for &'a Labels {
    type Item = (&'a Name, &'a Name);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.pairs().iter().map(|(key, value)| (key, value))
    }
}

impl IntoIterator for Labels {
    type Item = (Name, Name);
    type IntoIter = std::vec::IntoIter<(Name, Name)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs().to_vec().into_iter()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Labels {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Labels {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> serde::de::Visitor<'de> for Pairs {
            type Value = Labels;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs.into_iter().collect())
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn they_are_what_a_tree_would_be() {
        let name = |i: u32| Name::from(format!("k{}", i % 5));
        for seed in 0..200_u32 {
            let pairs = (0..seed % 12).map(|i| (name(i * seed + i / 3), Name::from(format!("v{i}"))));
            let mut labels: Labels = pairs.clone().collect();
            let mut tree: BTreeMap<Name, Name> = pairs.clone().collect();
            let same = |labels: &Labels, tree: &BTreeMap<Name, Name>| {
                assert!(labels.iter().eq(tree.iter()), "{labels:?} {tree:?}");
                assert_eq!((labels.len(), labels.is_empty()), (tree.len(), tree.is_empty()));
                assert!(labels.keys().eq(tree.keys()));
                assert_eq!(format!("{labels:?}"), format!("{tree:?}"));
            };
            same(&labels, &tree);
            for i in 0..6 {
                let (key, value) = (name(i + seed), Name::from("new"));
                assert_eq!(labels.get(&key), tree.get(&key));
                assert_eq!(labels.contains_key(&key), tree.contains_key(&key));
                if (i + seed) % 2 == 0 {
                    assert_eq!(labels.insert(key.clone(), value.clone()), tree.insert(key, value));
                } else {
                    assert_eq!(labels.remove(&key), tree.remove(&key));
                }
                same(&labels, &tree);
            }
            labels.extend(pairs.clone());
            tree.extend(pairs);
            labels.retain(|key, _| key != "k1");
            tree.retain(|key, _| key != "k1");
            same(&labels, &tree);
            let other = labels.clone();
            labels.insert("other".into(), "1".into());
            same(&other, &tree);
            assert_eq!(other.into_iter().collect::<BTreeMap<_, _>>(), tree);
        }
    }
}
