//! The words of Config Sync: labels, finalizers, annotations and names.

use rolewright_core::Labels;

use super::kinds::{REPO_SYNC, ROOT_SYNC};
use crate::Name;
use crate::intent::Claim;
use crate::kind::Kind;
use crate::object::{Meta, ObjectRef};
use crate::vocabulary::label::MANAGED_BY;
use crate::vocabulary::manager::{self, ROLEWRIGHT};

/// Who keeps an object of a sync. The value is Config Sync's own, so that either of us finds what the other made.
const KEEPER: (&str, &str) = ("configsync.gke.io/managed-by", "reconciler-manager");
const SYNC_KIND: &str = "configsync.gke.io/sync-kind";
const SYNC_NAMESPACE: &str = "configsync.gke.io/sync-namespace";
const SYNC_NAME: &str = "configsync.gke.io/sync-name";

/// Keeps a sync until its reconciler has cleaned up.
pub(super) const RECONCILER_FINALIZER: &str = "configsync.gke.io/reconciler";
/// Keeps a sync until its bindings and its account are gone. Config Sync's own, so that either of us can let it go.
pub const FINALIZER: &str = "configsync.gke.io/reconciler-manager";

pub(super) use crate::vocabulary::annotation::{RELEASE_RECONCILER as RELEASE, ROOT_ROLE};
/// The Google account that a reconciler stands for.
pub(super) const GOOGLE_ACCOUNT: &str = "iam.gke.io/gcp-service-account";

/// The longest names that Config Sync takes: of a RootSync, and of a RepoSync with its namespace.
const LONGEST_ROOT: usize = 38;
const LONGEST_REPO: usize = 45;

/// Whatever Config Sync's manager made is ours to keep.
pub(super) const CLAIM: Claim = Claim::Made(manager::CONFIG_SYNC);

/// What runs when Config Sync does this job itself.
pub(super) const PEER: &str = "reconciler-manager";

/// The labels of everything that is made for a sync.
pub(super) fn labels(sync: &ObjectRef) -> Labels {
    let pairs = [
        (KEEPER.0, Name::new(KEEPER.1)),
        (SYNC_KIND, Name::new(sync.kind.kind)),
        (SYNC_NAMESPACE, sync.namespace.clone()),
        (SYNC_NAME, sync.name.clone()),
        (MANAGED_BY, Name::new(ROLEWRIGHT)),
    ];
    pairs.into_iter().map(|(key, value)| (Name::new(key), value)).collect()
}

/// The sync that an object says it was made for.
pub(super) fn labelled(meta: &Meta) -> Option<ObjectRef> {
    let says = |key: &str| meta.labels.get(key);
    says(KEEPER.0).filter(|keeper| **keeper == KEEPER.1)?;
    let kind: &'static Kind =
        [&ROOT_SYNC, &REPO_SYNC].into_iter().find(|kind| says(SYNC_KIND).is_some_and(|said| *said == kind.kind))?;
    Some(ObjectRef::namespaced(kind, says(SYNC_NAMESPACE)?.clone(), says(SYNC_NAME)?.clone()))
}

/// The labels that Config Sync puts on what it makes.
pub(super) fn is_config_syncs(key: &str) -> bool {
    key.starts_with("configsync.gke.io/")
}

/// The account that a sync's reconciler runs as.
pub(super) fn account(sync: &ObjectRef) -> Name {
    let (namespace, name) = (&sync.namespace, &sync.name);
    Name::new(match (*sync.kind == ROOT_SYNC, name.as_str()) {
        (true, "root-sync") => "root-reconciler".to_owned(),
        (true, _) => format!("root-reconciler-{name}"),
        (false, "repo-sync") => format!("ns-reconciler-{namespace}"),
        (false, _) => format!("ns-reconciler-{namespace}-{name}-{}", name.len()),
    })
}

/// Why a sync cannot be where it is, or have the name that it has. Such a one has no account: it would be that of another.
pub(super) fn misplaced(sync: &ObjectRef, home: &Name) -> Option<String> {
    let ObjectRef { kind, namespace, name } = sync;
    match (**kind == ROOT_SYNC, namespace == home) {
        (true, false) => Some(format!("a RootSync must be in the namespace `{home}`")),
        (true, true) if name.len() > LONGEST_ROOT => Some(format!("its name is longer than {LONGEST_ROOT} characters")),
        (false, true) => Some(format!("a RepoSync must not be in the namespace `{home}`")),
        (false, false) if name.len() + namespace.len() > LONGEST_REPO => {
            Some(format!("its name and its namespace are together longer than {LONGEST_REPO} characters"))
        }
        _ => None,
    }
}

/// Whether this is the name of an account of a reconciler, or begins like one.
pub(super) fn is_account(name: &str) -> bool {
    name.starts_with("root-reconciler") || is_of_repo(name)
}

/// Whether this is the name of an account of a RepoSync's reconciler, or begins like one.
pub(super) fn is_of_repo(name: &str) -> bool {
    name.starts_with("ns-reconciler")
}

/// What roles and bindings for an account are called. No name of a sync contains `:`, so none is taken for another's.
pub(super) fn named(account: &str, what: &str) -> Name {
    Name::new(format!("{account}:{what}"))
}

/// The account in the name of what is made for it.
pub(super) fn stem(name: &str) -> &str {
    name.split_once(':').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_called_as_config_sync_calls_them() {
        let root = |name: &str| ObjectRef::namespaced(&ROOT_SYNC, "config-management-system", name);
        let repo = |namespace: &str, name: &str| ObjectRef::namespaced(&REPO_SYNC, namespace, name);
        for (sync, name) in [
            (root("root-sync"), "root-reconciler"),
            (root("shop"), "root-reconciler-shop"),
            (repo("shop", "repo-sync"), "ns-reconciler-shop"),
            (repo("shop", "web"), "ns-reconciler-shop-web-3"),
            // The one collision that there is.
            (repo("a-b-1", "repo-sync"), "ns-reconciler-a-b-1"),
            (repo("a", "b"), "ns-reconciler-a-b-1"),
        ] {
            assert_eq!(account(&sync), name);
        }
    }
}
