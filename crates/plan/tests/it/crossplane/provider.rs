//! What follows from a provider's revision (spec 1.2).

use rolewright_core::{Principal, Rule};
use rolewright_plan::Kind;
use rolewright_plan::crossplane::{REVISION, Settings};
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING};
use serde_json::{Value, json};

use super::cluster::{Cluster, words};
use super::world::{annotated, controlled, crd, deleting, inactive, revision, role, running};

const ROLES: &str = "crossplane:provider:";
const REV: &str = "provider-gcp-8a7e46df4367";

fn cluster(objects: impl IntoIterator<Item = Value>) -> Cluster {
    Cluster::new(Settings::default(), objects)
}

#[test]
fn two_groups_and_three_resources() {
    let crds = ["buckets.storage.gcp", "networks.compute.gcp", "addresses.compute.gcp"];
    cluster(running(revision(REV, &crds))).expect(
        ROLES,
        "role crossplane:provider:provider-gcp-8a7e46df4367:aggregate-to-edit
           labels aggregate-to-admin aggregate-to-crossplane aggregate-to-edit
           controlled by pkg.crossplane.io/v1 ProviderRevision provider-gcp-8a7e46df4367
           * compute.gcp addresses,addresses/status,networks,networks/status
           * storage.gcp buckets,buckets/status
         role crossplane:provider:provider-gcp-8a7e46df4367:aggregate-to-view
           labels aggregate-to-view
           controlled by pkg.crossplane.io/v1 ProviderRevision provider-gcp-8a7e46df4367
           V compute.gcp addresses,addresses/status,networks,networks/status
           V storage.gcp buckets,buckets/status
         role crossplane:provider:provider-gcp-8a7e46df4367:system
           labels system=provider-gcp-8a7e46df4367
           controlled by pkg.crossplane.io/v1 ProviderRevision provider-gcp-8a7e46df4367
           S compute.gcp addresses,addresses/status,networks,networks/status
           S storage.gcp buckets,buckets/status
           update compute.gcp,storage.gcp */finalizers
           * core,coordination.k8s.io secrets,configmaps,events,leases
           * events.k8s.io events
         binding crossplane:provider:provider-gcp-8a7e46df4367:system
           controlled by pkg.crossplane.io/v1 ProviderRevision provider-gcp-8a7e46df4367
           to crossplane:provider:provider-gcp-8a7e46df4367:system
           for ServiceAccount crossplane-system:provider-gcp-8a7e46df4367",
    );
}

/// No label can hold it, so that of the role is cut, and told from others by a hash.
#[test]
fn a_revision_may_have_a_name_that_fits_no_label() {
    let long = format!("provider-{}-8a7e46df4367", "very-".repeat(20));
    let cluster = cluster(running(revision(&long, &["a.b.c"])));
    let name = format!("{ROLES}{long}:system");
    let labels = &cluster.get(&CLUSTER_ROLE, &name).meta.labels;
    let label = labels.get("rbac.crossplane.io/system").unwrap();
    assert!(label.len() == 63 && label.contains('_') && label.starts_with("provider-very-"), "{label}");
    assert!(cluster.find(&CLUSTER_ROLE_BINDING, &name).is_some());
    let account = Principal::User(format!("system:serviceaccount:crossplane-system:{long}").into());
    assert!(cluster.rights(&account).covers(&super::world::rule("update b.c a")));
}

