//! Why not: grants that fall short of a request in one respect.

use std::collections::BTreeSet;
use std::fmt;

use super::Authorizer;
use crate::subject::User;
use crate::{BindingKey, Name, Request, ResourceRequest, RoleKey, Rule, Target};

/// A grant that would allow the request but for one thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearMiss {
    /// What keeps it from counting.
    pub obstacle: Obstacle,
    /// The binding.
    pub binding: BindingKey,
    /// The role it gives.
    pub role: RoleKey,
    /// The rule that comes close, from 0; none when the role does not exist.
    pub rule: Option<usize>,
}

/// The one thing in the way. Sorted by how often it is the answer people look for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// The binding's role does not exist.
    RoleMissing,
    /// The rule allows exactly this, in another namespace than the one asked about (or not at cluster scope).
    OtherNamespace(Name),
    /// The rule has everything but the verb.
    Verb {
        /// The verbs it does have.
        held: Vec<Name>,
    },
    /// The rule covers only objects of these names.
    NamedOnly {
        /// Those names.
        names: Vec<Name>,
    },
    /// The rule is for the resource but not for this subresource, or only for a subresource.
    Subresource {
        /// The resource patterns that come close.
        held: Vec<Name>,
    },
    /// The rule is for a resource of the same name in other API groups.
    Group {
        /// Those groups.
        held: Vec<Name>,
    },
    /// The URL is granted through a RoleBinding, where URLs have no effect.
    UrlThroughRoleBinding,
}

impl fmt::Display for Obstacle {
    /// What is to be said of the binding: `counts only in namespace ..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[Name]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::RoleMissing => write!(f, "gives a role that does not exist"),
            Self::OtherNamespace(namespace) => write!(f, "counts only in namespace `{namespace}`"),
            Self::Verb { held } => write!(f, "has only the verbs {}", list(held)),
            Self::NamedOnly { names } => write!(f, "covers only objects named {}", list(names)),
            Self::Subresource { held } => write!(f, "covers only {}", list(held)),
            Self::Group { held } => write!(f, "is for the API groups {}", list(held)),
            Self::UrlThroughRoleBinding => write!(f, "gives URLs, which have no effect through a RoleBinding"),
        }
    }
}

impl Authorizer {
    pub(super) fn near_misses(&self, user: &User, request: &Request<'_>) -> Vec<NearMiss> {
        let mut misses = BTreeSet::new();
        for slot in self.in_order(self.grants.anywhere(user), user, request.namespace()).into_values() {
            let binding = &slot.binding.key;
            let in_scope = binding.namespace().is_empty() || binding.namespace() == request.namespace();
            let mut miss = |obstacle, role: &RoleKey, rule| {
                misses.insert(NearMiss { obstacle, binding: binding.clone(), role: role.clone(), rule });
            };
            let Ok(role) = self.resolve(slot) else {
                if let Some(key) = slot.binding.role().filter(|_| in_scope) {
                    miss(Obstacle::RoleMissing, &key, None);
                }
                continue;
            };
            for (index, rule) in role.rules.iter().enumerate() {
                let obstacle = if in_scope {
                    only_obstacle(rule, request)
                } else if rule.allows(request) {
                    Some(match request.target {
                        Target::Url(_) => Obstacle::UrlThroughRoleBinding,
                        Target::Resource(_) => Obstacle::OtherNamespace(binding.namespace().into()),
                    })
                } else {
                    None
                };
                if let Some(obstacle) = obstacle {
                    miss(obstacle, &role.key, Some(index));
                }
            }
        }
        misses.into_iter().collect()
    }
}

/// What alone keeps `rule` from allowing `request`; nothing if more than one thing does.
fn only_obstacle(rule: &Rule, request: &Request<'_>) -> Option<Obstacle> {
    let verb = rule.allows_verb(request.verb);
    let missing_verb = || Obstacle::Verb { held: rule.verbs.to_vec() };
    let on = match &request.target {
        Target::Url(path) => return (rule.allows_url(path) && !verb).then(missing_verb),
        Target::Resource(on) => on,
    };
    match (verb, rule.allows_group(on.group), rule.allows_resource(on), rule.allows_name(on.name)) {
        (false, true, true, true) => Some(missing_verb()),
        (true, false, true, true) if names_exactly(rule, on) => {
            Some(Obstacle::Group { held: rule.api_groups.to_vec() })
        }
        (true, true, false, true) => {
            let held: Vec<Name> = rule.resources.iter().filter(|pattern| same_resource(pattern, on)).cloned().collect();
            (!held.is_empty()).then_some(Obstacle::Subresource { held })
        }
        (true, true, true, false) => Some(Obstacle::NamedOnly { names: rule.resource_names.to_vec() }),
        _ => None,
    }
}

/// Whether the rule names the resource rather than everything: `*` of another group is no near miss.
fn names_exactly(rule: &Rule, on: &ResourceRequest<'_>) -> bool {
    rule.resources.iter().any(|pattern| pattern != crate::rule::ANY && same_resource(pattern, on))
}

fn same_resource(pattern: &str, on: &ResourceRequest<'_>) -> bool {
    pattern.split('/').next() == Some(on.resource)
}
