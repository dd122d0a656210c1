//! Who holds which roles where: an index from user and group to the roles bound to them.

use rustc_hash::FxHashMap;

use super::{BindingId, RoleId};
use crate::subject::{Principal, User};
use crate::{Binding, Name};

/// A role that reaches somebody through a binding. Lists of these are sorted by role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    pub(super) role: RoleId,
    pub(super) binding: BindingId,
}

#[derive(Clone, Debug, Default)]
struct Held {
    everywhere: Vec<Grant>,
    in_namespace: FxHashMap<Name, Vec<Grant>>,
}

/// The index over all bindings.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    users: FxHashMap<Name, Held>,
    groups: FxHashMap<Name, Held>,
}

impl Grants {
    pub(super) fn insert(&mut self, binding: &Binding, grant: Grant) {
        let namespace = binding.key.namespace();
        for principal in binding.principals() {
            let list = match principal {
                Principal::User(name) => self.users.entry(name).or_default(),
                Principal::Group(name) => self.groups.entry(name).or_default(),
            }
            .list_mut(namespace);
            if let Err(at) = list.binary_search(&grant) {
                list.insert(at, grant);
            }
        }
    }

    pub(super) fn remove(&mut self, binding: &Binding, grant: Grant) {
        let namespace = binding.key.namespace();
        for principal in binding.principals() {
            let (holders, name) = match principal {
                Principal::User(name) => (&mut self.users, name),
                Principal::Group(name) => (&mut self.groups, name),
            };
            if let Some(held) = holders.get_mut(&name) {
                let list = held.list_mut(namespace);
                if let Ok(at) = list.binary_search(&grant) {
                    list.remove(at);
                }
                if list.is_empty() && !namespace.is_empty() {
                    held.in_namespace.remove(namespace);
                }
                if held.everywhere.is_empty() && held.in_namespace.is_empty() {
                    holders.remove(&name);
                }
            }
        }
    }

    /// The lists that count for a request of `user` in `namespace`: cluster-wide grants, and those of the namespace.
    pub(super) fn of<'a>(&'a self, user: &'a User, namespace: &'a str) -> impl Iterator<Item = &'a [Grant]> {
        self.holders(user).flat_map(move |held| {
            let local = if namespace.is_empty() { None } else { held.in_namespace.get(namespace) };
            [Some(&held.everywhere), local].into_iter().flatten().map(Vec::as_slice)
        })
    }

    /// Every grant of `user`, in any namespace.
    pub(super) fn anywhere<'a>(&'a self, user: &'a User) -> impl Iterator<Item = Grant> + 'a {
        self.holders(user).flat_map(|held| held.everywhere.iter().chain(held.in_namespace.values().flatten())).copied()
    }

    /// How many users and groups hold anything.
    pub(super) fn holders_len(&self) -> usize {
        self.users.len() + self.groups.len()
    }

    fn holders<'a>(&'a self, user: &'a User) -> impl Iterator<Item = &'a Held> {
        self.users.get(&user.name).into_iter().chain(user.groups.iter().filter_map(|group| self.groups.get(group)))
    }
}

impl Held {
    fn list_mut(&mut self, namespace: &str) -> &mut Vec<Grant> {
        if namespace.is_empty() {
            &mut self.everywhere
        } else {
            self.in_namespace.entry(Name::from(namespace)).or_default()
        }
    }
}
