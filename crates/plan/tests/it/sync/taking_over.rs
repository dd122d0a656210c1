//! After Config Sync's own manager: its objects become ours, or go when ours are there (spec 2).

use rolewright_core::Labels;
use rolewright_plan::engine::{Category, News};
use rolewright_plan::rbac::{BindingBody, CLUSTER_ROLE_BINDING};
use rolewright_plan::sync::{REPO_SYNC, Settings};
use rolewright_plan::workload::{DEPLOYMENT, SERVICE_ACCOUNT};
use rolewright_plan::{Code, Event, Name, ObjectRef, Op, Time};
use serde_json::{Value, json};

use super::world::{
    Cluster, HOME, binding, ground, labels, leaving, made_before, manager, repo, role, root, root_key, service_account,
    with,
};
use crate::cluster::words;

const SHARED: &str = "configsync.gke.io:root-reconciler";
const CLUSTER_SCOPE: &str = "configsync.gke.io:ns-reconciler:cluster-scope";

/// Two RootSyncs, one of them with roles, and two RepoSyncs, as Config Sync's manager leaves them.
fn before() -> Vec<Value> {
    let (shared, repo_shared) = (labels("RootSync", HOME, None), labels("RepoSync", "shop", None));
    let (of_root, of_x) = (labels("RootSync", HOME, Some("root-sync")), labels("RootSync", HOME, Some("x")));
    let of_repo = labels("RepoSync", "shop", Some("repo-sync"));
    let mut world = ground();
    world.extend(["configsync.gke.io:root-reconciler", "configsync.gke.io:ns-reconciler", CLUSTER_SCOPE].map(role));
    world.extend([
        root("root-sync", &[]),
        root("x", &["ClusterRole/one", "Role/ci@shop"]),
        repo("shop", "repo-sync", &[]),
        repo("bank", "repo-sync", &[]),
        made_before(service_account("ns-reconciler-bank"), &labels("RepoSync", "bank", Some("repo-sync"))),
        made_before(service_account("root-reconciler"), &of_root),
        made_before(service_account("root-reconciler-x"), &of_x),
        made_before(service_account("ns-reconciler-shop"), &of_repo),
        made_before(binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler"]), &shared),
        made_before(
            binding(
                "",
                &format!("{SHARED}-base"),
                "ClusterRole/configsync.gke.io:root-reconciler",
                &["root-reconciler-x"],
            ),
            &shared,
        ),
        made_before(binding("", "root-reconciler-x-abcde", "ClusterRole/one", &["root-reconciler-x"]), &of_x),
        made_before(binding("shop", "root-reconciler-x-fghij", "Role/ci", &["root-reconciler-x"]), &of_x),
        made_before(
            binding(
                "shop",
                "configsync.gke.io:ns-reconciler",
                "ClusterRole/configsync.gke.io:ns-reconciler",
                &["ns-reconciler-shop"],
            ),
            &repo_shared,
        ),
        made_before(
            binding(
                "bank",
                "configsync.gke.io:ns-reconciler",
                "ClusterRole/configsync.gke.io:ns-reconciler",
                &["ns-reconciler-bank"],
            ),
            &labels("RepoSync", "bank", None),
        ),
        // The label of the one that came last.
        made_before(
            binding(
                "",
                CLUSTER_SCOPE,
                &format!("ClusterRole/{CLUSTER_SCOPE}"),
                &["ns-reconciler-bank", "ns-reconciler-shop"],
            ),
            &labels("RepoSync", "bank", None),
        ),
    ]);
    world
}

#[test]
fn its_objects_become_ours_or_go() {
    let cluster = Cluster::new(Settings::default(), before());
    assert_eq!(
        cluster.given(),
        [
            "all ClusterRole/cluster-admin to root-reconciler",
            "all ClusterRole/one to root-reconciler-x",
            "shop Role/ci to root-reconciler-x",
        ]
    );
    for object in
        [&CLUSTER_ROLE_BINDING, &rolewright_plan::rbac::ROLE_BINDING].into_iter().flat_map(|kind| cluster.ours(kind))
    {
        assert!(object.name.contains(':') && !object.name.starts_with("configsync"), "{object}");
    }
    assert_eq!(cluster.bindings(|live| live.meta.ours.is_none()), Vec::<String>::new());
    assert_eq!(cluster.ours(&SERVICE_ACCOUNT).len(), 4);
}

/// At no moment does an account lose a right that it keeps, also where somebody took the labels away.
#[test]
fn nobody_loses_anything_on_the_way() {
    nobody_loses_in(before());
    let mut stripped = before();
    for object in &mut stripped {
        object["metadata"]["labels"] = Value::Null;
    }
    nobody_loses_in(stripped);
}

fn nobody_loses_in(world: Vec<Value>) {
    let mut cluster = Cluster::unsettled(Settings::default(), world);
    let has = |world: &rolewright_core::World, account: &str, role: &str| {
        world.bindings.values().any(|binding| {
            binding.role_ref.name == role && binding.subjects.iter().any(|subject| subject.name == account)
        })
    };
    let keeps = [("root-reconciler", "cluster-admin"), ("root-reconciler-x", "one"), ("root-reconciler-x", "ci")];
    // What every reconciler has, of Config Sync or of ours, in the whole cluster and in the namespace of the sync.
    let base = [("ns-reconciler-shop", "shop"), ("ns-reconciler-bank", "bank")];
    let has_base = |world: &rolewright_core::World, account: &str, place: &str| {
        world.bindings.values().any(|binding| {
            binding.key.namespace() == place && binding.subjects.iter().any(|subject| subject.name == account)
        })
    };
    let mut count = 0;
    cluster.settle_watched(|op, world| {
        count += 1;
        for (account, home) in base {
            for place in ["", home] {
                assert!(has_base(world, account, place), "{account} lost its base in `{place}` by {op}");
            }
        }
        for (account, role) in keeps {
            assert!(has(world, account, role), "{account} lost {role} by {op}");
        }
    });
    assert!(count > 10);
}

#[test]
fn others_in_a_shared_binding_stay_and_so_does_it() {
    let mut world = before();
    let shared = labels("RootSync", HOME, None);
    world.retain(|object| object["metadata"]["name"] != SHARED);
    let accounts = ["root-reconciler", "root-reconciler-gone", "root-reconciler-x", "somebody"];
    world.push(made_before(binding("", SHARED, "ClusterRole/cluster-admin", &accounts), &shared));
    let cluster = Cluster::new(Settings::default(), world);
    let BindingBody { subjects, .. } = cluster.get(&CLUSTER_ROLE_BINDING, SHARED).body().unwrap();
    assert_eq!(subjects.iter().map(|subject| subject.name.as_str()).collect::<Vec<_>>(), ["somebody"]);
    // One of which nothing says that Config Sync made it is not touched.
    let mut world = before();
    world.retain(|object| object["metadata"]["name"] != SHARED);
    world.push(binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]));
    let mut cluster = Cluster::new(Settings::default(), world);
    assert!(cluster.get(&CLUSTER_ROLE_BINDING, SHARED).meta.ours.is_none());
    // It is not passed over in silence either, by whom it gives more.
    let condition = |cluster: &Cluster| cluster.condition(&root_key("x"));
    let expected = format!(
        "False SharedBindingForeign: ClusterRoleBinding/{SHARED} gives its account more, and nothing says that Config Sync \
         made it; delete it, or annotate it `rolewright.io/adopt: \"true\"`; ClusterRole/one: Bound; Role/shop/ci: Bound"
    );
    assert_eq!(condition(&cluster), expected);
    assert_eq!(cluster.told().iter().filter(|text| text.starts_with("RW0312 ")).count(), 1, "{:?}", cluster.told());
    assert!(!cluster.condition(&root_key("root-sync")).contains(SHARED));
    cluster.remove(&CLUSTER_ROLE_BINDING, "", SHARED);
    cluster.settle();
    assert!(condition(&cluster).starts_with("True Bound: "), "{}", condition(&cluster));
    cluster.set(&binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]));
    cluster.settle();
    assert_eq!(condition(&cluster), expected);
    // Who gives it to us lets it go.
    cluster.edit(&CLUSTER_ROLE_BINDING, SHARED, |live| {
        live.meta.annotations.insert("rolewright.io/adopt".into(), "true".into());
    });
    cluster.settle();
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_none());
    assert!(condition(&cluster).starts_with("True Bound: "), "{}", condition(&cluster));
    // Config Sync's manager once had another name.
    let mut old = binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]);
    old["metadata"]["managedFields"] =
        json!([{"manager": "reconciler-manager", "operation": "Update", "fieldsV1": {}}]);
    cluster.set(&old);
    cluster.settle();
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_none());
}

