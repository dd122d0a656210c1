//! How syncs go (spec 3.1).

use rolewright_plan::engine::News;
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::rbac::{CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use rolewright_plan::sync::{REPO_SYNC, ROOT_SYNC, Settings};
use rolewright_plan::workload::SERVICE_ACCOUNT;
use rolewright_plan::{Code, ObjectRef};
use serde_json::json;

use super::world::{Cluster, HOME, ground, leaving, namespace, repo, root, root_key, with};
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
    // Somebody's finalizer keeps it.
    cluster.edit_at(&account, |live| live.meta.deleting = true);
    cluster.set(&leaving(root("x", &REFS), &[OURS]));
    cluster.settle();
    assert!(cluster.engine.snapshot().get(&account).is_some());
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_some());
    cluster.remove(binding.kind, &binding.namespace, &binding.name);
    cluster.settle();
    assert_eq!(cluster.bindings(|_| true), Vec::<String>::new());
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_some());
    cluster.remove(account.kind, &account.namespace, &account.name);
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
    // Nor does one who gives no reason.
    for empty in ["", " \n"] {
        let said = json!({ "rolewright.io/release-reconciler": empty });
        cluster.set(&with(leaving(root("x", &REFS), &[RECONCILERS, OURS]), "annotations", said));
        assert_eq!(words(&cluster.settle()), Vec::<String>::new(), "{empty:?}");
    }
    cluster.set(&with(leaving(root("x", &REFS), &[RECONCILERS, OURS]), "annotations", said));
    let written = words(&cluster.settle_refused(|_| None));
    let why = "somebody says that its reconciler is dead: its node burnt down";
    let is_told = |news: &News| matches!(news, News::Raised("sync", told) if told.code == Code::ReconcilerReleased && told.message == why);
    let news = cluster.engine.news();
    assert!(news.iter().any(is_told), "{news:?}");
    assert_eq!(written.first().map(String::as_str), Some(format!("release RootSync/{HOME}/x").as_str()));
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_none());
    assert_eq!(cluster.bindings(|_| true), Vec::<String>::new());
}

/// Whoever gets nothing can go as well: one that is misplaced, and one whose account is another's.
#[test]
fn what_gets_nothing_is_released_too() {
    let misplaced = {
        let mut sync = root("x", &[]);
        sync["metadata"]["namespace"] = json!("shop");
        sync
    };
    let (holder, rival) = (repo("a", "b", &[]), repo("a-b-1", "repo-sync", &[]));
    for (sync, key, reason) in [
        (misplaced, ObjectRef::namespaced(&ROOT_SYNC, "shop", "x"), "SyncMisplaced"),
        (rival, ObjectRef::namespaced(&REPO_SYNC, "a-b-1", "repo-sync"), "AccountTaken"),
    ] {
        let mut cluster = cluster();
        cluster.set(&namespace("a"));
        cluster.set(&namespace("a-b-1"));
        cluster.set(&holder);
        cluster.settle();
        let before = cluster.bindings(|_| true);
        let leaves = leaving(sync, &[RECONCILERS, OURS]);
        cluster.set(&leaves);
        cluster.settle();
        let condition = cluster.condition(&key);
        assert!(condition.starts_with(&format!("False {reason}: ")), "{condition}");
        assert!(condition.contains("; its rights stay until its reconciler has cleaned up"), "{condition}");
        cluster.set(&with(leaves, "annotations", json!({ "rolewright.io/release-reconciler": "why" })));
        cluster.settle();
        assert!(cluster.engine.snapshot().get(&key).is_none(), "{key}");
        assert_eq!(cluster.bindings(|_| true), before, "nobody else loses anything");
    }
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
    // One that has not been seen yet says nothing.
    let sync = repo("unseen", "repo-sync", &[]);
    let mut cluster = Cluster::new(Settings::default(), ground().into_iter().chain([sync.clone()]));
    cluster.set(&leaving(sync, &[RECONCILERS, OURS]));
    cluster.settle();
    let live = cluster.engine.snapshot().get(&ObjectRef::namespaced(&REPO_SYNC, "unseen", "repo-sync")).unwrap();
    assert_eq!(live.meta.finalizers, [RECONCILERS, OURS]);
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
    cluster.remove(&ROOT_SYNC, HOME, "x");
    cluster.settle();
    for kind in [&CLUSTER_ROLE_BINDING, &ROLE_BINDING, &ROLE, &SERVICE_ACCOUNT] {
        assert_eq!(cluster.ours(kind), []);
    }
}
