//! Roles by label: which ones a new selector matches.

use rustc_hash::FxHashMap;

use crate::Labels;
use crate::Name;
use crate::selector::{Clause, Selector};

use super::names::{Names, RoleId, Roster};
use super::nodes::Nodes;

/// Every role, and for each label the roles that carry it.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelIndex {
    all: Roster,
    carriers: FxHashMap<Name, FxHashMap<Name, Roster>>,
}

impl LabelIndex {
    /// Every role by name.
    pub(super) fn all(&self) -> impl Iterator<Item = RoleId> {
        self.all.iter()
    }

    /// Takes up a role without labels.
    pub(super) fn admit(&mut self, id: RoleId, names: &Names) {
        self.all.insert(id, names);
    }

    /// Drops a role whose labels are removed.
    pub(super) fn dismiss(&mut self, id: RoleId, names: &Names) {
        self.all.remove(id, names);
    }

    pub(super) fn add(&mut self, id: RoleId, labels: &Labels, names: &Names) {
        for (key, value) in labels {
            let values = self.carriers.entry(key.clone()).or_default();
            values.entry(value.clone()).or_default().insert(id, names);
        }
    }

    pub(super) fn remove(&mut self, id: RoleId, labels: &Labels, names: &Names) {
        for (key, value) in labels {
            let Some(values) = self.carriers.get_mut(key) else { continue };
            let Some(roles) = values.get_mut(value) else { continue };
            roles.remove(id, names);
            if roles.is_empty() {
                values.remove(value);
            }
            if values.is_empty() {
                self.carriers.remove(key);
            }
        }
    }

    /// The roles that a selector matches, but for the one that declares it.
    pub(super) fn select(&self, selection: &Selector, declared_by: RoleId, nodes: &Nodes, names: &Names) -> Roster {
        let rarest = selection
            .clauses()
            .iter()
            .filter_map(|clause| self.carriers_of(clause))
            .min_by_key(|lists| lists.iter().map(|roles| roles.len()).sum::<usize>());
        let keep = |id| id != declared_by && selection.matches(&nodes.at(id).labels);
        match rarest.as_deref() {
            None => self.all.filtered(keep),
            Some([roles]) => roles.filtered(keep),
            Some(lists) => {
                let matching = lists.iter().flat_map(|roles| roles.iter()).filter(|&id| keep(id)).collect();
                Roster::sorted(matching, names)
            }
        }
    }

    /// Lists that together hold every role that fulfils the clause; `None` if labels cannot tell.
    fn carriers_of(&self, clause: &Clause) -> Option<Vec<&Roster>> {
        match clause {
            Clause::In(key, wanted) => Some(match self.carriers.get(key) {
                Some(values) => wanted.iter().filter_map(|value| values.get(value)).collect(),
                None => Vec::new(),
            }),
            // WHY: the order of the map does not show, because several lists are sorted into one.
            Clause::Exists(key) => Some(self.carriers.get(key).into_iter().flat_map(FxHashMap::values).collect()),
            Clause::NotIn(..) | Clause::DoesNotExist(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_nobody_carries_are_forgotten() {
        let mut names = Names::default();
        let (a, b) = (names.add(&"a".into()), names.add(&"b".into()));
        let labels = |value: &str| Labels::from([("key".into(), value.into())]);
        let mut index = LabelIndex::default();
        index.add(a, &labels("1"), &names);
        index.add(b, &labels("2"), &names);
        index.remove(a, &labels("1"), &names);
        assert!(index.carriers["key"].keys().eq(["2"]));
        index.remove(b, &labels("2"), &names);
        assert!(index.carriers.is_empty());
    }
}
