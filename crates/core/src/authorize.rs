//! The authorizer: who may do what, answered from indexes that follow every change.
//!
//! ```text
//! user, groups ──> Grants ──> roles held (everywhere, in the namespace)  ┐
//!                                                                        ├─ a role in both that gives the verb: allowed
//! group, resource, name ──> Rights ──> roles with a right on it, verbs   ┘
//! ```
//! A decision looks up a handful of keys and intersects two sorted lists of roles; it neither walks bindings nor allocates.
//! Explanations read the rules themselves, plainly, so the two ways check each other.

mod effective;
mod explain;
mod grants;
mod near_miss;
mod rights;
mod who;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use effective::{Effective, Held, Unresolved};
pub use explain::{Decision, Reason};
pub use near_miss::{NearMiss, Obstacle};
pub use who::{Holder, Reach};

use self::grants::{Grant, Grants};
use self::rights::{Entry, Footprint, Rights};
use crate::intern::Interner;
use crate::subject::User;
use crate::{Binding, BindingKey, Request, Role, RoleKey, Target, World};

type RoleId = u32;
type BindingId = u32;

/// Answers access questions over a set of roles and bindings, and follows changes to them one by one.
#[derive(Clone, Debug, Default)]
pub struct Authorizer {
    role_ids: Interner<RoleKey>,
    roles: Vec<RoleSlot>,
    binding_ids: Interner<BindingKey>,
    bindings: Vec<Option<BindingSlot>>,
    rights: Rights,
    grants: Grants,
    /// Roles with rules that are read instead of indexed.
    wide: BTreeMap<RoleId, Vec<usize>>,
    /// Bindings whose role reference has an unknown kind.
    unsupported: BTreeSet<BindingId>,
}

/// A role that exists or that some binding refers to.
#[derive(Clone, Debug, Default)]
struct RoleSlot {
    held: Option<(Arc<Role>, Footprint)>,
    bindings: BTreeSet<BindingId>,
}

#[derive(Clone, Debug)]
struct BindingSlot {
    binding: Arc<Binding>,
    role: Option<RoleId>,
}

impl Authorizer {
    /// An authorizer over these roles and bindings.
    pub fn new(world: &World) -> Self {
        let mut authorizer = Self::default();
        for role in world.roles.values() {
            authorizer.set_role(role.clone());
        }
        for binding in world.bindings.values() {
            authorizer.set_binding(binding.clone());
        }
        authorizer
    }

    /// Adds a role or replaces the one with its key.
    pub fn set_role(&mut self, role: impl Into<Arc<Role>>) {
        let role = role.into();
        self.remove_role(&role.key);
        let id = self.role_ids.acquire(&role.key);
        let footprint = self.rights.insert(id, &role);
        if !footprint.wide.is_empty() {
            self.wide.insert(id, footprint.wide.clone());
        }
        self.role_slot(id).held = Some((role, footprint));
    }

    /// Removes a role; bindings to it stay and dangle.
    pub fn remove_role(&mut self, key: &RoleKey) {
        let Some(id) = self.role_ids.find(key) else { return };
        let Some((_, footprint)) = self.role_slot(id).held.take() else { return };
        self.rights.remove(id, footprint);
        self.wide.remove(&id);
        self.role_ids.release(id);
    }

    /// Adds a binding or replaces the one with its key.
    pub fn set_binding(&mut self, binding: impl Into<Arc<Binding>>) {
        let binding = binding.into();
        self.remove_binding(&binding.key);
        let id = self.binding_ids.acquire(&binding.key);
        let role = binding.role().map(|key| self.role_ids.acquire(&key));
        if let Some(role) = role {
            self.role_slot(role).bindings.insert(id);
            self.grants.insert(&binding, Grant { role, binding: id });
        } else {
            self.unsupported.insert(id);
        }
        let at = id as usize;
        if self.bindings.len() <= at {
            self.bindings.resize_with(at + 1, || None);
        }
        if let Some(slot) = self.bindings.get_mut(at) {
            *slot = Some(BindingSlot { binding, role });
        }
    }

    /// Removes a binding.
    pub fn remove_binding(&mut self, key: &BindingKey) {
        let Some(id) = self.binding_ids.find(key) else { return };
        let Some(BindingSlot { binding, role }) = self.bindings.get_mut(id as usize).and_then(Option::take) else {
            return;
        };
        if let Some(role) = role {
            self.grants.remove(&binding, Grant { role, binding: id });
            self.role_slot(role).bindings.remove(&id);
            self.role_ids.release(role);
        }
        self.unsupported.remove(&id);
        self.binding_ids.release(id);
    }

