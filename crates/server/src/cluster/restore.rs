//! The state as a store kept it. Objects are not read, except those that rights follow from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use rolewright_core::selector::LabelSelector;
use rolewright_core::{Binding, BindingKey, Labels, RBAC_GROUP, Role, RoleKey, RoleRef, Rule, Subject};
use serde::Deserialize;

use super::rights::CEILING;
use super::{Cluster, Collection, Entry, ObjectName, Page, Right, Table};
use crate::store::record::Kept;

/// Below this many it does not pay to share the work.
const FEW: usize = 1_000;

impl Cluster {
    /// Fills a collection, which is empty.
    pub(crate) fn restore(&self, collection: Collection, resource: &str, kept: Kept) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.revision = state.revision.max(kept.changed);
        if let Some(table) = state.tables.get_mut(collection.index()) {
            *table = Table::restored(resource.into(), kept.changed, kept.objects);
        }
        drop(state);
        self.announce([collection], kept.changed);
    }

    /// Makes what follows from the objects, when all of them are there.
    pub(crate) fn restored(&self, revision: u64, namespaces: Option<Collection>, definitions: Option<Collection>) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        state.revision = state.revision.max(revision);
        let mut rights: Vec<(&str, Arc<Entry>)> = Vec::new();
        for table in &state.tables {
            let Some((plural, RBAC_GROUP)) = table.resource.split_once('.') else { continue };
            rights.extend(table.entries(&Page::default()).map(|entry| (plural, entry.clone())));
        }
        let rights = read(&rights);
        state.rights.restore(&rights);
        for first in [true, false] {
            for (at, table) in state.tables.iter().enumerate() {
                for entry in table.entries(&Page::default()) {
                    let (namespace, name) = (entry.namespace.clone(), entry.name.clone());
                    let at = ObjectName { collection: Collection::at(at), namespace, name };
                    if first {
                        state.owners.meet(at, entry);
                    } else if !entry.owners.is_empty() || entry.collecting {
                        state.owners.add(&at, entry, None);
                    }
                }
            }
        }
        // Their controllers go on where they were.
        for (collection, work) in [(namespaces, &mut state.namespaces), (definitions, &mut state.definitions)] {
            let table = collection.and_then(|collection| state.tables.get(collection.index()));
            let entries =
                table.into_iter().flat_map(|table| table.entries(&Page::default()).cloned().collect::<Vec<_>>());
            work.extend(entries.map(|entry| entry.name.clone()));
        }
        if let Some(journal) = &state.journal {
            journal.start_at(state.revision);
        }
    }
}

/// Reads roles and bindings, on all processors where there are many.
fn read(objects: &[(&str, Arc<Entry>)]) -> Vec<Right> {
    let one = |(plural, entry): &(&str, Arc<Entry>)| Right::stored(plural, entry);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if objects.len() < FEW || threads == 1 {
        return objects.iter().filter_map(one).collect();
    }
    let parts = objects.chunks(objects.len().div_ceil(threads));
    std::thread::scope(|scope| {
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().filter_map(one).collect::<Vec<_>>())).collect();
        parts.into_iter().flat_map(|part| part.join().expect("reading returns")).collect()
    })
}

/// What rights follow from, in a stored role or binding.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredRight<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
    rules: Option<Vec<Rule>>,
    aggregation_rule: Option<AggregationRule>,
    role_ref: Option<RoleRef>,
    subjects: Option<Vec<Subject>>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    annotations: Option<BTreeMap<Cow<'a, str>, Cow<'a, str>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregationRule {
    cluster_role_selectors: Option<Vec<LabelSelector>>,
}

impl Right {
    /// Reads a stored RBAC object as [`Right::of`] does, in a fraction of the time.
    fn stored(plural: &str, entry: &Entry) -> Option<Self> {
        let Ok(stored) = serde_json::from_slice::<StoredRight<'_>>(&entry.body) else {
            let object = serde_json::from_slice(&entry.body).ok()?;
            return Self::of(RBAC_GROUP, plural, &object);
        };
        let (namespace, name) = (entry.namespace.clone(), entry.name.clone());
        let namespaced = match plural {
            "clusterroles" | "clusterrolebindings" => false,
            "roles" | "rolebindings" => true,
            _ => return None,
        };
        if plural.ends_with("bindings") {
            let key = if namespaced { BindingKey::namespaced(namespace, name) } else { BindingKey::cluster(name) };
            let (role_ref, subjects) = (stored.role_ref.unwrap_or_default(), stored.subjects.unwrap_or_default());
            return Some(Self::Binding(Arc::new(Binding { key, role_ref, subjects })));
        }
        let ceiling = stored.metadata.annotations.as_ref().and_then(|all| all.get(CEILING));
        let role = Role {
            key: if namespaced { RoleKey::namespaced(namespace, name) } else { RoleKey::cluster(name) },
            labels: entry.labels.iter().cloned().collect::<Labels>(),
            rules: stored.rules.unwrap_or_default(),
            aggregation: stored.aggregation_rule.map(|rule| rule.cluster_role_selectors.unwrap_or_default()),
        };
        // A ceiling that cannot be read is the lowest one.
        let ceiling = ceiling.map(|text| serde_json::from_str::<Vec<Rule>>(text).unwrap_or_default().into());
        Some(Self::Role { role: Arc::new(role), ceiling })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Draft;
    use super::*;

    #[test]
    fn stored_rights_are_read_as_written_ones_are() {
        let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}, {"nonResourceURLs": ["/x"], "verbs": ["*"]}]);
        let ceiling = json!({CEILING: rules.to_string(), "other": "\"quoted\""});
        let role_ref = json!({"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": "x"});
        let selectors = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
        let cases = [
            ("clusterroles", json!({"metadata": {"name": "x", "labels": {"b": "1", "a": "2"}}, "rules": rules})),
            (
                "clusterroles",
                json!({"metadata": {"name": "x", "annotations": ceiling}, "rules": null, "aggregationRule": selectors}),
            ),
            (
                "clusterroles",
                json!({"metadata": {"name": "x", "annotations": {CEILING: "no JSON"}}, "aggregationRule": {}}),
            ),
            ("clusterroles", json!({"metadata": {"name": "x"}, "rules": "none"})),
            ("roles", json!({"metadata": {"name": "x", "namespace": "n", "annotations": null}, "rules": rules})),
            ("clusterrolebindings", json!({"metadata": {"name": "x"}, "roleRef": role_ref})),
            (
                "rolebindings",
                json!({"metadata": {"name": "x", "namespace": "n"}, "roleRef": role_ref,
                "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "n"}, {"kind": "User", "name": "u", "apiGroup": RBAC_GROUP}]}),
            ),
        ];
        for (plural, object) in cases {
            let Value::Object(object) = object else { unreachable!() };
            let entry = Draft::new(RBAC_GROUP, plural, &object).at(7);
            let written = format!("{:?}", Right::of(RBAC_GROUP, plural, &object));
            assert_eq!(format!("{:?}", Right::stored(plural, &entry)), written, "{plural}");
        }
    }
}
