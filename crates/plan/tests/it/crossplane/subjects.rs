//! Whom a provider's role is bound to (spec 1.5).

use rolewright_plan::crossplane::{DEPLOYMENT, REVISION, Settings};
use rolewright_plan::rbac::{BindingBody, CLUSTER_ROLE_BINDING};
use serde_json::{Value, json};

use super::cluster::{Cluster, words};
use super::world::{account, bound, controlled, deployment, inactive, owned, revision, running, uid};

const HOME: &str = "crossplane-system";

fn subjects_with(settings: Settings, objects: impl IntoIterator<Item = Value>) -> Vec<String> {
    let cluster = Cluster::new(settings, [revision("p-1", &["a.b.c"])].into_iter().chain(objects));
    subjects(&cluster, "p-1")
}

fn subjects(cluster: &Cluster, revision: &str) -> Vec<String> {
    let binding = cluster.find(&CLUSTER_ROLE_BINDING, &format!("crossplane:provider:{revision}:system"));
    let subjects = binding.iter().flat_map(|live| &live.body::<BindingBody>().unwrap().subjects);
    subjects.map(|subject| format!("{} {}:{}", subject.kind, subject.namespace, subject.name)).collect()
}

#[test]
fn accounts_that_the_revision_controls_where_providers_run() {
    let kind_of_another = |mut object: Value| {
        object["metadata"]["ownerReferences"][0]["kind"] = json!("FunctionRevision");
        object
    };
    let group_of_another = |mut object: Value| {
        object["metadata"]["ownerReferences"][0]["apiVersion"] = json!("evil.example.org/v1");
        object
    };
    let sa = "ServiceAccount crossplane-system:sa";
    for (what, object, expected) in [
        ("a deployment", controlled(deployment(HOME, "d", "sa"), "p-1"), &[sa][..]),
        ("an account", controlled(account(HOME, "sa"), "p-1"), &[sa]),
        ("an account of nobody", account(HOME, "sa"), &[]),
        ("a deployment of another revision", controlled(deployment(HOME, "d", "sa"), "p-2"), &[]),
        ("owned but not controlled", owned(deployment(HOME, "d", "sa"), "p-1", false), &[]),
        ("an account owned but not controlled", owned(account(HOME, "sa"), "p-1", false), &[]),
        ("a deployment elsewhere", controlled(deployment("elsewhere", "d", "sa"), "p-1"), &[]),
        ("an account elsewhere", controlled(account("elsewhere", "sa"), "p-1"), &[]),
        ("the uid under another kind", kind_of_another(controlled(deployment(HOME, "d", "sa"), "p-1")), &[]),
        ("the uid under another group", group_of_another(controlled(deployment(HOME, "d", "sa"), "p-1")), &[]),
        ("a deployment without an account", controlled(deployment(HOME, "d", ""), "p-1"), &[]),
    ] {
        assert_eq!(subjects_with(Settings::default(), [object]), expected, "{what}");
    }
}

#[test]
fn providers_may_run_elsewhere_if_that_is_said() {
    let objects = || {
        [
            controlled(deployment("teams", "d", "sa"), "p-1"),
            controlled(deployment(HOME, "d", "sa"), "p-1"),
            controlled(deployment("other", "d", "sa"), "p-1"),
        ]
    };
    let elsewhere = Settings { provider_namespaces: vec!["teams".into(), "other".into()], ..Settings::default() };
    assert_eq!(subjects_with(elsewhere, objects()), ["ServiceAccount other:sa", "ServiceAccount teams:sa"]);
    let moved = Settings { namespace: "other".into(), ..Settings::default() };
    assert_eq!(subjects_with(moved, objects()), ["ServiceAccount other:sa"]);
}

#[test]
fn one_account_counts_once_and_several_are_sorted() {
    let objects = [
        controlled(deployment(HOME, "d", "b"), "p-1"),
        controlled(deployment(HOME, "e", "b"), "p-1"),
        controlled(deployment(HOME, "f", "a"), "p-1"),
        controlled(account(HOME, "b"), "p-1"),
    ];
    assert_eq!(
        subjects_with(Settings::default(), objects),
        ["ServiceAccount crossplane-system:a", "ServiceAccount crossplane-system:b"]
    );
}

/// The role is there before the pod is; and what it no longer runs as, which Crossplane never deletes, has it no longer.
#[test]
fn an_account_counts_until_a_deployment_runs_as_another() {
    let mut cluster =
        Cluster::new(Settings::default(), [revision("p-1", &["a.b.c"]), controlled(account(HOME, "p-1"), "p-1")]);
    assert_eq!(subjects(&cluster, "p-1"), ["ServiceAccount crossplane-system:p-1"]);
    cluster.set(&controlled(deployment(HOME, "d", "p-1"), "p-1"));
    assert!(words(&cluster.settle()).is_empty(), "it runs as that");
    cluster.set(&controlled(deployment(HOME, "d", "irsa"), "p-1"));
    cluster.settle();
    assert_eq!(subjects(&cluster, "p-1"), ["ServiceAccount crossplane-system:irsa"]);
}

