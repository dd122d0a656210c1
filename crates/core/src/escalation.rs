//! Nobody grants what they do not hold: the checks that the API server runs before it stores a role or a binding.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::authorize::{Authorizer, Effective, Unresolved};
use crate::quote::{Quoted, quoted_list};
use crate::subject::User;
use crate::{Binding, Name, RBAC_GROUP, Request, Role, RoleKey, Rule, covers};

/// Why a write is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The user would hand out rights that they do not hold.
    #[error("{}", not_held(.user, .missing, .unresolved))]
    NotHeld {
        /// Who tried.
        user: User,
        /// The exact atoms that are missing, in the order of the rules, each a rule with single entries.
        missing: Vec<Rule>,
        /// Bindings of the user that lead to no role and so may hide a right.
        unresolved: Vec<Unresolved>,
    },
    /// An aggregated role can gather anything, so only who holds everything may write one.
    #[error("must have cluster-admin privileges to use the aggregationRule")]
    AggregationNeedsAdmin,
    /// The role to bind cannot be resolved, so it cannot be compared.
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
}

/// A Role or ClusterRole about to be stored.
#[derive(Clone, Copy, Debug)]
pub struct RoleWrite<'a> {
    /// The role as it would be stored.
    pub role: &'a Role,
    /// The role as it is stored now, on update.
    pub old: Option<&'a Role>,
    /// The name in the request's URL: empty for POST, where `escalate` limited by name cannot apply.
    pub request_name: &'a str,
}

/// Whether `user` may store this role: as superuser, with the verb `escalate`, or because they hold its rules already.
/// A role with selectors, before or after, needs everything.
pub fn check_role(authorizer: &Authorizer, user: &User, write: &RoleWrite<'_>) -> Result<(), Refusal> {
    let (resource, namespace) = match &write.role.key {
        RoleKey::Cluster(_) => ("clusterroles", ""),
        RoleKey::Namespaced { namespace, .. } => ("roles", namespace.as_str()),
    };
    let escalate =
        Request::resource("escalate", RBAC_GROUP, resource).in_namespace(namespace).named(write.request_name);
    if authorizer.allows(user, &escalate) {
        return Ok(());
    }
    let held = authorizer.rules_for(user, namespace);
    confirm_held(user, &held, &write.role.rules)?;
    let aggregates = |role: &Role| role.aggregation.as_ref().is_some_and(|selectors| !selectors.is_empty());
    if aggregates(write.role) || write.old.is_some_and(aggregates) {
        confirm_held(user, &held, &everything()).map_err(|_| Refusal::AggregationNeedsAdmin)?;
    }
    Ok(())
}

/// Whether `user` may store this binding: as superuser, with the verb `bind` on the role, or because they hold the
/// role's rules where the binding grants them.
pub fn check_binding(authorizer: &Authorizer, user: &User, binding: &Binding) -> Result<(), Refusal> {
    let namespace = binding.key.namespace();
    let role_ref = &binding.role_ref;
    let resource = match role_ref.kind.as_str() {
        "ClusterRole" => Some("clusterroles"),
        "Role" => Some("roles"),
        _ => None,
    };
    let may_bind = resource.is_some_and(|resource| {
        let bind = Request::resource("bind", &role_ref.api_group, resource);
        authorizer.allows(user, &bind.in_namespace(namespace).named(&role_ref.name))
    });
    if may_bind || user.is_superuser() {
        return Ok(());
    }
    let key = binding
        .role()
        .ok_or_else(|| Unresolved::UnsupportedKind { binding: binding.key.clone(), kind: role_ref.kind.clone() })?;
    let role = authorizer
        .role(&key)
        .ok_or_else(|| Unresolved::RoleNotFound { binding: binding.key.clone(), role: key.clone() })?;
    confirm_held(user, &authorizer.rules_for(user, namespace), &role.rules)
}

/// Whether what the user holds covers `rules`. Rights from RBAC only: other authorizers do not count here.
pub fn confirm_held(user: &User, held: &Effective<'_>, rules: &[Rule]) -> Result<(), Refusal> {
    let missing = covers(held.rules(), rules);
    if missing.is_empty() {
        return Ok(());
    }
    Err(Refusal::NotHeld { user: user.clone(), missing, unresolved: held.unresolved.clone() })
}

fn everything() -> [Rule; 2] {
    [Rule::resources(["*"], ["*"], ["*"]), Rule::urls(["*"], ["*"])]
}

/// Kubernetes' message: the missing rights, verbs of one resource together, one line each, sorted.
fn not_held(user: &User, missing: &[Rule], unresolved: &[Unresolved]) -> String {
    let lines: BTreeSet<String> = merge_verbs(missing).iter().map(ToString::to_string).collect();
    let lines: Vec<String> = lines.into_iter().collect();
    let mut text = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        Quoted(&user.name),
        quoted_list(&user.groups),
        lines.join("\n"),
    );
    if !unresolved.is_empty() {
        text.push_str("; resolution errors: [");
        text.push_str(&Unresolved::list(unresolved));
        text.push(']');
    }
    text
}

/// Puts the verbs of one group, resource and name into one rule; rules with more than that stay as they are.
///
/// This is only how Kubernetes words a refusal; [`RuleSet::to_rules`](crate::RuleSet::to_rules) compacts for real.
pub fn merge_verbs(rules: &[Rule]) -> Vec<Rule> {
    let mut merged: Vec<(Rule, Vec<Name>)> = Vec::new();
    let mut place: BTreeMap<(Name, Name, Option<Name>), usize> = BTreeMap::new();
    for rule in rules {
        let key = match (rule.api_groups.as_slice(), rule.resources.as_slice(), rule.resource_names.as_slice()) {
            ([group], [resource], []) => Some((group.clone(), resource.clone(), None)),
            ([group], [resource], [name]) => Some((group.clone(), resource.clone(), Some(name.clone()))),
            _ => None,
        };
        let Some(key) = key.filter(|_| rule.non_resource_urls.is_empty()) else {
            merged.push((rule.clone(), rule.verbs.to_vec()));
            continue;
        };
        if let Some((_, verbs)) = place.get(&key).and_then(|&at| merged.get_mut(at)) {
            verbs.extend(rule.verbs.iter().cloned());
        } else {
            place.insert(key, merged.len());
            merged.push((rule.clone(), rule.verbs.to_vec()));
        }
    }
    merged.into_iter().map(|(rule, verbs)| Rule { verbs: verbs.into(), ..rule }).collect()
}