/// What cannot be given does not keep cluster-admin alive: narrowing completes (spec 5.3).
#[test]
fn what_waits_for_a_namespace_does_not_keep_the_old_grant() {
    let mut world = before();
    world.retain(|object| object["metadata"]["name"] != SHARED && object["metadata"]["name"] != "x");
    world.push(root("x", &["Role/ci@nowhere", "ClusterRole/one"]));
    let shared = labels("RootSync", HOME, None);
    world.push(made_before(binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]), &shared));
    let cluster = Cluster::new(Settings::default(), world);
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_none());
}

/// Nor does what the server refuses.
#[test]
fn what_is_refused_does_not_keep_the_old_grant() {
    let mut world = ground();
    let shared = labels("RootSync", HOME, None);
    world.push(root("x", &["ClusterRole/one", "ClusterRole/two"]));
    world.push(made_before(binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]), &shared));
    let mut cluster = Cluster::unsettled(Settings::default(), world);
    cluster.settle_refused(|op| op.because.ends_with("ClusterRole/two").then_some(Category::Forbidden));
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_none());
    assert_eq!(cluster.given(), ["all ClusterRole/one to root-reconciler-x"]);
    let condition = cluster.condition(&root_key("x"));
    assert!(
        condition.starts_with("False Forbidden: ClusterRole/two: Forbidden; ClusterRole/one: Bound"),
        "{condition}"
    );
}

