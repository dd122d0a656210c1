//! How syncs go (spec 3.1).

use rolewright_plan::ObjectRef;
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::rbac::{CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use rolewright_plan::sync::{REPO_SYNC, Settings};
use rolewright_plan::workload::SERVICE_ACCOUNT;
use serde_json::json;

use super::world::{Cluster, HOME, ground, leaving, repo, root, root_key, with};
use crate::cluster::words;

const OURS: &str = "configsync.gke.io/reconciler-manager";
const RECONCILERS: &str = "configsync.gke.io/reconciler";
const REFS: [&str; 2] = ["ClusterRole/one", "Role/ci@shop"];

fn cluster() -> Cluster {
    Cluster::new(Settings::default(), ground().into_iter().chain([root("x", &REFS)]))
}

#[test]
fn bindings_then_the_account_then_the_sync() {
    let mut cluster = cluster();
    cluster.set(&leaving(root("x", &REFS), &[OURS]));
    let written = cluster.settle();
    let rank = |word: &str| match word.split(['/', ' ']).nth(1).unwrap() {
        "ClusterRoleBinding" | "RoleBinding" => 0,
        "Role" | "ServiceAccount" => 1,
        "RootSync" => 2,
        // Once there is no sync, nobody needs it.
        "ClusterRole" => 3,
        other => panic!("{other}"),
    };
    let words = words(&written);
    let ranks: Vec<i32> = words.iter().map(|word| rank(word)).collect();
    assert!(ranks.is_sorted(), "{words:#?}");
    assert_eq!(ranks, [0, 0, 0, 0, 1, 1, 2, 3], "{words:#?}");
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_none());
}

#[test]
fn nobody_can_hold_what_is_on_its_way_out() {
    let mut cluster = cluster();
    cluster.set(&leaving(root("x", &REFS), &[RECONCILERS]));
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
}

/// The account stays while a binding cannot be deleted, and the sync while the account cannot.
#[test]
fn nothing_goes_before_what_it_waits_for() {
    let mut cluster = cluster();
    let binding = cluster.ours(&ROLE_BINDING).into_iter().find(|object| object.namespace == "shop").unwrap();
    let account = ObjectRef::namespaced(&SERVICE_ACCOUNT, HOME, "root-reconciler-x");
    cluster.edit_at(&binding, |live| live.meta.deleting = true);
    cluster.edit_at(&account, |live| live.meta.finalizers.push("somebody".into()));
    cluster.set(&leaving(root("x", &REFS), &[OURS]));
    cluster.settle();
    assert!(cluster.engine.snapshot().get(&account).is_some());
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_some());
    cluster.remove(binding.kind, &binding.namespace, &binding.name);
    cluster.settle();
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_none());
}

#[test]
fn while_the_reconciler_cleans_up_its_rights_are_kept_in_order() {
    let mut cluster = cluster();
    let before = cluster.bindings(|_| true);
    cluster.set(&leaving(root("x", &REFS), &[RECONCILERS, OURS]));
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    assert_eq!(cluster.bindings(|_| true), before);
    let waits = "its rights stay until its reconciler has cleaned up";
    assert!(cluster.condition(&root_key("x")).contains(waits), "{}", cluster.condition(&root_key("x")));
    for object in cluster.ours(&ROLE_BINDING).into_iter().chain(cluster.ours(&ROLE)) {
        cluster.remove(object.kind, &object.namespace, &object.name);
        cluster.settle();
    }
    assert_eq!(cluster.bindings(|_| true), before, "they heal");
    // Its roles can still be changed: it may need others to clean up.
    cluster.set(&leaving(root("x", &["ClusterRole/two"]), &[RECONCILERS, OURS]));
    cluster.settle();
    assert_eq!(cluster.given(), ["all ClusterRole/two to root-reconciler-x"]);
    cluster.set(&leaving(root("x", &["ClusterRole/two"]), &[OURS]));
    cluster.settle();
    assert_eq!(cluster.bindings(|_| true), Vec::<String>::new());
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_none());
}

#[test]
fn a_dead_reconciler_is_released_by_who_says_why() {
    let mut cluster = cluster();
    let said = json!({ "rolewright.io/release-reconciler": "its node burnt down" });
    // Of one that is not being deleted it says nothing.
    cluster.set(&with(with(root("x", &REFS), "annotations", said.clone()), "finalizers", json!([RECONCILERS, OURS])));
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    cluster.set(&with(leaving(root("x", &REFS), &[RECONCILERS, OURS]), "annotations", said));
    let written = words(&cluster.settle());
    assert_eq!(written.first().map(String::as_str), Some(format!("release RootSync/{HOME}/x").as_str()));
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_none());
    assert_eq!(cluster.bindings(|_| true), Vec::<String>::new());
}

/// Bindings go with their namespace, so the reconciler of a RepoSync in it could never clean up.
#[test]
fn a_namespace_that_goes_does_not_wait_for_reconcilers() {
    let sync = repo("shop", "repo-sync", &[]);
    let mut cluster = Cluster::new(Settings::default(), ground().into_iter().chain([sync.clone()]));
    let key = ObjectRef::namespaced(&REPO_SYNC, "shop", "repo-sync");
    cluster.set(&leaving(sync, &[RECONCILERS, OURS]));
    cluster.settle();
    assert!(cluster.engine.snapshot().get(&key).is_some(), "it waits");
    cluster.edit(&NAMESPACE, "shop", |live| live.meta.deleting = true);
    cluster.settle();
    assert!(cluster.engine.snapshot().get(&key).is_none());
    assert_eq!(cluster.ours(&SERVICE_ACCOUNT), []);
    // The one of a RootSync waits all the same.
    let mut cluster = self::cluster();
    cluster.edit(&NAMESPACE, HOME, |live| live.meta.deleting = true);
    cluster.set(&leaving(root("x", &REFS), &[RECONCILERS, OURS]));
    cluster.settle();
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_some());
}

/// Somebody takes our finalizer away, and the sync is gone at once.
#[test]
fn a_sync_that_is_torn_away_leaves_nothing() {
    let mut cluster = cluster();
    cluster.remove(&rolewright_plan::sync::ROOT_SYNC, HOME, "x");
    cluster.settle();
    for kind in [&CLUSTER_ROLE_BINDING, &ROLE_BINDING, &ROLE, &SERVICE_ACCOUNT] {
        assert_eq!(cluster.ours(kind), []);
    }
}
