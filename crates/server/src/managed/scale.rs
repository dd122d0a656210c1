//! Whose number of replicas it is, seen through the subresource `scale`.

use std::sync::LazyLock;

use serde_json::Value;
use smol_str::SmolStr;

use super::element::Element;
use super::entries::{self, Entry};
use super::managed_fields;
use super::set::Set;
use crate::strategy::Object;

const SCALE: &str = "autoscaling/v1";

/// The number of replicas is at the same place in a Scale and in everything that has one.
static REPLICAS: LazyLock<Set> = LazyLock::new(|| Set::of_names([&["spec", "replicas"][..]]));

/// The managedFields of a Scale: who manages the replicas of its parent.
pub(crate) fn to_scale(parent: &Object, api_version: &str) -> Option<Value> {
    let mut kept = entries::read(managed_fields(parent)).unwrap_or_default();
    kept.retain(|entry| same_group(entry.version, api_version) && has_replicas(&entry.set));
    for entry in &mut kept {
        entry.version = SCALE;
        entry.set = REPLICAS.clone();
    }
    (!kept.is_empty()).then(|| entries::write(kept))
}

/// The managedFields of the parent after its Scale was written.
///
/// Managers by update are told apart by version, and the parent's is never that of the Scale: whoever managed the replicas
/// before gets an entry of its own, without a time. That is what Kubernetes makes of it.
pub(crate) fn from_scale(parent: &Object, scale: &Object, api_version: &str) -> Option<Value> {
    let mut of_scale = entries::read(managed_fields(scale)).unwrap_or_default();
    let mut kept: Vec<Entry<'_>> = Vec::new();
    let before = entries::read(managed_fields(parent)).unwrap_or_default();
    for mut entry in before.into_iter().filter(|entry| same_group(entry.version, api_version)) {
        if has_replicas(&entry.set) {
            match of_scale.iter().position(|other| other.identity() == entry.identity()) {
                Some(at) => {
                    of_scale.remove(at);
                }
                None => entry.set.subtract(&REPLICAS),
            }
        }
        if !entry.set.is_empty() {
            kept.push(entry);
        }
    }
    let moved = of_scale.into_iter().filter(|entry| has_replicas(&entry.set));
    kept.extend(moved.map(|entry| Entry { version: api_version, time: None, set: REPLICAS.clone(), ..entry }));
    (!kept.is_empty()).then(|| entries::write(kept))
}

fn has_replicas(set: &Set) -> bool {
    let field = |name: &str| Element::Field(SmolStr::new(name));
    let spec = set.get(&field("spec"));
    spec.and_then(|spec| spec.children.get(&field("replicas"))).is_some_and(|replicas| replicas.member)
}

fn same_group(version: &str, other: &str) -> bool {
    let group = |version: &str| version.rsplit_once('/').map(|(group, _)| group.to_owned());
    group(version) == group(other)
}
