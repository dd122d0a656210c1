//! An object as printers read it: members that are absent, null or of no use read as empty.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::duration;
use crate::strategy::Object;

/// Go's zero time, which stands for no time at all.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// A part of an object, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a>(Option<&'a Value>);

impl<'a> Node<'a> {
    pub(super) fn new(value: Option<&'a Value>) -> Self {
        Self(value.filter(|value| !value.is_null()))
    }

    pub(super) fn get(self, name: &str) -> Self {
        Self::new(self.0.and_then(|value| value.get(name)))
    }

    pub(super) fn is_set(self) -> bool {
        self.0.is_some()
    }

    /// This, unless it is absent.
    pub(super) fn set(self) -> Option<Self> {
        self.is_set().then_some(self)
    }

    pub(super) fn value(self) -> Option<&'a Value> {
        self.0
    }

    pub(super) fn text(self) -> &'a str {
        self.0.and_then(Value::as_str).unwrap_or_default()
    }

    /// The text, or `other` where there is none or an empty one.
    pub(super) fn text_or(self, other: &'a str) -> &'a str {
        let text = self.text();
        if text.is_empty() { other } else { text }
    }

    /// The text, which may be empty, or `other` where it is not set.
    pub(super) fn set_text_or(self, other: &'a str) -> &'a str {
        if self.is_set() { self.text() } else { other }
    }

    pub(super) fn int(self) -> i64 {
        self.set_int().unwrap_or_default()
    }

    pub(super) fn set_int(self) -> Option<i64> {
        self.0.and_then(Value::as_i64)
    }

    pub(super) fn flag(self) -> bool {
        self.set_flag().unwrap_or_default()
    }

    pub(super) fn set_flag(self) -> Option<bool> {
        self.0.and_then(Value::as_bool)
    }

    /// A quantity; none is zero.
    pub(super) fn quantity(self) -> &'a str {
        self.set_text_or("0")
    }

    pub(super) fn items(self) -> impl DoubleEndedIterator<Item = Node<'a>> + ExactSizeIterator {
        self.0.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter().map(|item| Self::new(Some(item)))
    }

    pub(super) fn members(self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        let members = self.0.and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, value)| (name.as_str(), Self::new(Some(value))))
    }

    /// How many items or members there are, as a cell.
    pub(super) fn count(self) -> i64 {
        let count =
            self.0.map_or(0, |value| value.as_array().map_or_else(|| value.as_object().map_or(0, Map::len), Vec::len));
        i64::try_from(count).unwrap_or(i64::MAX)
    }

    /// A time; none where it is not set or zero.
    pub(super) fn time(self) -> Option<Timestamp> {
        let text = self.text();
        (text != ZERO_TIME).then(|| text.parse().ok()).flatten()
    }

    /// The first condition of this type in a list of them.
    pub(super) fn condition(self, kind: &str) -> Self {
        self.items().find(|condition| condition.get("type").text() == kind).unwrap_or(Self(None))
    }

    /// Whether a condition has the status True.
    pub(super) fn holds(self) -> bool {
        self.get("status").text() == "True"
    }
}

/// An object to print.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    object: &'a Object,
    now: Timestamp,
}

impl<'a> Shown<'a> {
    pub(super) fn new(object: &'a Object, now: Timestamp) -> Self {
        Self { object, now }
    }

    pub(super) fn get(self, name: &str) -> Node<'a> {
        Node::new(self.object.get(name))
    }

    pub(super) fn spec(self, name: &str) -> Node<'a> {
        self.get("spec").get(name)
    }

    pub(super) fn status(self, name: &str) -> Node<'a> {
        self.get("status").get(name)
    }

    pub(super) fn metadata(self, name: &str) -> Node<'a> {
        self.get("metadata").get(name)
    }

    pub(super) fn name(self) -> &'a str {
        self.metadata("name").text()
    }

    pub(super) fn annotation(self, name: &str) -> Node<'a> {
        self.metadata("annotations").get(name)
    }

    pub(super) fn is_deleted(self) -> bool {
        self.metadata("deletionTimestamp").is_set()
    }

    pub(super) fn age(self) -> String {
        self.since(self.metadata("creationTimestamp").time())
    }

    /// When it was created, in full.
    pub(super) fn created(self) -> &'a str {
        self.metadata("creationTimestamp").text_or(ZERO_TIME)
    }

    /// How long ago that was.
    pub(super) fn since(self, time: Option<Timestamp>) -> String {
        time.map_or_else(|| "<unknown>".to_owned(), |time| duration::human(self.until_now(time)))
    }

    pub(super) fn until_now(self, time: Timestamp) -> SignedDuration {
        self.now.duration_since(time)
    }
}

/// Texts with commas between them, or `<none>`.
pub(super) fn list_or_none<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let list = comma_list(texts);
    if list.is_empty() { "<none>".to_owned() } else { list }
}

/// Texts with commas between them.
pub(super) fn comma_list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().collect::<Vec<_>>().join(",")
}

/// Lower case, each character for one: unlike Rust, Go does not look at a character's surroundings.
pub(super) fn lower_case(text: &str) -> String {
    text.chars().filter_map(|c| c.to_lowercase().next()).collect()
}
