//! Roles with which whoever holds them can take more than they say.

use rolewright_core::{RBAC_GROUP, Rule, rule};

use crate::object::Live;
use crate::rbac::RoleBody;

const WRITES: [&str; 3] = ["create", "patch", "update"];

/// How the holder of a role can take more, in words for a user; the widest way, if there are several.
pub(super) fn of(role: &Live) -> Option<&'static str> {
    let rules = &role.body::<RoleBody>()?.rules;
    let holds =
        |verbs: &[&str], group: &str, resource: &str| rules.iter().any(|rule| allows(rule, verbs, group, resource));
    let binds = |rule: &Rule| {
        // Named roles are no more than what they hold.
        rule.resource_names.is_empty() && on_roles(|resource| allows(rule, &["bind"], RBAC_GROUP, resource))
    };
    let is_everything = |rule: &Rule| {
        [&rule.verbs, &rule.api_groups, &rule.resources].iter().all(|list| list.iter().any(|one| one == "*"))
    };
    Some(match () {
        () if rules.iter().any(is_everything) => "it may do everything",
        () if on_roles(|resource| holds(&["escalate"], RBAC_GROUP, resource)) || rules.iter().any(binds) => {
            "it may give rights that it does not have"
        }
        () if ["users", "groups", "serviceaccounts"].iter().any(|who| holds(&["impersonate"], "", who)) => {
            "it may act as others"
        }
        () if holds(&["create"], "", "serviceaccounts/token") => "it may take tokens of service accounts",
        () if ["clusterrolebindings", "rolebindings"].iter().any(|kind| holds(&WRITES, RBAC_GROUP, kind)) => {
            "it may write bindings"
        }
        () if role.meta.name.starts_with("system:") => "it is one of Kubernetes' own, and changes with it",
        () => return None,
    })
}

fn on_roles(is: impl Fn(&str) -> bool) -> bool {
    ["clusterroles", "roles"].into_iter().any(is)
}

/// Whether a rule allows one of these verbs on a resource, be it only on some of that name.
fn allows(rule: &Rule, verbs: &[&str], group: &str, resource: &str) -> bool {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    rule.allows_group(group)
        && verbs.iter().any(|verb| rule.allows_verb(verb))
        && rule.resources.iter().any(|pattern| rule::resource_matches(pattern, resource, subresource))
}
