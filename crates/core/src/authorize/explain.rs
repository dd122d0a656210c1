//! A decision with all its reasons.

use std::fmt;

use super::{Authorizer, NearMiss, Unresolved};
use crate::aggregate::{Aggregation, Source};
use crate::quote::Quoted;
use crate::subject::User;
use crate::{BindingKey, Request, RoleKey, Rule, Subject};

/// The answer to one question, with everything that bears on it, in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The user is in the superuser group: allowed before RBAC is asked.
    pub superuser: bool,
    /// Every rule that allows it, not only the first.
    pub reasons: Vec<Reason>,
    /// When denied: grants that come close, and what keeps each from counting.
    pub near_misses: Vec<NearMiss>,
    /// Bindings of this user, in scope, that lead to no role.
    pub unresolved: Vec<Unresolved>,
}

/// One rule that allows a request, and the way it reaches the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The binding.
    pub binding: BindingKey,
    /// The first subject of the binding that is this user.
    pub subject: Subject,
    /// The role.
    pub role: RoleKey,
    /// Which of the role's rules, from 0.
    pub index: usize,
    /// That rule.
    pub rule: Rule,
    /// Where an aggregated role has the rule from; see [`Decision::trace`].
    pub sources: Vec<Source>,
}

impl fmt::Display for Reason {
    /// Kubernetes' own wording, as seen in audit logs and access reviews.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_namespace = |name: &str, namespace: &str| Quoted(&format!("{name}/{namespace}")).to_string();
        let Self { binding, subject, role, .. } = self;
        let at = binding.namespace();
        let binding_name =
            if at.is_empty() { Quoted(binding.name()).to_string() } else { in_namespace(binding.name(), at) };
        let subject_name = match (subject.kind.as_str(), subject.namespace.as_str()) {
            ("ServiceAccount", "") => in_namespace(&subject.name, at),
            ("ServiceAccount", namespace) => in_namespace(&subject.name, namespace),
            _ => Quoted(&subject.name).to_string(),
        };
        write!(f, "RBAC: allowed by {} {binding_name} of ", binding.kind())?;
        write!(f, "{} {} to {} {subject_name}", role.kind(), Quoted(role.name()), subject.kind)
    }
}

impl Decision {
    /// The text Kubernetes gives with a decision: the first reason, or what could not be resolved, or nothing.
    /// The superuser's pass comes without words.
    pub fn text(&self) -> String {
        match self.reasons.first() {
            _ if self.superuser => String::new(),
            Some(reason) => reason.to_string(),
            None if self.unresolved.is_empty() => String::new(),
            None => format!("RBAC: {}", Unresolved::list(&self.unresolved)),
        }
    }

    /// Adds to each reason from an aggregated role the roles that its rule comes from.
    pub fn trace(mut self, aggregation: &Aggregation) -> Self {
        for reason in &mut self.reasons {
            if let RoleKey::Cluster(name) = &reason.role {
                reason.sources = aggregation.sources(name, &reason.rule);
            }
        }
        self
    }
}

impl Authorizer {
    /// Decides and explains. The decision equals [`allows`](Self::allows); it is reached by reading rules, not indexes.
    pub fn explain(&self, user: &User, request: &Request<'_>) -> Decision {
        let effective = self.rules_for(user, request.namespace());
        let mut reasons = Vec::new();
        for held in &effective.held {
            let allowing = held.role.rules.iter().enumerate().filter(|(_, rule)| rule.allows(request));
            reasons.extend(allowing.map(|(index, rule)| Reason {
                binding: held.binding.key.clone(),
                subject: held.subject.clone(),
                role: held.role.key.clone(),
                index,
                rule: rule.clone(),
                sources: Vec::new(),
            }));
        }
        let superuser = user.is_superuser();
        let allowed = superuser || !reasons.is_empty();
        let near_misses = if allowed { Vec::new() } else { self.near_misses(user, request) };
        Decision { allowed, superuser, reasons, near_misses, unresolved: effective.unresolved }
    }
}
