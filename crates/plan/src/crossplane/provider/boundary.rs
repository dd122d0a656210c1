//! How far a provider's rights may go.

use rolewright_core::{Rule, RuleSet};

use super::Crossplane;
use crate::Name;
use crate::crossplane::settings::Boundary;
use crate::diagnostic::{Code, Diagnostic};
use crate::object::{Live, ObjectRef};
use crate::rbac::{CLUSTER_ROLE, RoleBody};
use crate::snapshot::Snapshot;

/// So many refused rights are named; a package may ask for any number.
const NAMED: usize = 5;

impl Crossplane {
    /// What the boundary allows. Without a role to say so that is nothing.
    fn allowed(&self, snapshot: &Snapshot) -> RuleSet {
        let role = self.settings.boundary_role.as_ref();
        let role = role.and_then(|name| snapshot.get(&ObjectRef::cluster(&CLUSTER_ROLE, name.clone())));
        RuleSet::new(role.and_then(Live::body::<RoleBody>).map_or(&[][..], |role| &role.rules))
    }

    /// What a provider gets of what it asks for beyond its resources.
    pub(super) fn grant_requests(
        &self,
        snapshot: &Snapshot,
        key: &ObjectRef,
        requests: &[Rule],
        problems: &mut Vec<Diagnostic>,
    ) -> Vec<Rule> {
        if requests.is_empty() {
            return Vec::new();
        }
        let allowed = self.allowed(snapshot);
        problems.extend(self.refused(key, &allowed, requests));
        RuleSet::new(requests).within(&allowed).to_rules()
    }

    /// What is left of all that a provider gets, if the boundary is for all of it.
    pub(super) fn within_boundary(&self, snapshot: &Snapshot, rules: Vec<Rule>) -> Vec<Rule> {
        if !self.bounds_all() {
            return rules;
        }
        let allowed = self.allowed(snapshot);
        // Of `*` on something, what the boundary names of it remains.
        let wanted = RuleSet::new(&rules);
        let mut both = wanted.within(&allowed);
        both.extend(&allowed.within(&wanted));
        both.to_rules()
    }

    /// Says what is not left of it.
    pub(super) fn beyond_boundary(&self, snapshot: &Snapshot, key: &ObjectRef, rules: &[Rule]) -> Option<Diagnostic> {
        if self.bounds_all() { self.refused(key, &self.allowed(snapshot), rules) } else { None }
    }

    /// Whether the boundary is for everything. Without a role that says how far it goes, that leaves nothing.
    pub(super) fn bounds_all(&self) -> bool {
        self.settings.boundary == Boundary::All
    }

    fn refused(&self, key: &ObjectRef, allowed: &RuleSet, rules: &[Rule]) -> Option<Diagnostic> {
        let refused = RuleSet::new(rules).beyond(allowed).to_rules();
        if refused.is_empty() {
            return None;
        }
        let boundary = match &self.settings.boundary_role {
            Some(role) => format!("ClusterRole `{role}` does not allow"),
            None if self.bounds_all() => "without a boundary role nothing is granted:".to_owned(),
            None => "without a boundary role nothing beyond its resources is granted:".to_owned(),
        };
        let named: Vec<String> = refused.iter().take(NAMED).map(in_words).collect();
        let more = match refused.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let message = format!("{boundary} {}{more}", named.join("; "));
        Some(Diagnostic::new(Code::BeyondBoundary, key.clone(), message))
    }
}

/// `get,list pods,deployments.apps`.
fn in_words(rule: &Rule) -> String {
    let of = |(group, resource): (&Name, &Name)| match (group.as_str(), resource.split_once('/')) {
        ("", _) => resource.to_string(),
        (group, Some((resource, sub))) => format!("{resource}.{group}/{sub}"),
        (group, None) => format!("{resource}.{group}"),
    };
    let resources = rule.api_groups.iter().flat_map(|group| rule.resources.iter().map(move |on| (group, on))).map(of);
    let on = resources.chain(rule.non_resource_urls.iter().map(Name::to_string));
    let verbs = rule.verbs.iter().map(Name::to_string);
    format!("`{} {}`", few(verbs), few(on))
}

/// The first of several, with commas.
fn few(words: impl Iterator<Item = String>) -> String {
    let mut words = words.peekable();
    let mut shown: Vec<String> = words.by_ref().take(NAMED).collect();
    if words.peek().is_some() {
        shown.push("...".to_owned());
    }
    shown.join(",")
}