#[test]
fn a_revision_that_brings_nothing_gets_nothing() {
    let mut without_status = revision(REV, &[]);
    without_status.as_object_mut().unwrap().remove("status");
    let mut with_nulls = revision(REV, &[]);
    with_nulls["status"] = json!({ "objectRefs": null, "capabilities": null, "permissionRequests": null });
    let mut safe = revision(REV, &[]);
    safe["status"]["capabilities"] = json!(["safe-start"]);
    for nothing in [revision(REV, &[]), without_status, with_nulls, safe] {
        let cluster = cluster(running(nothing));
        assert_eq!(cluster.page(ROLES), "");
        assert_eq!(cluster.told(), Vec::<&str>::new());
    }
    // And what it had goes when it no longer brings anything.
    let mut cluster = cluster(running(revision(REV, &["a.b.c"])));
    assert_eq!(cluster.names(ROLES).len(), 4);
    cluster.set(&revision(REV, &[]));
    assert_eq!(
        words(&cluster.settle()),
        [
            format!("delete ClusterRoleBinding/{ROLES}{REV}:system"),
            format!("delete ClusterRole/{ROLES}{REV}:aggregate-to-edit"),
            format!("delete ClusterRole/{ROLES}{REV}:aggregate-to-view"),
            format!("delete ClusterRole/{ROLES}{REV}:system"),
        ]
    );
}

#[test]
fn who_starts_safely_reads_definitions_and_nobody_else_does() {
    let crds = "V apiextensions.k8s.io customresourcedefinitions";
    for (capabilities, safe) in [
        (json!(["safe-start"]), true),
        (json!(["SafeStart"]), true),
        (json!(["other", "safe_start"]), true),
        (json!(["SAFE START"]), true),
        (json!(["safe-starts"]), false),
        (json!(["unsafe-start"]), false),
        (json!([]), false),
    ] {
        let mut revision = revision(REV, &["a.b.c"]);
        revision["status"]["capabilities"] = capabilities.clone();
        let cluster = cluster([revision]);
        assert_eq!(cluster.page(&format!("{ROLES}{REV}:system")).contains(crds), safe, "{capabilities}");
        assert!(!cluster.page(&format!("{ROLES}{REV}:aggregate")).contains(crds), "{capabilities}");
    }
}

#[test]
fn who_uses_a_configuration_is_crossed_out_by_the_provider() {
    let crds = ["things.a.io", "providerconfigusages.a.io", "clusterproviderconfigusages.b.io"];
    let cluster = cluster([revision(REV, &crds)]);
    let page = cluster.page(&format!("{ROLES}{REV}:system"));
    let rules: Vec<&str> = page.lines().skip(3).map(str::trim).collect();
    assert_eq!(
        rules,
        [
            "S a.io providerconfigusages,providerconfigusages/status,things,things/status",
            "S b.io clusterproviderconfigusages,clusterproviderconfigusages/status",
            "delete a.io providerconfigusages",
            "delete b.io clusterproviderconfigusages",
            "update a.io,b.io */finalizers",
            "* core,coordination.k8s.io secrets,configmaps,events,leases",
            "* events.k8s.io events",
        ]
    );
}

#[test]
fn every_revision_has_its_roles_active_or_not() {
    let active = cluster([revision(REV, &["a.b.c"])]).page(ROLES);
    assert_eq!(cluster([inactive(revision(REV, &["a.b.c"]))]).page(ROLES), active);
}

#[test]
fn a_revision_on_its_way_out_keeps_its_roles_until_it_is_gone() {
    let mut cluster = cluster(running(revision(REV, &["a.b.c"])));
    cluster.set(&deleting(revision(REV, &[])));
    assert!(cluster.settle().is_empty());
    cluster.remove(&REVISION, "", REV);
    assert_eq!(words(&cluster.settle()).len(), 4);
    assert_eq!(cluster.page(ROLES), "");
}

#[test]
fn a_paused_revision_waits_by_either_word() {
    for word in ["rolewright.io/paused", "crossplane.io/paused"] {
        let mut cluster = cluster(running(annotated(revision(REV, &["a.b.c"]), word, "true")));
        assert_eq!(cluster.page(ROLES), "");
        assert_eq!(cluster.told(), [format!("RW0002 ProviderRevision/{REV}: 4 writes wait")]);
        cluster.set(&revision(REV, &["a.b.c"]));
        cluster.settle();
        assert_eq!(cluster.names(ROLES).len(), 4);
    }
}