#[test]
fn two_providers_may_share_an_account() {
    let cluster = Cluster::new(
        Settings::default(),
        [
            revision("p-1", &["a.b.c"]),
            revision("q-1", &["d.b.c"]),
            controlled(deployment(HOME, "p", "shared"), "p-1"),
            controlled(deployment(HOME, "q", "shared"), "q-1"),
        ],
    );
    for name in ["p-1", "q-1"] {
        assert_eq!(subjects(&cluster, name), ["ServiceAccount crossplane-system:shared"]);
    }
}

#[test]
fn without_a_subject_there_is_no_binding_and_nothing_to_write() {
    let mut cluster = Cluster::new(Settings::default(), [inactive(revision("p-1", &["a.b.c"]))]);
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, "crossplane:provider:p-1:system").is_none());
    cluster.set(&controlled(deployment(HOME, "d", "sa"), "p-1"));
    assert_eq!(words(&cluster.settle()), ["create ClusterRoleBinding/crossplane:provider:p-1:system"]);
    cluster.set(&controlled(deployment(HOME, "d", "other"), "p-1"));
    cluster.settle();
    assert_eq!(subjects(&cluster, "p-1"), ["ServiceAccount crossplane-system:other"]);
    cluster.remove(&DEPLOYMENT, HOME, "d");
    assert_eq!(words(&cluster.settle()), ["delete ClusterRoleBinding/crossplane:provider:p-1:system"]);
}

/// Crossplane keeps the account of a revision that it deactivates.
#[test]
fn the_account_of_an_inactive_revision_is_bound_to_nothing() {
    let own = || controlled(account(HOME, "p-1"), "p-1");
    let mut cluster = Cluster::new(Settings::default(), [revision("p-1", &["a.b.c"]), own()]);
    assert_eq!(subjects(&cluster, "p-1"), ["ServiceAccount crossplane-system:p-1"]);
    cluster.set(&controlled(deployment(HOME, "d", "p-1"), "p-1"));
    cluster.set(&inactive(revision("p-1", &["a.b.c"])));
    cluster.settle();
    assert_eq!(subjects(&cluster, "p-1"), ["ServiceAccount crossplane-system:p-1"], "it still runs");
    cluster.remove(&DEPLOYMENT, HOME, "d");
    assert_eq!(words(&cluster.settle()), ["delete ClusterRoleBinding/crossplane:provider:p-1:system"]);
    cluster.set(&revision("p-1", &["a.b.c"]));
    assert_eq!(words(&cluster.settle()), ["create ClusterRoleBinding/crossplane:provider:p-1:system"], "and back");
}

#[test]
fn a_binding_to_another_role_is_replaced() {
    let mut wrong = bound("x", "", "cluster-admin");
    wrong["metadata"]["name"] = json!("crossplane:provider:p-1:system");
    let wrong = controlled(wrong, "p-1");
    let mut cluster =
        Cluster::unsettled(Settings::default(), running(revision("p-1", &["a.b.c"])).into_iter().chain([wrong]));
    let written = words(&cluster.settle());
    assert!(written.contains(&"replace ClusterRoleBinding/crossplane:provider:p-1:system".to_owned()), "{written:?}");
    cluster.expect(
        "crossplane:provider:p-1:s",
        "role crossplane:provider:p-1:system
           labels system=p-1
           controlled by pkg.crossplane.io/v1 ProviderRevision p-1
           S b.c a,a/status
           update b.c */finalizers
           * core,coordination.k8s.io secrets,configmaps,events,leases
           * events.k8s.io events
         binding crossplane:provider:p-1:system
           controlled by pkg.crossplane.io/v1 ProviderRevision p-1
           to crossplane:provider:p-1:system
           for ServiceAccount crossplane-system:p-1",
    );
}

#[test]
fn a_revision_made_anew_takes_nothing_from_the_one_before() {
    let mut cluster = Cluster::new(Settings::default(), running(revision("p-1", &["a.b.c"])));
    cluster.remove(&REVISION, "", "p-1");
    cluster.settle();
    let mut again = revision("p-1", &["a.b.c"]);
    again["metadata"]["uid"] = json!("another");
    cluster.set(&again);
    cluster.settle();
    assert_eq!(
        subjects(&cluster, "p-1"),
        Vec::<String>::new(),
        "the old deployment is controlled by {}",
        uid("ProviderRevision", "p-1")
    );
}
