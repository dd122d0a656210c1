//! The custom resources that are served now.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use rolewright_core::Name;
use rolewright_crd::version;
use rustc_hash::FxHashMap;

use super::Served;
use crate::cluster::Collection;
use crate::custom::Definition;

/// Group, version and plural.
type Path = (Name, Name, Name);

#[derive(Default)]
pub(super) struct Custom {
    by_path: BTreeMap<Path, Arc<Served>>,
    stored: FxHashMap<Collection, Arc<Served>>,
    /// What each definition says, and where its objects are.
    by_definition: FxHashMap<Name, (Arc<Definition>, Collection)>,
    pub(super) generation: u64,
}

impl Custom {
    pub(super) fn find(&self, path: &Path) -> Option<Arc<Served>> {
        self.by_path.get(path).cloned()
    }

    pub(super) fn stored_in(&self, collection: Collection) -> Option<Arc<Served>> {
        self.stored.get(&collection).cloned()
    }

    pub(super) fn definition(&self, name: &str) -> Option<(Arc<Definition>, Collection)> {
        self.by_definition.get(name).cloned()
    }

    pub(super) fn define(&mut self, definition: &Arc<Definition>, collection: Collection) {
        self.forget(definition.name());
        let (versions, stored) = definition.clone().resources(collection);
        for served in versions {
            let path = (served.group.clone(), served.version.clone(), served.plural.clone());
            self.by_path.insert(path, served);
        }
        self.stored.extend(stored.map(|stored| (collection, stored)));
        self.by_definition.insert(definition.name().clone(), (definition.clone(), collection));
    }

    pub(super) fn forget(&mut self, name: &str) -> Option<Collection> {
        self.generation += 1;
        let (definition, collection) = self.by_definition.remove(name)?;
        for path in definition.paths() {
            self.by_path.remove(&path);
        }
        self.stored.remove(&collection);
        Some(collection)
    }

    fn from(&self, group: &str, version: &str) -> impl Iterator<Item = (&Path, &Arc<Served>)> {
        let start: Path = (group.into(), version.into(), Name::default());
        self.by_path.range((Bound::Included(start), Bound::Unbounded))
    }

    pub(super) fn of_version(&self, group: &str, version: &str) -> Vec<Arc<Served>> {
        let of_version = self.from(group, version).take_while(|((g, v, _), _)| g == group && v == version);
        of_version.map(|(_, served)| served.clone()).collect()
    }

    pub(super) fn has_group(&self, group: &str) -> bool {
        self.from(group, "").next().is_some_and(|((found, ..), _)| found == group)
    }

    pub(super) fn has_version(&self, group: &str, version: &str) -> bool {
        self.from(group, version).next().is_some_and(|((g, v, _), _)| g == group && v == version)
    }

    pub(super) fn groups(&self) -> Vec<(Name, Vec<Name>)> {
        let mut groups: Vec<(Name, Vec<Name>)> = Vec::new();
        for (group, version, _) in self.by_path.keys() {
            match groups.last_mut() {
                Some((last, versions)) if last == group => {
                    if versions.last() != Some(version) {
                        versions.push(version.clone());
                    }
                }
                _ => groups.push((group.clone(), vec![version.clone()])),
            }
        }
        for (_, versions) in &mut groups {
            versions.sort_by(|a, b| version::priority(b, a));
        }
        groups
    }
}