#[test]
fn every_object_of_a_revision_comes_back() {
    let mut cluster = cluster(running(revision(REV, &["a.b.c"])));
    let page = cluster.page(ROLES);
    for name in cluster.names(ROLES) {
        let (kind, name) = name.split_once(' ').unwrap();
        let kind = if kind == "role" { &CLUSTER_ROLE } else { &CLUSTER_ROLE_BINDING };
        cluster.remove(kind, "", name);
        assert_eq!(words(&cluster.settle()), [format!("repair {kind}/{name}")]);
        cluster.edit(kind, name, |live| live.meta.owners.clear());
        assert_eq!(words(&cluster.settle()), [format!("repair {kind}/{name}")], "without an owner");
    }
    assert_eq!(cluster.page(ROLES), page);
}

#[test]
fn what_lost_its_owner_still_goes_when_nobody_needs_it() {
    for gone in [false, true] {
        let mut cluster = cluster(running(revision(REV, &["a.b.c"])));
        cluster.edit(&CLUSTER_ROLE, &format!("{ROLES}{REV}:aggregate-to-view"), |live| live.meta.owners.clear());
        if gone {
            cluster.remove(&REVISION, "", REV);
        } else {
            cluster.set(&revision(REV, &[]));
        }
        cluster.settle();
        assert_eq!(cluster.page(ROLES), "");
    }
}

#[test]
fn names_that_are_taken_are_left_alone() {
    let name = format!("{ROLES}{REV}:system");
    let mut foreign = role(&name, &["get core pods"]);
    foreign["metadata"]["ownerReferences"] = json!([super::world::owner("ProviderRevision", "another", true)]);
    let cluster = cluster([foreign].into_iter().chain(running(revision(REV, &["a.b.c"]))));
    assert_eq!(
        cluster.told(),
        [format!(
            "RW0003 ClusterRole/{name}: it is controlled by ProviderRevision `another`; `{REV}` works on its resources"
        )]
    );
    assert_eq!(cluster.rules_of(&name), super::world::rules(&["get core pods"]));
}

#[test]
fn the_account_may_do_its_work_and_no_more() {
    let cluster =
        cluster(running(revision(REV, &["a.b.c"])).into_iter().chain([controlled(crd("others.b.c"), "another")]));
    let account = Principal::User(format!("system:serviceaccount:crossplane-system:{REV}").into());
    let rights = cluster.rights(&account);
    let may = |verb: &'static str, group: &'static str, on: &'static str| {
        rights.covers(&Rule::resources([group], [on], [verb]))
    };
    for verb in ["get", "list", "watch", "update", "patch", "create"] {
        assert!(may(verb, "b.c", "a") && may(verb, "b.c", "a/status"), "{verb}");
    }
    assert!(
        may("update", "b.c", "a/finalizers") && may("patch", "events.k8s.io", "events") && may("delete", "", "secrets")
    );
    for (verb, group, on) in [
        ("delete", "b.c", "a"),
        ("deletecollection", "b.c", "a"),
        ("get", "b.c", "others"),
        ("patch", "b.c", "a/finalizers"),
        ("get", "", "pods"),
        ("list", "apiextensions.k8s.io", "customresourcedefinitions"),
        ("escalate", "rbac.authorization.k8s.io", "clusterroles"),
    ] {
        assert!(!may(verb, group, on), "{verb} {on}.{group}");
    }
}

#[test]
fn a_role_is_there_before_anybody_is_bound_to_it() {
    let mut cluster = Cluster::unsettled(Settings::default(), running(revision("p-a", &["xs.example.org"])));
    let written = cluster.settle();
    let name = "crossplane:provider:p-a:system";
    let place = |kind: &Kind| written.iter().position(|op| op.object.kind == kind && op.object.name == name).unwrap();
    assert!(place(&CLUSTER_ROLE) < place(&CLUSTER_ROLE_BINDING));
}
