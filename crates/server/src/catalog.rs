//! What is served: every resource with its type, its rules and where its objects are. Custom resources come and go.

mod custom;
mod forms;
mod served;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use rolewright_core::Name;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cluster::{Collection, Entry};
use crate::custom::Definition;
use crate::facts;
use crate::kinds;
pub(crate) use served::{BuiltIn, Conversion, Origin, Served, Subresource, api_version};

use custom::Custom;

/// Everything that is served.
pub(crate) struct Catalog {
    built_in: Vec<Arc<Served>>,
    by_path: FxHashMap<(Name, Name, Name), Arc<Served>>,
    /// The groups of the built-in resources, with their versions.
    groups: FxHashMap<Name, FxHashSet<Name>>,
    /// The resource in whose version the objects of a built-in collection are stored, by collection.
    stored: Vec<Arc<Served>>,
    custom: RwLock<Custom>,
}

/// Group, version and plural.
type Path = (&'static str, &'static str, &'static str);

/// Resources whose objects are those of another group or version: theirs are stored in the first one's form.
const SHARED: &[(Path, Path)] = &[
    (("", "v1", "events"), ("events.k8s.io", "v1", "events")),
    (("autoscaling", "v2", "horizontalpodautoscalers"), ("autoscaling", "v1", "horizontalpodautoscalers")),
];

impl Catalog {
    /// The built-in kinds.
    pub(crate) fn built_in() -> Self {
        let mut collections: BTreeMap<Path, Collection> = BTreeMap::new();
        let path = |resource: &facts::Resource| (resource.group, resource.version, resource.plural);
        let shares = |at| SHARED.iter().find(|(_, sharing)| *sharing == at).map(|(owner, _)| *owner);
        for resource in facts::resources().iter().filter(|resource| shares(path(resource)).is_none()) {
            let next = Collection::at(collections.len());
            collections.insert(path(resource), next);
        }
        let built_in: Vec<Arc<Served>> = facts::resources()
            .iter()
            .filter_map(|resource| {
                let owner = shares(path(resource)).unwrap_or(path(resource));
                let origin = BuiltIn {
                    ty: facts::type_of(resource.group, resource.version, resource.kind)?,
                    strategy: kinds::strategy(resource.group, resource.plural),
                    facts: resource,
                    conversion: kinds::conversion(resource.group, resource.version, resource.plural),
                };
                Some(Arc::new(Served {
                    group: Name::new_static(resource.group),
                    version: Name::new_static(resource.version),
                    kind: Name::new_static(resource.kind),
                    plural: Name::new_static(resource.plural),
                    namespaced: resource.namespaced,
                    collection: *collections.get(&owner)?,
                    origin: Origin::BuiltIn(origin),
                }))
            })
            .collect();
        let mut stored: Vec<(Collection, Arc<Served>)> = built_in
            .iter()
            .filter(|served| served.conversion().is_none())
            .map(|served| (served.collection, served.clone()))
            .collect();
        stored.sort_by_key(|(collection, _)| *collection);
        let by_path = built_in
            .iter()
            .map(|served| ((served.group.clone(), served.version.clone(), served.plural.clone()), served.clone()))
            .collect();
        let stored = stored.into_iter().map(|(_, served)| served).collect();
        let mut groups: FxHashMap<Name, FxHashSet<Name>> = FxHashMap::default();
        for served in &built_in {
            groups.entry(served.group.clone()).or_default().insert(served.version.clone());
        }
        Self { built_in, by_path, groups, stored, custom: RwLock::default() }
    }

    /// Every built-in resource, by group, version and plural.
    pub(crate) fn built_ins(&self) -> &[Arc<Served>] {
        &self.built_in
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Served>> {
        let path = (Name::from(group), Name::from(version), Name::from(plural));
        self.by_path.get(&path).cloned().or_else(|| self.custom().find(&path))
    }

    /// The resource in whose form the objects of a collection are stored; none once its definition is gone.
    pub(crate) fn stored_in(&self, collection: Collection) -> Option<Arc<Served>> {
        self.stored.get(collection.index()).cloned().or_else(|| self.custom().stored_in(collection))
    }

    /// Where the objects of a resource (`roles.rbac.authorization.k8s.io`) are stored.
    pub(crate) fn stored_at(&self, resource: &str) -> Option<Collection> {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        let mut built_in = self.stored.iter();
        let built_in = built_in.find(|stored| stored.group == group && stored.plural == plural);
        built_in.map(|stored| stored.collection).or_else(|| Some(self.definition(resource)?.1))
    }

    /// What is stored in each built-in collection.
    pub(crate) fn built_in_collections(&self) -> impl Iterator<Item = Name> {
        self.stored.iter().map(|stored| Name::from(stored.group_resource().to_string()))
    }

    /// Every resource of a group and version, by plural.
    pub(crate) fn of_version(&self, group: &str, version: &str) -> Vec<Arc<Served>> {
        let built_in = self.built_in.iter().filter(|served| served.group == group && served.version == version);
        let mut all: Vec<Arc<Served>> = built_in.cloned().collect();
        all.extend(self.custom().of_version(group, version));
        all
    }

    /// The groups of custom resources, each with its versions, the preferred one first.
    pub(crate) fn custom_groups(&self) -> Vec<(Name, Vec<Name>)> {
        self.custom().groups()
    }

    /// Counts the changes of what is served, for who keeps what follows from it.
    pub(crate) fn generation(&self) -> u64 {
        self.custom().generation
    }

    /// Whether a group is one of Kubernetes' own.
    pub(crate) fn is_built_in(&self, group: &str) -> bool {
        self.groups.contains_key(group)
    }

    /// Whether anything of this group is served.
    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.is_built_in(group) || self.custom().has_group(group)
    }

    /// Whether anything of this group and version is served.
    pub(crate) fn has_version(&self, group: &str, version: &str) -> bool {
        self.groups.get(group).is_some_and(|versions| versions.contains(version))
            || self.custom().has_version(group, version)
    }

    /// Serves what a definition defines, as far as its names are accepted; `open` makes room for its objects.
    pub(crate) fn serve(&self, entry: &Arc<Entry>, open: impl FnOnce() -> Collection) {
        let before = self.definition(&entry.name);
        let Some(definition) = Definition::read(entry, before.as_ref().map(|(definition, _)| definition.as_ref()))
        else {
            return;
        };
        // Never under our lock: whoever writes to the cluster holds the lock that this takes, and asks us.
        let collection = before.map_or_else(open, |(_, collection)| collection);
        self.custom.write().unwrap_or_else(PoisonError::into_inner).define(&Arc::new(definition), collection);
    }

    /// No longer serves what a definition defines. Returns where its objects were.
    pub(crate) fn forget(&self, definition: &str) -> Option<Collection> {
        self.custom.write().unwrap_or_else(PoisonError::into_inner).forget(definition)
    }

    /// What is served of a definition, and where its objects are.
    pub(crate) fn definition(&self, name: &str) -> Option<(Arc<Definition>, Collection)> {
        self.custom().definition(name)
    }

    fn custom(&self) -> std::sync::RwLockReadGuard<'_, Custom> {
        self.custom.read().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collection_has_its_stored_form_and_shared_ones_are_shared() {
        let catalog = Catalog::built_in();
        for served in catalog.built_ins() {
            let stored = catalog.stored_in(served.collection).unwrap();
            assert_eq!(stored.collection, served.collection, "{}", served.plural);
            assert_eq!(stored.plural, served.plural);
        }
        let events = |group| catalog.find(group, "v1", "events").unwrap().collection;
        assert_eq!(events(""), events("events.k8s.io"));
    }

    #[test]
    fn room_for_objects_is_made_while_others_may_ask_what_is_served() {
        let catalog = Catalog::built_in();
        let names =
            serde_json::json!({"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"});
        let schema = serde_json::json!({"openAPIV3Schema": {"type": "object"}});
        let conditions = serde_json::json!([{"type": "NamesAccepted", "status": "True"}]);
        let serde_json::Value::Object(object) = serde_json::json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {"group": "example.com", "scope": "Cluster", "names": names,
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]},
            "status": {"acceptedNames": names, "conditions": conditions, "storedVersions": ["v1"]},
        }) else {
            unreachable!()
        };
        let draft = crate::cluster::Draft::new("apiextensions.k8s.io", "customresourcedefinitions", &object);
        let mut asked = false;
        catalog.serve(&Arc::new(draft.at(1)), || {
            asked = catalog.custom.try_read().is_ok();
            Collection::at(1000)
        });
        assert!(asked, "a writer of the cluster would wait for us, and we for it");
    }
}
