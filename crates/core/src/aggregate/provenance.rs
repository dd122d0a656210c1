//! Where a rule of an aggregated role comes from. Answered by walking the graph, so that nothing need be stored.

use std::collections::VecDeque;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::{Name, Rule};

use super::Aggregation;
use super::names::RoleId;
use super::nodes::{Link, Node, Union};

/// A role whose own rules reach an aggregated role, and a shortest way there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The role that holds the rules.
    pub role: Name,
    /// The aggregated roles on the way, the asked one first; empty if a role is its own source.
    pub path: Vec<Hop>,
}

/// One step from an aggregated role to a role that it selects: the next one of the path, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The aggregated role.
    pub role: Name,
    /// Which of its selectors matches, from 0.
    pub selector: usize,
}

impl Source {
    /// The names of all roles from the asked one to the source.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.path.iter().map(|hop| &hop.role).chain([&self.role])
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Hop { role, selector } in &self.path {
            write!(f, "{role}[{selector}] > ")?;
        }
        f.write_str(&self.role)
    }
}

impl Aggregation {
    /// The roles that give `rule` to the role `target`: all of them, nearest first, equally near ones in the order in
    /// which they are united. A role that is not aggregated is the source of its own rules.
    pub fn sources(&self, target: &str, rule: &Rule) -> Vec<Source> {
        match self.rules.find(rule) {
            Some(id) => {
                let admits = |union: &Union| union.ceiling.as_ref().is_none_or(|ceiling| ceiling.admits(rule));
                self.leaves(target, |node| node.rules.contains(&id), admits)
            }
            None => Vec::new(),
        }
    }

    /// The roles that can give rules to the role `target`, in the order of [`sources`](Self::sources): all that are
    /// selected through any number of aggregated roles, also those without rules of their own.
    pub fn contributors(&self, target: &str) -> Vec<Source> {
        self.leaves(target, |_| true, |_| true)
    }

    /// Breadth first, so that the first way to a role is a shortest one.
    fn leaves(&self, target: &str, wanted: impl Fn(&Node) -> bool, passes: impl Fn(&Union) -> bool) -> Vec<Source> {
        let Some(target) = self.names.find(target) else { return Vec::new() };
        let mut found = Vec::new();
        let mut reached: FxHashMap<RoleId, Option<Link>> = FxHashMap::from_iter([(target, None)]);
        let mut queue = VecDeque::from([target]);
        while let Some(id) = queue.pop_front() {
            let node = self.nodes.at(id);
            let Some(union) = &node.union else {
                if wanted(node) {
                    found.push(Source { role: self.names.text(id).clone(), path: self.path(id, &reached) });
                }
                continue;
            };
            if !passes(union) {
                continue;
            }
            for (selector, arm) in union.arms.iter().enumerate() {
                for source in arm.sources.iter() {
                    reached.entry(source).or_insert_with(|| {
                        queue.push_back(source);
                        Some(Link { target: id, selector })
                    });
                }
            }
        }
        found
    }

    fn path(&self, leaf: RoleId, reached: &FxHashMap<RoleId, Option<Link>>) -> Vec<Hop> {
        let step = |id: &RoleId| reached.get(id).copied().flatten();
        let links = std::iter::successors(step(&leaf), |link| step(&link.target));
        let mut path: Vec<Hop> =
            links.map(|link| Hop { role: self.names.text(link.target).clone(), selector: link.selector }).collect();
        path.reverse();
        path
    }
}
