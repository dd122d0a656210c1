//! RepoSyncs: what every reconciler has, and roles only where the operator says so (spec 5.1).

use rolewright_plan::Module;
use rolewright_plan::ObjectRef;
use rolewright_plan::rbac::{ROLE, RoleBody};
use rolewright_plan::rights::{Identity, Rights};
use rolewright_plan::sync::{REPO_SYNC, RoleRefs, Settings};
use rolewright_plan::workload::SERVICE_ACCOUNT;
use serde_json::Value;

use super::world::{Cluster, HOME, ground, namespace, repo, root, root_key};

fn cluster(settings: Settings, objects: impl IntoIterator<Item = Value>) -> Cluster {
    Cluster::new(settings, ground().into_iter().chain(objects))
}

fn key(namespace: &str, name: &str) -> ObjectRef {
    ObjectRef::namespaced(&REPO_SYNC, namespace, name)
}

#[test]
fn each_has_an_account_and_what_every_reconciler_has() {
    let cluster = cluster(Settings::default(), [repo("shop", "repo-sync", &[]), repo("shop", "web", &[])]);
    let accounts = ["ns-reconciler-shop", "ns-reconciler-shop-web-3"];
    assert_eq!(
        cluster.ours(&SERVICE_ACCOUNT),
        accounts.map(|name| ObjectRef::namespaced(&SERVICE_ACCOUNT, HOME, name))
    );
    let expected = accounts.iter().flat_map(|account| {
        [
            format!("all ClusterRole/rolewright:ns-reconciler to {account}"),
            format!("shop Role/{account}:base to {account}"),
        ]
    });
    let mut expected: Vec<String> = expected.collect();
    expected.sort();
    assert_eq!(cluster.bindings(|_| true), expected);
    assert_eq!(cluster.condition(&key("shop", "web")), "True BaseOnly: no roles beyond what every reconciler has");
    let rules =
        &cluster.engine.snapshot().body::<RoleBody>(&ObjectRef::namespaced(&ROLE, "shop", "ns-reconciler-shop:base"));
    let named = rules.unwrap().rules.iter().filter(|rule| !rule.resource_names.is_empty());
    assert!(named.clone().count() >= 3 && named.clone().all(|rule| rule.resource_names[..] == ["repo-sync"]));
}

#[test]
fn roles_are_given_only_if_the_operator_names_them() {
    let named = |names: &[&str]| Settings {
        bindable: Some(names.iter().map(|&name| name.into()).collect()),
        ..Settings::default()
    };
    let one = "shop ClusterRole/one to ns-reconciler-shop";
    let not_own = "False RoleRefInvalid: spec.override.roleRefs[0]: `namespace` is `bank`; a RepoSync gets roles only in \
                   its own, `shop`";
    for (settings, refs, given, condition) in [
        (Settings::default(), "ClusterRole/one", "", "False Forbidden: ClusterRole/one in shop: Forbidden"),
        (Settings::default(), "Role/ci@shop", "", "False Forbidden: Role/shop/ci: Forbidden"),
        (named(&["one"]), "ClusterRole/one", one, "True Bound: ClusterRole/one in shop: Bound"),
        (named(&["one"]), "ClusterRole/one@shop", one, "True Bound: ClusterRole/one in shop: Bound"),
        (named(&["one"]), "ClusterRole/two", "", "False Forbidden: ClusterRole/two in shop: Forbidden"),
        (named(&["ci"]), "Role/ci", "shop Role/ci to ns-reconciler-shop", "True Bound: Role/shop/ci: Bound"),
        (named(&["one"]), "ClusterRole/one@bank", "", not_own),
        // The default of RootSyncs is not for others.
        (
            named(&["one"]),
            "ClusterRole/cluster-admin",
            "",
            "False Forbidden: ClusterRole/cluster-admin in shop: Forbidden",
        ),
        (named(&[]), "ClusterRole/one", "", "False Forbidden: ClusterRole/one in shop: Forbidden"),
    ] {
        let cluster = cluster(settings.clone(), [repo("shop", "repo-sync", &[refs])]);
        assert_eq!(cluster.given().join("; "), given, "{settings:?} {refs}");
        assert_eq!(cluster.condition(&key("shop", "repo-sync")), condition, "{settings:?} {refs}");
    }
}

