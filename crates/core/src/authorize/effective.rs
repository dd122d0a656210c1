//! The rules that reach a user in a namespace.

use std::collections::BTreeMap;

use thiserror::Error;

use super::{Authorizer, BindingSlot, Grant};
use crate::subject::User;
use crate::{Binding, BindingKey, Role, RoleKey, Rule, Subject};

/// Everything a user holds in one namespace, in a fixed order: ClusterRoleBindings by name, then RoleBindings by name.
#[derive(Clone, Debug)]
pub struct Effective<'a> {
    /// The roles held, each through one binding.
    pub held: Vec<Held<'a>>,
    /// Bindings that apply but lead nowhere. RBAC is additive, so the rest counts all the same.
    pub unresolved: Vec<Unresolved>,
}

impl<'a> Effective<'a> {
    /// All rules, in order, with repetitions: what Kubernetes' rule resolver returns.
    pub fn rules(&self) -> impl Iterator<Item = &'a Rule> {
        self.held.iter().flat_map(|held| &held.role.rules)
    }
}

/// A role held through a binding.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The binding.
    pub binding: &'a Binding,
    /// The first subject of the binding that is this user.
    pub subject: &'a Subject,
    /// The role.
    pub role: &'a Role,
}

/// A binding that grants nothing, because its role cannot be found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unresolved {
    /// The role does not exist.
    #[error("{}.rbac.authorization.k8s.io \"{}\" not found", .role.kind().to_ascii_lowercase(), .role.name())]
    RoleNotFound {
        /// The binding that names it.
        binding: BindingKey,
        /// The role that is not there.
        role: RoleKey,
    },
    /// The reference is neither to a Role nor to a ClusterRole.
    #[error("unsupported role reference kind: \"{kind}\"")]
    UnsupportedKind {
        /// The binding with that reference.
        binding: BindingKey,
        /// The kind as written.
        kind: crate::Name,
    },
}

impl Unresolved {
    /// The binding that leads nowhere.
    pub fn binding(&self) -> &BindingKey {
        match self {
            Self::RoleNotFound { binding, .. } | Self::UnsupportedKind { binding, .. } => binding,
        }
    }

    /// Several of them as Kubernetes prints a list of errors: repeated texts once, in brackets if more than one.
    pub fn list(errors: &[Self]) -> String {
        let mut texts: Vec<String> = Vec::new();
        for text in errors.iter().map(ToString::to_string) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        }
    }
}

impl Authorizer {
    /// The rules that reach `user` in `namespace`; `""` asks for what holds everywhere.
    pub fn rules_for(&self, user: &User, namespace: &str) -> Effective<'_> {
        let grants = self.grants.of(user, namespace).flatten().copied();
        let mut effective = Effective { held: Vec::new(), unresolved: Vec::new() };
        for (_, slot) in self.in_order(grants, user, namespace) {
            match self.resolve(slot) {
                Ok(role) => {
                    let subject = first_subject(&slot.binding, user);
                    effective.held.extend(subject.map(|subject| Held { binding: &slot.binding, subject, role }));
                }
                Err(unresolved) => effective.unresolved.push(unresolved),
            }
        }
        effective
    }

    /// The bindings of these grants by key, each once, with those of unsupported reference that apply to the user.
    pub(super) fn in_order<'a>(
        &'a self,
        grants: impl Iterator<Item = Grant>,
        user: &User,
        namespace: &str,
    ) -> BTreeMap<&'a BindingKey, &'a BindingSlot> {
        let unsupported = self.unsupported.iter().filter_map(|id| self.binding_by_id(*id)).filter(|slot| {
            let at = slot.binding.key.namespace();
            (at.is_empty() || at == namespace) && first_subject(&slot.binding, user).is_some()
        });
        grants
            .filter_map(|grant| self.binding_by_id(grant.binding))
            .chain(unsupported)
            .map(|slot| (&slot.binding.key, slot))
            .collect()
    }

    pub(super) fn resolve<'a>(&'a self, slot: &BindingSlot) -> Result<&'a Role, Unresolved> {
        let binding = &slot.binding;
        let Some(id) = slot.role else {
            return Err(Unresolved::UnsupportedKind {
                binding: binding.key.clone(),
                kind: binding.role_ref.kind.clone(),
            });
        };
        self.role_by_id(id).ok_or_else(|| Unresolved::RoleNotFound {
            binding: binding.key.clone(),
            role: self.role_ids.get(id).clone(),
        })
    }
}

fn first_subject<'a>(binding: &'a Binding, user: &User) -> Option<&'a Subject> {
    binding.subjects.iter().find(|subject| subject.applies_to(user, binding.key.namespace()))
}
