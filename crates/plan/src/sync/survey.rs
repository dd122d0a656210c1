//! What a sync asks for, and what of it can be given.

use std::collections::BTreeSet;

use super::entry::Entry;
use super::kinds::{ROOT_SYNC, Sync};
use super::settings::CLUSTER_ADMIN;
use super::{RoleRefs, escalation, words};
use crate::Name;
use crate::diagnostic::{Code, Diagnostic};
use crate::kind::NAMESPACE;
use crate::object::{Live, ObjectRef};
use crate::snapshot::Snapshot;
use crate::vocabulary::annotation;

/// What a sync asks for.
#[derive(Debug)]
pub(super) struct Survey {
    /// Each entry once, with what stands in its way.
    pub(super) entries: Vec<(Entry, Obstacle)>,
    /// Entries that say nothing, in words for a user.
    pub(super) bad: Vec<String>,
    /// Why it has what it has, where no entry says it.
    pub(super) origin: Origin,
}

/// Where the roles of a sync come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It names them.
    Entries,
    /// It names none, and gets what those get.
    Default,
    /// It names none, and should have none.
    None,
    /// It means to name some, under a name that nobody reads.
    Misspelt,
}

/// What stands in the way of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// Nothing.
    None,
    /// The namespace is not there, or going.
    NamespaceMissing,
    /// The role is not there. The binding is made all the same: it counts from the moment that the role is there.
    RoleMissing,
    /// Such a role is not to be given.
    Forbidden,
}

impl RoleRefs {
    /// What a sync asks for; an error if that cannot be read.
    pub(super) fn survey(&self, snapshot: &Snapshot, key: &ObjectRef, live: &Live) -> Result<Survey, String> {
        let sync = live.body::<Sync>().ok_or_else(|| "it cannot be read".to_owned())?;
        let written = sync.role_refs.as_deref().map_err(Clone::clone)?;
        let is_root = *key.kind == ROOT_SYNC;
        let mut bad = Vec::new();
        let mut entries = BTreeSet::new();
        for (index, written) in written.iter().enumerate() {
            let entry = if is_root { Entry::of_root(written) } else { Entry::of_repo(written, &key.namespace) };
            match entry {
                Ok(entry) => drop(entries.insert(entry)),
                Err(why) => bad.push(format!("spec.override.roleRefs[{index}]: {why}")),
            }
        }
        let origin = match () {
            () if !written.is_empty() || !is_root => Origin::Entries,
            () if sync.misspelt.is_some() => Origin::Misspelt,
            () if live.meta.annotations.get(words::ROOT_ROLE).is_some() || self.settings.default_role.is_none() => {
                Origin::None
            }
            () => Origin::Default,
        };
        if origin == Origin::Default {
            entries.extend(self.settings.default_role.clone().map(Entry::Cluster));
        }
        let entries = entries.into_iter().map(|entry| {
            let obstacle = self.obstacle(snapshot, is_root, &entry);
            (entry, obstacle)
        });
        Ok(Survey { entries: entries.collect(), bad, origin })
    }

    fn obstacle(&self, snapshot: &Snapshot, is_root: bool, entry: &Entry) -> Obstacle {
        let role = entry.role_name();
        let may = if is_root { self.settings.may_bind(role) } else { self.settings.may_delegate(role) };
        let is_there = |object: &ObjectRef| snapshot.get(object).is_some_and(|live| !live.meta.deleting);
        let namespace = entry.namespace().map(|name| ObjectRef::cluster(&NAMESPACE, name.clone()));
        match () {
            () if !may => Obstacle::Forbidden,
            () if namespace.is_some_and(|namespace| !is_there(&namespace)) => Obstacle::NamespaceMissing,
            () if !is_there(&entry.role()) => Obstacle::RoleMissing,
            () => Obstacle::None,
        }
    }

    /// Why nothing at all is made for a sync.
    pub(super) fn refusal(&self, snapshot: &Snapshot, key: &ObjectRef) -> Option<Diagnostic> {
        let misplaced = words::misplaced(key, &self.settings.namespace);
        let misplaced = misplaced.map(|why| Diagnostic::new(Code::SyncMisplaced, key.clone(), why));
        misplaced.or_else(|| self.rival(snapshot, key))
    }