/// What merely failed will come: until then the account keeps what it had, whatever else was refused.
#[test]
fn what_is_still_to_come_keeps_the_old_grant() {
    let mut world = ground();
    world.push(root("x", &["ClusterRole/one", "ClusterRole/two", "ClusterRole/three"]));
    let shared = binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]);
    world.push(made_before(shared, &labels("RootSync", HOME, None)));
    let mut cluster = Cluster::unsettled(Settings::default(), world);
    let is_to = |op: &Op, role: &str| op.because.ends_with(&format!("ClusterRole/{role}"));
    let refused = |op: &Op| is_to(op, "two").then_some(Category::Forbidden);
    cluster.settle_refused(|op| if is_to(op, "three") { Some(Category::Unavailable) } else { refused(op) });
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_some());
    let condition = cluster.condition(&root_key("x"));
    let expected = "False Pending: ClusterRole/three: Pending; ClusterRole/two: Forbidden; ClusterRole/one: Bound";
    assert!(condition.starts_with(expected), "{condition}");
    cluster.settle_refused(refused);
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_none());
    let condition = cluster.condition(&root_key("x"));
    assert!(condition.starts_with("False Forbidden: ClusterRole/two: Forbidden; "), "{condition}");
}

/// Nor does what was said of an earlier wish count for this one, before anything of it was tried.
#[test]
fn what_was_said_of_an_earlier_wish_does_not_count() {
    let mut sync = root("x", &["ClusterRole/one"]);
    sync["metadata"]["generation"] = json!(2);
    let of = |generation: i64| {
        json!([{ "type": "PermissionsReady", "status": "False", "reason": "Forbidden",
        "observedGeneration": generation }])
    };
    for (generation, stays) in [(1, true), (2, false)] {
        sync["status"]["conditions"] = of(generation);
        let shared = binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]);
        let all = ground().into_iter().chain([sync.clone(), made_before(shared, &labels("RootSync", HOME, None))]);
        let mut cluster = Cluster::unsettled(Settings::default(), all);
        let failing = |op: &Op| op.because.ends_with("ClusterRole/one").then_some(Category::Unavailable);
        cluster.settle_refused(failing);
        assert_eq!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_some(), stays, "of generation {generation}");
    }
}

/// An account leaves a shared binding only when it has all of its own, whichever is looked at first.
#[test]
fn who_lost_a_binding_stays_in_the_shared_one_until_it_is_back() {
    let mut cluster = Cluster::new(Settings::default(), ground().into_iter().chain([root("x", &["ClusterRole/one"])]));
    let own = cluster.ours(&CLUSTER_ROLE_BINDING).into_iter().find(|object| !object.name.ends_with(":base")).unwrap();
    let shared = binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]);
    cluster.set(&made_before(shared, &labels("RootSync", HOME, None)));
    cluster.remove(own.kind, "", &own.name);
    let gives = |world: &rolewright_core::World, role: &str| world.bindings.values().any(|b| b.role_ref.name == role);
    cluster.settle_watched(|op, world| assert!(gives(world, "one") || gives(world, "cluster-admin"), "lost by {op}"));
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_none());
}

/// A sync goes only when no shared binding names its account: the next of its name would have what that gives.
#[test]
fn a_sync_stays_while_its_account_is_shared() {
    let mut world = ground();
    let shared = binding("", SHARED, "ClusterRole/cluster-admin", &["root-reconciler-x"]);
    let paused = with(shared, "annotations", json!({ "rolewright.io/paused": "true" }));
    world.push(made_before(paused, &labels("RootSync", HOME, None)));
    world.push(root("x", &[]));
    let mut cluster = Cluster::new(Settings::default(), world);
    cluster.set(&leaving(root("x", &[]), &["configsync.gke.io/reconciler-manager"]));
    cluster.settle();
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_some());
    assert_eq!(cluster.bindings(|live| live.meta.ours.is_some()), Vec::<String>::new());
    assert_eq!(cluster.ours(&SERVICE_ACCOUNT).len(), 1, "nor does the account that it names");
    cluster.edit(&CLUSTER_ROLE_BINDING, SHARED, |live| live.meta.annotations = Labels::default());
    cluster.settle();
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, SHARED).is_none());
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_none());
    assert_eq!(cluster.ours(&SERVICE_ACCOUNT), []);
}

