//! Conditions: what came of a wish, for whoever reads the object.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::Name;

/// One condition of an object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about, as `Ready`.
    #[serde(rename = "type")]
    pub name: Name,
    /// Whether it holds.
    pub status: Status,
    /// Why, in one word.
    #[serde(default)]
    pub reason: Name,
    /// Why, in words for a user.
    #[serde(default)]
    pub message: String,
    /// The generation of the wish that it is about.
    #[serde(default)]
    pub observed_generation: i64,
    /// Since when the status is what it is.
    #[serde(default)]
    pub last_transition_time: Name,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Status {
    True,
    False,
    Unknown,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Condition {
    /// All conditions of an object; what cannot be read as one is not there.
    pub(super) fn read_all(object: &Value) -> Vec<Self> {
        let written = object.pointer("/status/conditions").and_then(Value::as_array);
        written.into_iter().flatten().filter_map(|condition| Self::deserialize(condition).ok()).collect()
    }

    /// The same out of an object's text; `None` if that needs a closer look.
    pub(super) fn parse_all(object: &str) -> Option<Vec<Self>> {
        #[derive(Deserialize)]
        struct Object {
            status: Option<Written>,
        }
        #[derive(Deserialize)]
        struct Written {
            conditions: Option<Vec<Condition>>,
        }
        let object: Object = serde_json::from_str(object).ok()?;
        Some(object.status.and_then(|status| status.conditions).unwrap_or_default())
    }

    /// A condition of which it is not said yet since when and of which generation.
    pub(crate) fn new(name: &str, status: Status, reason: &str, message: String) -> Self {
        let (name, reason) = (Name::new(name), Name::new(reason));
        Self { name, status, reason, message, observed_generation: 0, last_transition_time: Name::default() }
    }

    /// Whether this, as it is stored, says what `wanted` does, whenever it began to. A server that does not store the
    /// generation has none to tell.
    pub(crate) fn says_as(&self, wanted: &Self) -> bool {
        let is_of = self.observed_generation == 0 || self.observed_generation == wanted.observed_generation;
        is_of && (self.status, &self.reason, &self.message) == (wanted.status, &wanted.reason, &wanted.message)
    }
}