    /// Another sync that has the account which this one would have.
    fn rival(&self, snapshot: &Snapshot, key: &ObjectRef) -> Option<Diagnostic> {
        let account = words::account(key);
        let holder = self.index.holder(snapshot, &account, &self.settings.namespace).filter(|holder| *holder != key)?;
        let message = format!("its account `{account}` is that of {holder}; give one of them another name");
        Some(Diagnostic::new(Code::AccountTaken, key.clone(), message))
    }

    /// What a user should know of what a sync asks for.
    pub(super) fn problems(
        &self,
        snapshot: &Snapshot,
        key: &ObjectRef,
        live: &Live,
        survey: &Survey,
    ) -> Vec<Diagnostic> {
        let tell = |code, message: String| Diagnostic::new(code, key.clone(), message);
        let mut all: Vec<Diagnostic> = survey.bad.iter().map(|why| tell(Code::RoleRefInvalid, why.clone())).collect();
        for (entry, obstacle) in &survey.entries {
            all.extend(match obstacle {
                Obstacle::None => None,
                Obstacle::NamespaceMissing => {
                    let namespace = entry.namespace().map_or("", Name::as_str);
                    Some(tell(Code::NamespaceMissing, format!("{entry} waits for the namespace `{namespace}`")))
                }
                Obstacle::RoleMissing => Some(tell(Code::RoleMissing, format!("{entry} is bound and does not exist"))),
                Obstacle::Forbidden => Some(tell(Code::RoleNotBindable, self.why_not(key, entry))),
            });
        }
        if let Some(misspelt) = live.body::<Sync>().and_then(|sync| sync.misspelt.as_ref()) {
            all.push(tell(Code::OverridesMisspelt, misspelt.to_string()));
        }
        let has_everything = survey.origin == Origin::Default
            && self.settings.default_role.as_ref().is_some_and(|role| role == CLUSTER_ADMIN);
        if has_everything {
            let message = format!(
                "it names no roles, and so may do everything; name some in `spec.override.roleRefs`, or annotate \
                 `{}: none`",
                words::ROOT_ROLE
            );
            all.push(tell(Code::ClusterAdminByDefault, message));
        } else {
            all.extend(escalations(snapshot, survey).map(|message| tell(Code::RoleEscalates, message)));
        }
        let account = words::account(key);
        all.extend(self.index.foreign(&account).map(|object| {
            let message = format!(
                "{object} gives its account more, and nothing says that Config Sync made it; delete it, or annotate it \
                 `{}: \"true\"`",
                annotation::ADOPT
            );
            tell(Code::SharedBindingForeign, message)
        }));
        let said = live.meta.annotations.get(words::ROOT_ROLE).filter(|said| **said != "none");
        if let Some(said) = said.filter(|_| *key.kind == ROOT_SYNC) {
            let message = format!("annotation `{}` is `{said}`, which is taken for `none`", words::ROOT_ROLE);
            all.push(tell(Code::RoleRefInvalid, message));
        }
        all
    }

    fn why_not(&self, key: &ObjectRef, entry: &Entry) -> String {
        match (&self.settings.bindable, *key.kind == ROOT_SYNC) {
            (None, false) => {
                format!("{entry} is not given: whoever writes a RepoSync would give more than they have")
            }
            _ => format!("{entry} is not given: --bindable-roles does not name it"),
        }
    }
}

/// What of the roles that are given lets whoever holds them take more.
fn escalations(snapshot: &Snapshot, survey: &Survey) -> impl Iterator<Item = String> {
    let given = survey.entries.iter().filter(|(_, obstacle)| *obstacle == Obstacle::None);
    given.filter_map(|(entry, _)| {
        let why = snapshot.get(&entry.role()).and_then(escalation::of)?;
        Some(format!("{entry} lets its reconciler take more than it says: {why}"))
    })
}