/// The annotation of an account that Config Sync set is part of what a sync says, and stays with it.
#[test]
fn a_google_account_survives() {
    let mut world = before();
    let email = "shop@example.iam.gserviceaccount.com";
    for object in &mut world {
        if object["kind"] == "RootSync" && object["metadata"]["name"] == "x" {
            object["spec"]["git"]["auth"] = "gcpserviceaccount".into();
            object["spec"]["git"]["gcpServiceAccountEmail"] = email.into();
        }
    }
    let cluster = Cluster::new(Settings::default(), world);
    let account = ObjectRef::namespaced(&SERVICE_ACCOUNT, HOME, "root-reconciler-x");
    let annotations = &cluster.engine.snapshot().get(&account).unwrap().meta.annotations;
    assert_eq!(annotations.get("iam.gke.io/gcp-service-account").map(Name::as_str), Some(email));
}

/// While Config Sync's manager runs, we only plan.
#[test]
fn a_live_manager_keeps_us_from_writing() {
    let world = |replicas, status: Value| before().into_iter().chain([with_status(manager(replicas), status)]);
    for (replicas, status, writes) in [
        (1, json!({}), false),
        (1, json!({ "replicas": 0 }), false),
        // What was told to stop stops when it has stopped.
        (0, json!({ "replicas": 1 }), false),
        (0, json!({ "replicas": 0, "terminatingReplicas": 1 }), false),
        (0, json!({ "replicas": 0, "terminatingReplicas": 0 }), true),
        (0, Value::Null, true),
    ] {
        let mut cluster = Cluster::unsettled(Settings::default(), world(replicas, status.clone()));
        cluster.engine.resume(0);
        let news = cluster.engine.news();
        assert_eq!(news.iter().any(is_peer), !writes, "{replicas} {status}: {news:?}");
        assert_eq!(!words(&cluster.writes()).is_empty(), writes, "{replicas} {status}");
    }
    // It comes back while we work.
    let mut cluster = Cluster::new(Settings::default(), world(0, Value::Null));
    cluster.set(&manager(1));
    cluster.engine.resume(0);
    assert!(cluster.engine.news().iter().any(is_peer));
    cluster.set(&root("x", &["ClusterRole/two"]));
    assert_eq!(words(&cluster.writes()), Vec::<String>::new());
    let mut cluster = Cluster::unsettled(Settings::default(), world(1, Value::Null));
    cluster.engine.resume(0);
    cluster.remove(&DEPLOYMENT, HOME, "reconciler-manager");
    cluster.engine.resume(0);
    assert!(!words(&cluster.settle()).is_empty(), "it takes over when the other is gone");
}

fn is_peer(news: &News) -> bool {
    matches!(news, News::Raised("sync", told) if told.code == Code::PeerActive)
}

fn with_status(mut object: Value, status: Value) -> Value {
    object["status"] = status;
    object
}

/// A kind that is not served for a moment has its syncs all the same: what is for them stays.
#[test]
fn syncs_that_cannot_be_seen_keep_what_they_have() {
    let mut cluster = Cluster::new(Settings::default(), before());
    let lives: Vec<_> = cluster.engine.snapshot().all(&REPO_SYNC).cloned().collect();
    let before = cluster.bindings(|_| true);
    cluster.engine.take([Event::Unserved(&REPO_SYNC)], Time(0));
    cluster.engine.mark_all(Time(0));
    assert_eq!(words(&cluster.settle_refused(|_| None)), Vec::<String>::new());
    // Whether the account in a shared binding still has its sync cannot be told either.
    let shared = "configsync.gke.io:ns-reconciler";
    let shared = binding("shop", shared, "ClusterRole/configsync.gke.io:ns-reconciler", &["ns-reconciler-shop"]);
    cluster.set(&made_before(shared, &labels("RepoSync", "shop", None)));
    let written = words(&cluster.settle_refused(|_| None));
    assert!(!written.iter().any(|word| word.starts_with("delete")), "{written:?}");
    cluster.engine.take([Event::All(&REPO_SYNC, lives)], Time(0));
    cluster.settle();
    assert_eq!(cluster.bindings(|_| true), before);
    cluster.remove(&REPO_SYNC, "shop", "repo-sync");
    cluster.settle();
    assert!(!cluster.bindings(|_| true).join(" ").contains("ns-reconciler-shop"), "it was really deleted");
}
