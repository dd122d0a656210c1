//! Which aggregated roles select each other in circles, from change to change.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Name;

use super::Aggregation;
use super::components::components;
use super::names::RoleId;

/// What [`Aggregation::cycles`] finds, kept for whoever follows changes: each costs the roles further on from the changed
/// ones, and no others.
#[derive(Clone, Debug, Default)]
pub struct Cycles {
    of: FxHashMap<Name, Arc<[Name]>>,
    walked: usize,
}

impl Cycles {
    /// The circle that a role is part of, by name.
    pub fn of(&self, name: &str) -> Option<&[Name]> {
        self.of.get(name).map(AsRef::as_ref)
    }

    /// Looks again at roles that are new, gone, or have other labels or selectors, once `aggregation` knows. Only those
    /// that are aggregated or were so need be named. Returns by name the roles whose circle is not what it was.
    pub fn follow<'a>(
        &mut self,
        aggregation: &Aggregation,
        changed: impl IntoIterator<Item = &'a Name>,
    ) -> BTreeSet<Name> {
        let mut roots = Vec::new();
        let mut before = FxHashSet::default();
        for name in changed {
            roots.push(name.clone());
            // WHY: a circle opens only where one of its own roles changes, and then each of the others may be on its own.
            if let Some(circle) = self.of.get(name).cloned() {
                for member in circle.iter() {
                    self.of.remove(member);
                    roots.push(member.clone());
                }
                before.insert(circle);
            }
        }
        let mut concerned = BTreeSet::new();
        // A circle closes only through a changed role, so that whoever is part of it is further on from that one.
        let (circles, walked) = aggregation.circles(roots.iter().filter_map(|name| aggregation.names.find(name)));
        for circle in circles {
            if circle.first().and_then(|name| self.of(name)) == Some(&circle) {
                continue;
            }
            let circle: Arc<[Name]> = circle.into();
            self.of.extend(circle.iter().map(|name| (name.clone(), Arc::clone(&circle))));
            if !before.remove(&circle) {
                concerned.extend(circle.iter().cloned());
            }
        }
        concerned.extend(before.iter().flat_map(|circle| circle.iter().cloned()));
        self.walked = walked;
        concerned
    }

    /// Roles walked through by the last [`follow`](Self::follow).
    pub fn walked(&self) -> usize {
        self.walked
    }
}

impl Aggregation {
    /// Groups of aggregated roles that select each other in a circle, each group and all groups by name.
    ///
    /// Here a circle is harmless. Kubernetes' controller never takes a revoked rule out of one.
    pub fn cycles(&self) -> Vec<Vec<Name>> {
        let (mut circles, _) = self.circles(self.labels.all());
        circles.sort_unstable();
        circles
    }

    /// The circles that can be reached from `roots`, each by name, and how many roles can.
    fn circles(&self, roots: impl IntoIterator<Item = RoleId>) -> (Vec<Vec<Name>>, usize) {
        let walked = components(roots, |id| self.nodes.at(id).targets());
        let names = |members: &Vec<RoleId>| {
            let mut names: Vec<Name> = members.iter().map(|&id| self.names.text(id).clone()).collect();
            names.sort_unstable();
            names
        };
        let circles = walked.iter().filter(|members| members.len() > 1).map(names).collect();
        (circles, walked.iter().map(Vec::len).sum())
    }
}
