//! Fields that are almost those which name roles. Whoever writes one means to confine a sync, and must not get the default.

use std::fmt;

use serde_json::Value;

/// So much of a field's name is told.
const TOLD: usize = 24;

/// A field that nobody reads, and the one that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misspelt {
    written: String,
    meant: &'static str,
}

impl Misspelt {
    /// The first such field of a spec that says something.
    pub(super) fn of(spec: &Value) -> Option<Self> {
        let inside = spec.get("override");
        [
            (Some(spec), "spec", &["override", "overrides"][..], "override", "spec.override"),
            (Some(spec), "spec", &["roleref", "rolerefs"], "", "spec.override.roleRefs"),
            (inside, "spec.override", &["roleref", "rolerefs"], "roleRefs", "spec.override.roleRefs"),
        ]
        .into_iter()
        .find_map(|(fields, place, likes, right, meant)| {
            let mut fields = fields?.as_object()?.iter();
            let is_it = |key: &str, value: &Value| key != right && !value.is_null() && likes.contains(&&*plain(key));
            let (key, _) = fields.find(|(key, value)| is_it(key, value))?;
            let key: String = key.chars().take(TOLD).collect();
            Some(Self { written: format!("{place}.{key}"), meant })
        })
    }
}

/// As it is compared: `role_Refs` and `rolerefs` are one.
fn plain(key: &str) -> String {
    key.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

impl fmt::Display for Misspelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { written, meant } = self;
        write!(f, "`{written}` was applied, and nobody reads it; say `{meant}`")
    }
}
