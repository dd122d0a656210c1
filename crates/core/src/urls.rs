//! URL patterns with something attached, found by the paths they match.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::Name;
use crate::rule::{ANY, url_prefix};

/// A map from URL patterns. `/a*` and `/a**` match the same paths and are one key.
///
/// A look-up tries the path itself and its prefixes of those lengths that occur, so that it costs the same with ten
/// patterns and with ten thousand.
#[derive(Clone, Debug)]
pub(crate) struct UrlMap<V> {
    exact: FxHashMap<Name, V>,
    /// Without the star.
    prefixes: FxHashMap<Name, V>,
    /// How many prefixes of each length there are.
    lengths: BTreeMap<usize, usize>,
}

/// The one spelling of patterns that match the same paths.
pub(crate) fn canonical_url(pattern: &Name) -> Name {
    match url_prefix(pattern) {
        Some(prefix) if prefix.len() + 1 < pattern.len() => Name::from(format!("{prefix}{ANY}")),
        _ => pattern.clone(),
    }
}

impl<V> Default for UrlMap<V> {
    fn default() -> Self {
        Self { exact: FxHashMap::default(), prefixes: FxHashMap::default(), lengths: BTreeMap::new() }
    }
}

impl<V: Default> UrlMap<V> {
    /// What is attached to a pattern, made if there is nothing yet.
    pub(crate) fn entry(&mut self, pattern: &str) -> &mut V {
        match url_prefix(pattern) {
            None => self.exact.entry(Name::from(pattern)).or_default(),
            Some(prefix) => {
                if !self.prefixes.contains_key(prefix) {
                    *self.lengths.entry(prefix.len()).or_default() += 1;
                }
                self.prefixes.entry(Name::from(prefix)).or_default()
            }
        }
    }

    /// Forgets a pattern.
    pub(crate) fn remove(&mut self, pattern: &str) {
        let Some(prefix) = url_prefix(pattern) else {
            self.exact.remove(pattern);
            return;
        };
        if self.prefixes.remove(prefix).is_none() {
            return;
        }
        if let Some(count) = self.lengths.get_mut(&prefix.len()) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&prefix.len());
            }
        }
    }
}

impl<V> UrlMap<V> {
    /// What is attached to the patterns that match `path`, or that cover it if it is a pattern itself: then one of them
    /// is its own.
    pub(crate) fn matching<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a V> {
        let prefixes =
            self.lengths.range(..=path.len()).filter_map(|(&length, _)| self.prefixes.get(path.get(..length)?));
        self.exact.get(path).into_iter().chain(prefixes)
    }

    /// All patterns, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Name, &V)> {
        let prefixes = self.prefixes.iter().map(|(prefix, value)| (Name::from(format!("{prefix}{ANY}")), value));
        self.exact.iter().map(|(pattern, value)| (pattern.clone(), value)).chain(prefixes)
    }

    /// How many patterns there are.
    pub(crate) fn len(&self) -> usize {
        self.exact.len() + self.prefixes.len()
    }
}
