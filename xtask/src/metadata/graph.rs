//! Who reaches whom through dependencies that end up in a build.

use std::collections::{BTreeMap, VecDeque};

use super::{Kind, Metadata};

/// The dependency graph without development edges: what a crate pulls into everything that uses it.
///
/// Cargo unites the features of the whole workspace here, so an edge inside a third-party crate may exist only because
/// a sibling asked for it. The graph therefore errs on the side of reaching too much.
pub(crate) struct Graph<'a> {
    names: BTreeMap<&'a str, &'a str>,
    edges: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(metadata: &'a Metadata) -> Self {
        let names = metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let edges = nodes
            .map(|node| {
                let built = node.deps.iter().filter(|edge| edge.dep_kinds.iter().any(|d| d.kind != Kind::Dev));
                (node.id.as_str(), built.map(|edge| edge.pkg.as_str()).collect())
            })
            .collect();
        Self { names, edges }
    }

    /// The shortest way from the package `id` to a package called `name`, as names from start to end.
    pub(crate) fn path(&self, id: &str, name: &str) -> Option<Vec<&'a str>> {
        let (&id, _) = self.names.get_key_value(id)?;
        let mut came_from = BTreeMap::from([(id, None)]);
        let mut queue = VecDeque::from([id]);
        while let Some(here) = queue.pop_front() {
            if here != id && self.names.get(here).is_some_and(|found| *found == name) {
                return Some(self.walk_back(here, &came_from));
            }
            for &next in self.edges.get(here).into_iter().flatten() {
                if !came_from.contains_key(next) {
                    came_from.insert(next, Some(here));
                    queue.push_back(next);
                }
            }
        }
        None
    }

    fn walk_back(&self, end: &'a str, came_from: &BTreeMap<&'a str, Option<&'a str>>) -> Vec<&'a str> {
        let steps = std::iter::successors(Some(end), |step| came_from.get(step).copied().flatten());
        let mut path: Vec<_> = steps.filter_map(|id| self.names.get(id).copied()).collect();
        path.reverse();
        path
    }
}