/// The manager may then bind those, and no others.
#[test]
fn the_manager_may_bind_what_may_be_given() {
    let binds = |settings: Settings| {
        let module = RoleRefs::new(settings);
        let rights = Rights::of([&module as &dyn Module], &Identity::default());
        let binding = rights.cluster.into_iter().filter(|rule| rule.verbs.iter().any(|verb| verb == "bind"));
        let names = binding.flat_map(|rule| rule.resource_names.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        names
    };
    let bindable = Some(vec!["one".into()]);
    assert_eq!(binds(Settings::default()), Vec::<String>::new(), "all");
    let limited = Settings { bindable: bindable.clone(), ..Settings::default() };
    let unnamed = cluster(limited.clone(), [root("x", &[])]);
    assert_eq!(
        unnamed.given(),
        ["all ClusterRole/cluster-admin to root-reconciler-x"],
        "the default is the operator's"
    );
    assert_eq!(binds(limited), ["cluster-admin", "one", "rolewright:ns-reconciler", "rolewright:root-reconciler"]);
    let strict = Settings { bindable, default_role: None, ..Settings::default() };
    assert_eq!(binds(strict.clone()), ["one", "rolewright:ns-reconciler", "rolewright:root-reconciler"]);
    let cluster = cluster(strict, [root("x", &["ClusterRole/one", "ClusterRole/two"])]);
    assert_eq!(cluster.given(), ["all ClusterRole/one to root-reconciler-x"]);
    assert_eq!(
        cluster.condition(&root_key("x")),
        "False Forbidden: ClusterRole/two: Forbidden; ClusterRole/one: Bound"
    );
}

/// The one way in which names of accounts collide: neither tenant gets the rights of the other.
#[test]
fn an_account_has_one_sync() {
    let named = Settings { bindable: Some(vec!["one".into(), "two".into()]), ..Settings::default() };
    let first = repo("a", "b", &["ClusterRole/one"]);
    let second = repo("a-b-1", "repo-sync", &["ClusterRole/two"]);
    let mut cluster = cluster(named.clone(), [namespace("a"), namespace("a-b-1"), second.clone()]);
    let account = "ns-reconciler-a-b-1";
    assert_eq!(cluster.given(), [format!("a-b-1 ClusterRole/two to {account}")]);
    cluster.set(&first);
    cluster.settle();
    // Who has it keeps it, also over a restart, though the other comes first by name.
    let mut restarted = cluster.restarted(named);
    restarted.settle();
    for cluster in [&cluster, &restarted] {
        assert_eq!(cluster.given(), [format!("a-b-1 ClusterRole/two to {account}")]);
        let made_for = cluster.ours(&SERVICE_ACCOUNT).into_iter().map(|object| {
            cluster.engine.snapshot().get(&object).unwrap().meta.labels.get("configsync.gke.io/sync-namespace").cloned()
        });
        assert_eq!(made_for.collect::<Vec<_>>(), [Some("a-b-1".into())]);
    }
    let taken = format!(
        "False AccountTaken: its account `{account}` is that of RepoSync/a-b-1/repo-sync; give one of them another name"
    );
    assert_eq!(cluster.condition(&key("a", "b")), taken);
    cluster.remove(&REPO_SYNC, "a-b-1", "repo-sync");
    cluster.settle();
    assert_eq!(cluster.given(), [format!("a ClusterRole/one to {account}")]);
}

#[test]
fn a_repo_sync_in_the_wrong_place_gets_nothing() {
    let long = "a".repeat(42);
    for (sync, key, why) in [
        (repo(HOME, "x", &[]), key(HOME, "x"), format!("a RepoSync must not be in the namespace `{HOME}`")),
        (
            repo("shop", &long, &[]),
            key("shop", &long),
            "its name and its namespace are together longer than 45 characters".to_owned(),
        ),
    ] {
        let cluster = cluster(Settings::default(), [sync]);
        assert_eq!(cluster.ours(&SERVICE_ACCOUNT), []);
        assert_eq!(cluster.condition(&key), format!("False SyncMisplaced: {why}"));
    }
    // 45 are fine.
    let fits = "a".repeat(41);
    let cluster = cluster(Settings::default(), [repo("shop", &fits, &[])]);
    assert_eq!(cluster.ours(&SERVICE_ACCOUNT).len(), 1);
    assert_eq!(cluster.condition(&key("shop", &fits)), "True BaseOnly: no roles beyond what every reconciler has");
}