    /// A role by key.
    pub fn role(&self, key: &RoleKey) -> Option<&Role> {
        self.role_ids.find(key).and_then(|id| self.role_by_id(id))
    }

    /// Whether `user` may do what is asked. The superuser group passes before RBAC is consulted.
    pub fn allows(&self, user: &User, request: &Request<'_>) -> bool {
        user.is_superuser() || self.rules_allow(user, request)
    }

    fn rules_allow(&self, user: &User, request: &Request<'_>) -> bool {
        let namespace = request.namespace();
        let verb = self.rights.verb(request.verb);
        let gives = |entry| self.rights.gives(entry, verb);
        let by_index = match &request.target {
            Target::Resource(on) => match self.rights.of_resource(on) {
                Some(lists) => {
                    self.grants.of(user, namespace).any(|held| lists.iter().any(|entries| meet(held, entries, gives)))
                }
                None => return self.rules_allow_plainly(user, request, |_| true),
            },
            Target::Url(path) => self
                .rights
                .of_url(path)
                .any(|entries| self.grants.of(user, namespace).any(|held| meet(held, entries, gives))),
        };
        by_index
            || (!self.wide.is_empty() && self.rules_allow_plainly(user, request, |role| self.wide.contains_key(&role)))
    }

    /// Reads the rules of the user's roles one by one.
    fn rules_allow_plainly(&self, user: &User, request: &Request<'_>, of: impl Fn(RoleId) -> bool) -> bool {
        self.grants.of(user, request.namespace()).flatten().any(|grant| {
            of(grant.role)
                && self.role_by_id(grant.role).is_some_and(|role| role.rules.iter().any(|rule| rule.allows(request)))
        })
    }

    /// Sizes of the indexes: interned texts, lists of rights, holders, roles, bindings.
    #[doc(hidden)]
    pub fn index_sizes(&self) -> [usize; 5] {
        let (texts, lists) = self.rights.size();
        [texts, lists, self.grants.holders_len(), self.role_ids.len(), self.binding_ids.len()]
    }

    fn role_by_id(&self, id: RoleId) -> Option<&Role> {
        self.roles.get(id as usize)?.held.as_ref().map(|(role, _)| &**role)
    }

    fn binding_by_id(&self, id: BindingId) -> Option<&BindingSlot> {
        self.bindings.get(id as usize)?.as_ref()
    }

    fn role_slot(&mut self, id: RoleId) -> &mut RoleSlot {
        let at = id as usize;
        if self.roles.len() <= at {
            self.roles.resize_with(at + 1, RoleSlot::default);
        }
        self.roles.get_mut(at).expect("the slot was just made")
    }
}

/// Whether some role stands in both lists and `gives` what is asked. Both are sorted by role, so the shorter list leads
/// and the longer one is searched from where the last search ended.
fn meet(held: &[Grant], entries: &[Entry], gives: impl Fn(Entry) -> bool) -> bool {
    if held.len() <= entries.len() {
        let mut rest = entries;
        for grant in held {
            rest = skip_until(rest, |entry| entry.role < grant.role);
            match rest.first() {
                Some(entry) if entry.role == grant.role && gives(*entry) => return true,
                Some(_) => {}
                None => return false,
            }
        }
    } else {
        let mut rest = held;
        for entry in entries {
            rest = skip_until(rest, |grant| grant.role < entry.role);
            match rest.first() {
                Some(grant) if grant.role == entry.role && gives(*entry) => return true,
                Some(_) => {}
                None => return false,
            }
        }
    }
    false
}

/// The list from the first element that is not `before`. The search widens from the front, because where both lists are
/// dense the next step is short.
fn skip_until<T>(list: &[T], before: impl Fn(&T) -> bool) -> &[T] {
    let mut reach = 1;
    while list.get(reach - 1).is_some_and(&before) {
        reach *= 2;
    }
    let passed = reach / 2;
    let window = list.get(passed..reach.min(list.len())).unwrap_or_default();
    list.get(passed + window.partition_point(before)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::skip_until;

    #[test]
    fn skipping_finds_the_same_place_as_a_walk() {
        for length in 0..40_u32 {
            let list: Vec<u32> = (0..length).map(|n| n * 2).collect();
            for wanted in 0..90 {
                let walked: Vec<u32> = list.iter().copied().skip_while(|n| *n < wanted).collect();
                assert_eq!(skip_until(&list, |n| *n < wanted), walked, "{wanted} in {length}");
            }
        }
    }
}
