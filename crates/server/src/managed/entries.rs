//! The entries of managedFields: who owns what, since when.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::element::write_text;
use super::set::Set;

/// More managers of updates than this are not kept apart.
const MAX_UPDATERS: usize = 10;

/// Whom the oldest updates are booked on.
const ANCIENT: &str = "ancient-changes";

/// What one manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) manager: &'a str,
    /// By server-side apply, and not by an update.
    pub(super) applied: bool,
    pub(super) version: &'a str,
    pub(super) subresource: &'a str,
    pub(super) time: Option<&'a str>,
    pub(super) set: Set,
}

/// Who a manager is. One who applies stays the same in all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity<'a> {
    pub(super) manager: &'a str,
    pub(super) applied: bool,
    pub(super) version: &'a str,
    pub(super) subresource: &'a str,
}

impl Identity<'_> {
    /// By which Kubernetes sorts managers.
    pub(super) fn text(self) -> String {
        let Self { manager, applied, version, subresource } = self;
        let operation = if applied { "Apply" } else { "Update" };
        let mut out = String::from("{");
        for (name, value) in
            [("manager", manager), ("operation", operation), ("apiVersion", version), ("subresource", subresource)]
        {
            if !value.is_empty() {
                if out.len() > 1 {
                    out.push(',');
                }
                write_text(name, true, &mut out);
                out.push(':');
                write_text(value, true, &mut out);
            }
        }
        out.push('}');
        out
    }
}

impl<'a> Entry<'a> {
    pub(super) fn identity(&self) -> Identity<'a> {
        let version = if self.applied { "" } else { self.version };
        Identity { manager: self.manager, applied: self.applied, version, subresource: self.subresource }
    }

    fn read(entry: &'a Value) -> Result<Self, String> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let applied = match text("operation") {
            "Apply" => true,
            "Update" => false,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        if text("apiVersion").is_empty() {
            return Err("apiVersion must not be empty".to_owned());
        }
        if text("fieldsType") != "FieldsV1" {
            return Err("fieldsType must be `FieldsV1`".to_owned());
        }
        Ok(Self {
            manager: text("manager"),
            applied,
            version: text("apiVersion"),
            subresource: text("subresource"),
            time: entry.get("time").and_then(Value::as_str),
            set: Set::from_fields(entry.get("fieldsV1").unwrap_or(&Value::Null))?,
        })
    }

    fn to_json(&self) -> Value {
        let operation = if self.applied { "Apply" } else { "Update" };
        let mut out = Map::new();
        for (name, value) in [
            ("manager", self.manager),
            ("operation", operation),
            ("apiVersion", self.version),
            ("time", self.time.unwrap_or_default()),
            ("fieldsType", "FieldsV1"),
            ("subresource", self.subresource),
        ] {
            if !value.is_empty() {
                out.insert(name.to_owned(), value.into());
            }
        }
        out.insert("fieldsV1".to_owned(), self.set.to_fields());
        Value::Object(out)
    }

    /// No time is the beginning of time. Times are all in UTC and of one form, and compare as texts.
    fn since(&self) -> &'a str {
        self.time.unwrap_or("1970-01-01T00:00:00Z")
    }
}

/// Reads a list of entries; of entries with one identity, the last counts.
pub(super) fn read(list: Option<&Value>) -> Result<Vec<Entry<'_>>, String> {
    let list = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut entries: Vec<Entry<'_>> = Vec::with_capacity(list.len() + 1);
    let mut places: BTreeMap<Identity<'_>, usize> = BTreeMap::new();
    for entry in list {
        let entry = Entry::read(entry)?;
        let place = *places.entry(entry.identity()).or_insert(entries.len());
        match entries.get_mut(place) {
            Some(earlier) => *earlier = entry,
            None => entries.push(entry),
        }
    }
    Ok(entries)
}

/// The entry of a manager.
pub(super) fn find<'e, 'a>(entries: &'e mut [Entry<'a>], identity: Identity<'_>) -> Option<&'e mut Entry<'a>> {
    entries.iter_mut().find(|entry| entry.identity() == identity)
}

/// Writes entries in Kubernetes' order.
pub(super) fn write(mut entries: Vec<Entry<'_>>) -> Value {
    entries.sort_by(|a, b| {
        let key = |entry: &Entry<'_>| !entry.applied;
        key(a)
            .cmp(&key(b))
            .then_with(|| a.since().cmp(b.since()))
            .then_with(|| (a.manager, a.version, a.subresource).cmp(&(b.manager, b.version, b.subresource)))
    });
    entries.iter().map(Entry::to_json).collect()
}

/// Books the oldest updates of a version on one manager while there are too many.
pub(super) fn cap(entries: &mut Vec<Entry<'_>>) {
    let mut updaters: Vec<usize> =
        entries.iter().enumerate().filter(|(_, entry)| !entry.applied).map(|(at, _)| at).collect();
    if updaters.len() <= MAX_UPDATERS {
        return;
    }
    updaters.sort_by_cached_key(|&at| entries.get(at).map(|entry| (entry.since().to_owned(), entry.identity().text())));
    let mut count = updaters.len();
    let mut buckets: BTreeMap<&str, Bucket> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.identity() == bucket_of(entry.version) {
            buckets.entry(entry.version).or_default().place = Some(at);
        }
    }
    for at in updaters {
        if count <= MAX_UPDATERS {
            break;
        }
        let Some(entry) = entries.get_mut(at) else { continue };
        let bucket = buckets.entry(entry.version).or_default();
        let Some(first) = bucket.first else {
            bucket.first = Some(at);
            continue;
        };
        let place = *bucket.place.get_or_insert(first);
        let (time, set) = (entry.time, std::mem::take(&mut entry.set));
        count -= 1;
        if place == at {
            // Kubernetes loses a bucket that is itself among the oldest but not the first.
            *bucket = Bucket { first: Some(first), ..Bucket::default() };
            continue;
        }
        bucket.sets.push(set);
        if let Some(entry) = entries.get_mut(place) {
            entry.manager = ANCIENT;
            entry.subresource = "";
            entry.time = time;
        }
    }
    for Bucket { place, mut sets, .. } in buckets.into_values() {
        if let Some(entry) = place.and_then(|at| entries.get_mut(at)) {
            sets.push(std::mem::take(&mut entry.set));
            entry.set = Set::union_all(sets);
        }
    }
    entries.retain(|entry| !entry.set.is_empty());
}

/// Where the oldest updates of one version go.
#[derive(Default)]
struct Bucket {
    /// The oldest one, which becomes the bucket unless there is one.
    first: Option<usize>,
    place: Option<usize>,
    sets: Vec<Set>,
}

fn bucket_of(version: &str) -> Identity<'_> {
    Identity { manager: ANCIENT, applied: false, version, subresource: "" }
}
