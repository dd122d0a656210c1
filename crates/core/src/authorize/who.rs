//! Who may: the same indexes, asked the other way round.

use std::collections::BTreeSet;

use super::{Authorizer, BindingSlot, RoleId, Unresolved};
use crate::subject::SUPERUSER_GROUP;
use crate::{BindingKey, Request, RoleKey, Subject, Target};

/// Which bindings count when nobody names a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Exactly the request's scope: its namespace, or the whole cluster when it names none.
    Request,
    /// Any namespace at all, besides the whole cluster: each answer says through which binding, and so where.
    AnyNamespace,
}

/// Somebody who may do what is asked, and through what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// The binding; none for the superuser group, which needs none.
    pub binding: Option<BindingKey>,
    /// The role.
    pub role: Option<RoleKey>,
    /// The subject as the binding writes it.
    pub subject: Subject,
}

impl Authorizer {
    /// Every subject that may do what is asked, the superuser group first, then by binding, in the bindings' own order
    /// of subjects. Beside them, the bindings in scope that lead to no role: they may hide somebody.
    pub fn who_can(&self, request: &Request<'_>, reach: Reach) -> (Vec<Holder>, Vec<Unresolved>) {
        let in_scope = |key: &BindingKey| {
            let at = key.namespace();
            at.is_empty()
                || match request.target {
                    Target::Url(_) => false,
                    Target::Resource(_) => reach == Reach::AnyNamespace || at == request.namespace(),
                }
        };
        let mut bindings: Vec<&BindingSlot> = self
            .roles_allowing(request)
            .into_iter()
            .filter_map(|id| self.roles.get(id as usize))
            .flat_map(|role| &role.bindings)
            .filter_map(|id| self.binding_by_id(*id))
            .filter(|slot| in_scope(&slot.binding.key))
            .collect();
        bindings.sort_by(|a, b| a.binding.key.cmp(&b.binding.key));
        let mut holders = vec![Holder { binding: None, role: None, subject: Subject::group(SUPERUSER_GROUP) }];
        for slot in bindings {
            holders.extend(slot.binding.subjects.iter().map(|subject| Holder {
                binding: Some(slot.binding.key.clone()),
                role: slot.role.map(|id| self.role_ids.get(id).clone()),
                subject: subject.clone(),
            }));
        }
        (holders, self.dangling(in_scope))
    }

    /// Bindings that lead to no role, by key.
    fn dangling(&self, in_scope: impl Fn(&BindingKey) -> bool) -> Vec<Unresolved> {
        let missing = self.roles.iter().filter(|role| role.held.is_none()).flat_map(|role| &role.bindings);
        let mut unresolved: Vec<Unresolved> = missing
            .chain(&self.unsupported)
            .filter_map(|id| self.binding_by_id(*id))
            .filter(|slot| in_scope(&slot.binding.key))
            .filter_map(|slot| self.resolve(slot).err())
            .collect();
        unresolved.sort_by(|a, b| a.binding().cmp(b.binding()));
        unresolved
    }

    fn roles_allowing(&self, request: &Request<'_>) -> BTreeSet<RoleId> {
        let verb = self.rights.verb(request.verb);
        let mut roles = BTreeSet::new();
        let mut indexed = true;
        match &request.target {
            Target::Resource(on) => match self.rights.of_resource(on) {
                Some(lists) => roles.extend(
                    lists.iter().flatten().filter(|entry| self.rights.gives(**entry, verb)).map(|entry| entry.role),
                ),
                None => indexed = false,
            },
            Target::Url(path) => roles.extend(
                self.rights
                    .of_url(path)
                    .flatten()
                    .filter(|entry| self.rights.gives(**entry, verb))
                    .map(|entry| entry.role),
            ),
        }
        let plainly: Vec<RoleId> = if indexed {
            self.wide.keys().copied().collect()
        } else {
            (0..u32::try_from(self.roles.len()).unwrap_or(u32::MAX)).collect()
        };
        roles.extend(
            plainly.into_iter().filter(|id| {
                self.role_by_id(*id).is_some_and(|role| role.rules.iter().any(|rule| rule.allows(request)))
            }),
        );
        roles
    }
}
