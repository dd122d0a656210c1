//! How much is kept (the seed's `--manage`).

use rolewright_core::Principal;
use rolewright_plan::crossplane::{Manage, Settings, UserRoles};
use serde_json::Value;

use super::cluster::{Cluster, words};
use super::world::{claimed, namespace, people, revision, rule, running};

fn objects() -> Vec<Value> {
    let mut objects = vec![claimed("xs.example.org", "cs"), namespace("n", &[("xs.example.org", "xrd-enabled")])];
    objects.extend(running(revision("p-1", &["a.b.c"])));
    objects.extend(people());
    objects
}

fn at(manage: Manage) -> Settings {
    Settings { manage, ..Settings::default() }
}

#[test]
fn only_software() {
    let cluster = Cluster::new(at(Manage::ServiceAccounts), objects());
    assert_eq!(
        cluster.names(""),
        [
            "role crossplane",
            "role crossplane:composite:xs.example.org:aggregate-to-crossplane",
            "role crossplane:provider:p-1:aggregate-to-edit",
            "role crossplane:provider:p-1:system",
            "role crossplane:system:aggregate-to-crossplane",
            "binding crossplane",
            "binding crossplane:provider:p-1:system",
        ]
    );
    let page = cluster.page("crossplane:provider:p-1:aggregate-to-edit");
    assert_eq!(page.lines().nth(1), Some("  labels aggregate-to-crossplane"), "for Crossplane, not for people");
    let core = Principal::User("system:serviceaccount:crossplane-system:crossplane".into());
    for text in ["* b.c a", "* example.org xs,cs", "update example.org xs/finalizers,cs/finalizers"] {
        assert!(cluster.rights(&core).covers(&rule(text)), "{text}");
    }
    for who in ["admin", "edit", "view", "browse"] {
        assert!(cluster.rights(&Principal::User(who.into())).is_empty(), "{who}");
    }
}

#[test]
fn software_and_people() {
    let cluster = Cluster::new(at(Manage::Basic), objects());
    assert_eq!(
        cluster.names(""),
        [
            "role crossplane",
            "role crossplane-admin",
            "role crossplane-browse",
            "role crossplane-edit",
            "role crossplane-view",
            "role crossplane:aggregate-to-admin",
            "role crossplane:aggregate-to-browse",
            "role crossplane:aggregate-to-edit",
            "role crossplane:aggregate-to-view",
            "role crossplane:composite:xs.example.org:aggregate-to-browse",
            "role crossplane:composite:xs.example.org:aggregate-to-crossplane",
            "role crossplane:composite:xs.example.org:aggregate-to-edit",
            "role crossplane:composite:xs.example.org:aggregate-to-view",
            "role crossplane:provider:p-1:aggregate-to-edit",
            "role crossplane:provider:p-1:aggregate-to-view",
            "role crossplane:provider:p-1:system",
            "role crossplane:system:aggregate-to-crossplane",
            "binding crossplane",
            "binding crossplane-admin",
            "binding crossplane:provider:p-1:system",
        ]
    );
    for (role, labels) in [
        ("composite:xs.example.org:aggregate-to-edit", "aggregate-to-admin aggregate-to-edit"),
        ("composite:xs.example.org:aggregate-to-view", "aggregate-to-view"),
    ] {
        let page = cluster.page(&format!("crossplane:{role}"));
        assert_eq!(page.lines().nth(1), Some(format!("  labels {labels}").as_str()), "nothing for namespaces");
    }
}

#[test]
fn everything() {
    let cluster = Cluster::new(at(Manage::All), objects());
    let basic = Cluster::new(at(Manage::Basic), objects());
    let beyond: Vec<String> = cluster.names("").into_iter().filter(|name| !basic.names("").contains(name)).collect();
    assert_eq!(
        beyond,
        [
            "role crossplane-ns-n-edit",
            "role crossplane-ns-n-view",
            "role crossplane:aggregate-to-ns-edit",
            "role crossplane:aggregate-to-ns-view",
        ]
    );
}

#[test]
fn a_lower_level_takes_away_what_is_beyond_it_and_a_higher_one_brings_it_back() {
    const LEVELS: [Manage; 3] = [Manage::ServiceAccounts, Manage::Basic, Manage::All];
    for user_roles in [UserRoles::Aggregated, UserRoles::Materialized] {
        for from in LEVELS {
            for to in LEVELS {
                let settings = |manage| Settings { user_roles, ..at(manage) };
                let cluster = Cluster::new(settings(from), objects());
                let clean = Cluster::new(settings(to), objects());
                let mut moved = cluster.restarted(settings(to));
                let written = words(&moved.settle());
                assert_eq!(moved.page(""), clean.page(""), "{from:?} to {to:?}");
                assert!(moved.access().equivalent(&clean.access()), "{from:?} to {to:?}");
                if from == to {
                    assert_eq!(written, Vec::<String>::new());
                }
                let mut back = moved.restarted(settings(from));
                back.settle();
                assert_eq!(back.page(""), cluster.page(""), "{to:?} back to {from:?}");
            }
        }
    }
}

#[test]
fn what_a_level_does_not_keep_is_not_touched() {
    let theirs = super::world::role("crossplane-admin", &["get core pods"]);
    let ns = super::world::role("crossplane-ns-n-edit", &["get core pods"]);
    let cluster = Cluster::new(at(Manage::ServiceAccounts), [theirs, ns]);
    assert_eq!(cluster.told(), Vec::<&str>::new());
    assert_eq!(cluster.rules_of("crossplane-admin"), [rule("get core pods")]);
    assert_eq!(cluster.rules_of("crossplane-ns-n-edit"), [rule("get core pods")]);
}

#[test]
fn what_the_aggregation_controller_revives_goes_again_or_is_ours_again() {
    // Kubernetes' controller applies rules to a role that was deleted a moment ago, which makes a role of the rules alone.
    let revived = |name: &str| {
        let mut role = super::world::role(name, &["get core pods"]);
        role["metadata"]["managedFields"] = serde_json::json!([{"manager": "clusterrole-aggregation-controller",
            "operation": "Apply", "fieldsV1": {"f:rules": {}}}]);
        role
    };
    // Without rules nobody is seen to have applied any.
    let empty = |name: &str| super::world::role(name, &[]);
    let all = [
        revived("crossplane-edit"),
        revived("crossplane-ns-n-edit"),
        revived("crossplane-ns-gone-view"),
        empty("crossplane-view"),
        empty("crossplane-ns-n-view"),
        empty("crossplane-ns-gone-edit"),
    ];
    for manage in [Manage::ServiceAccounts, Manage::Basic, Manage::All] {
        let clean = Cluster::new(at(manage), objects());
        let cluster = Cluster::new(at(manage), objects().into_iter().chain(all.clone()).collect::<Vec<_>>());
        assert_eq!(cluster.names(""), clean.names(""), "{manage:?}");
    }
}
