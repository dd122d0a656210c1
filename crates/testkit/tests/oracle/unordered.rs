//! Answers that Kubernetes gives in no particular order.

use std::collections::BTreeSet;

use serde::Serialize;

/// Both sides as sets of texts, for lists whose order Kubernetes leaves to its caches.
pub(crate) fn differ_as_bags<T: Serialize>(what: &str, ours: &[T], theirs: &[T]) -> Option<String> {
    let bag = |list: &[T]| {
        let mut texts: Vec<String> = list.iter().map(|x| serde_json::to_string(x).expect("values are JSON")).collect();
        texts.sort();
        texts
    };
    let (ours, theirs) = (bag(ours), bag(theirs));
    (ours != theirs).then(|| format!("{what}: ours {ours:?}, Kubernetes {theirs:?}"))
}

/// The single messages in an error text of Kubernetes, which puts several into brackets in no particular order.
pub(crate) fn messages(text: &str) -> BTreeSet<String> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    inner.split(", ").filter(|message| !message.is_empty()).map(ToOwned::to_owned).collect()
}
