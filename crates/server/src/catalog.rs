//! What is served: every resource with its type, its rules and where its objects are.

use std::collections::BTreeMap;
use std::sync::Arc;

use rolewright_core::Name;
use rustc_hash::FxHashMap;

use crate::cluster::Collection;
use crate::facts::{self, Type};
use crate::kinds;
use crate::status::GroupResource;
use crate::strategy::{Object, Strategy};

/// One resource in one version.
pub(crate) struct Served {
    pub(crate) group: Name,
    pub(crate) version: Name,
    pub(crate) kind: Name,
    pub(crate) plural: Name,
    pub(crate) namespaced: bool,
    pub(crate) ty: &'static Type,
    pub(crate) strategy: &'static dyn Strategy,
    pub(crate) collection: Collection,
    pub(crate) facts: &'static facts::Resource,
    /// Between the stored form and this version, where they differ.
    pub(crate) conversion: Option<Conversion>,
}

/// Between the stored form of an object and that of another version.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    pub(crate) from_stored: fn(&Object) -> Object,
    pub(crate) to_stored: fn(&Object) -> Object,
}

impl Served {
    pub(crate) fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.group, resource: &self.plural }
    }

    /// Whether Kubernetes answers from memory where it may. It does not keep events there.
    pub(crate) fn is_cached(&self) -> bool {
        self.plural != "events"
    }

    /// `v1`, `apps/v1`
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    pub(crate) fn verbs(&self) -> &'static [&'static str] {
        self.facts.verbs
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&'static facts::Subresource> {
        self.facts.subresources.iter().find(|sub| sub.name == name)
    }
}

/// `v1`, `apps/v1`
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Everything that is served. Custom resources will join here.
pub(crate) struct Catalog {
    served: Vec<Arc<Served>>,
    by_path: FxHashMap<(Name, Name, Name), Arc<Served>>,
    /// The resource in whose version the objects of a collection are stored, by collection.
    stored: Vec<Arc<Served>>,
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
        let all = || facts::resources().iter().filter(|resource| resource.group != "apiextensions.k8s.io");
        let shares = |at| SHARED.iter().find(|(_, sharing)| *sharing == at).map(|(owner, _)| *owner);
        for resource in all().filter(|resource| shares(path(resource)).is_none()) {
            let next = Collection::at(collections.len());
            collections.insert(path(resource), next);
        }
        let served: Vec<Arc<Served>> = all()
            .filter_map(|resource| {
                let owner = shares(path(resource)).unwrap_or(path(resource));
                Some(Arc::new(Served {
                    group: Name::new_static(resource.group),
                    version: Name::new_static(resource.version),
                    kind: Name::new_static(resource.kind),
                    plural: Name::new_static(resource.plural),
                    namespaced: resource.namespaced,
                    ty: facts::type_of(resource.group, resource.version, resource.kind)?,
                    strategy: kinds::strategy(resource.group, resource.plural),
                    collection: *collections.get(&owner)?,
                    facts: resource,
                    conversion: kinds::conversion(resource.group, resource.version, resource.plural),
                }))
            })
            .collect();
        let mut stored: Vec<(Collection, Arc<Served>)> = served
            .iter()
            .filter(|served| served.conversion.is_none())
            .map(|served| (served.collection, served.clone()))
            .collect();
        stored.sort_by_key(|(collection, _)| *collection);
        let by_path = served
            .iter()
            .map(|served| ((served.group.clone(), served.version.clone(), served.plural.clone()), served.clone()))
            .collect();
        Self { served, by_path, stored: stored.into_iter().map(|(_, served)| served).collect() }
    }

    /// Every resource, by group, version and plural.
    pub(crate) fn all(&self) -> &[Arc<Served>] {
        &self.served
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Served>> {
        self.by_path.get(&(Name::from(group), Name::from(version), Name::from(plural)))
    }

    /// The resource in whose form the objects of a collection are stored.
    pub(crate) fn stored_in(&self, collection: Collection) -> &Arc<Served> {
        self.stored.get(collection.index()).expect("every collection has one resource without a conversion")
    }

    /// Where the objects of a resource are stored.
    pub(crate) fn collection(&self, group: &str, plural: &str) -> Option<Collection> {
        self.stored.iter().find(|stored| stored.group == group && stored.plural == plural).map(|stored| stored.collection)
    }

    pub(crate) fn collections(&self) -> usize {
        self.stored.len()
    }

    /// Whether anything of this group is served.
    pub(crate) fn has_group(&self, group: &str) -> bool {
        self.served.iter().any(|served| served.group == group)
    }

    /// Whether anything of this group and version is served.
    pub(crate) fn has_version(&self, group: &str, version: &str) -> bool {
        self.served.iter().any(|served| served.group == group && served.version == version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collection_has_its_stored_form_and_shared_ones_are_shared() {
        let catalog = Catalog::built_in();
        for served in catalog.all() {
            let stored = catalog.stored_in(served.collection);
            assert_eq!(stored.collection, served.collection, "{}", served.plural);
            assert_eq!(stored.plural, served.plural);
        }
        let events = |group| catalog.find(group, "v1", "events").unwrap().collection;
        assert_eq!(events(""), events("events.k8s.io"));
    }
}
