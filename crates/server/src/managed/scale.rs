//! Whose number of replicas it is, seen through the subresource `scale`.

use std::sync::LazyLock;

use serde_json::Value;

use super::entries::{self, Entry};
use super::managed_fields;
use super::set::Set;
use crate::strategy::Object;

const SCALE: &str = "autoscaling/v1";

/// Where the number of replicas is in a Scale.
static REPLICAS: LazyLock<Set> = LazyLock::new(|| Set::of_names([SPEC_REPLICAS]));
const SPEC_REPLICAS: &[&str] = &["spec", "replicas"];

/// Where a version of the scaled object has its number of replicas.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Replicas<'a> {
    /// There is no such version.
    Unknown,
    /// It cannot be scaled in this version.
    Nowhere,
    /// At a path such as `.spec.replicas`.
    At(&'a str),
}

impl Replicas<'_> {
    /// That one field; nothing where there is none.
    fn set(self) -> Set {
        match self {
            Self::Unknown | Self::Nowhere => Set::default(),
            Self::At(path) => {
                let names: Vec<&str> = path.strip_prefix('.').unwrap_or(path).split('.').collect();
                Set::of_names([names.as_slice()])
            }
        }
    }
}

/// The managedFields of a Scale: who manages the replicas of its parent.
pub(crate) fn to_scale<'a>(parent: &Object, replicas: impl Fn(&str) -> Replicas<'a>) -> Option<Value> {
    let mut kept = entries::read(managed_fields(parent)).unwrap_or_default();
    kept.retain(|entry| has(&entry.set, &replicas(entry.version).set()));
    for entry in &mut kept {
        entry.version = SCALE;
        entry.set = REPLICAS.clone();
    }
    (!kept.is_empty()).then(|| entries::write(kept))
}

/// The managedFields of the parent, of which a client used that version, after its Scale was written.
///
/// Managers by update are told apart by version, and the parent's is never that of the Scale: whoever managed the replicas
/// before gets an entry of its own, without a time. That is what Kubernetes makes of it.
pub(crate) fn from_scale<'a>(
    parent: &Object,
    scale: &Object,
    api_version: &str,
    replicas: impl Fn(&str) -> Replicas<'a>,
) -> Option<Value> {
    let mut of_scale = entries::read(managed_fields(scale)).unwrap_or_default();
    let mut kept: Vec<Entry<'_>> = Vec::new();
    let before = entries::read(managed_fields(parent)).unwrap_or_default();
    for mut entry in before {
        let place = replicas(entry.version);
        if matches!(place, Replicas::Unknown) {
            continue;
        }
        let place = place.set();
        if has(&entry.set, &place) {
            match of_scale.iter().position(|other| other.identity() == entry.identity()) {
                Some(at) => {
                    of_scale.remove(at);
                }
                None => entry.set.subtract(&place),
            }
        }
        if !entry.set.is_empty() {
            kept.push(entry);
        }
    }
    let set = replicas(api_version).set();
    let moved = of_scale.into_iter().filter(|entry| has(&entry.set, &REPLICAS));
    kept.extend(moved.map(|entry| Entry { version: api_version, time: None, set: set.clone(), ..entry }));
    (!kept.is_empty()).then(|| entries::write(kept))
}

/// Whether a set has the one field of another.
fn has(set: &Set, field: &Set) -> bool {
    !field.is_empty() && set.intersection(field) == *field
}

/// Where objects of built-in kinds have their replicas, in all versions of a group.
pub(crate) fn built_in_replicas(version: &str, api_version: &str) -> Replicas<'static> {
    let group = |version: &str| version.rsplit_once('/').map(|(group, _)| group.to_owned());
    if group(version) == group(api_version) { Replicas::At(".spec.replicas") } else { Replicas::Unknown }
}
