//! Where a provider's resources come from (spec 1.3).

use rolewright_plan::crossplane::{REVISION, SERVED_RESOURCE, Settings};
use serde_json::{Value, json};

use super::cluster::{Cluster, words};
use super::world::{controlled, crd, crd_ref, mrd, owned, revision};

const EDIT: &str = "crossplane:provider:p-1:aggregate-to-edit";

fn cluster(objects: impl IntoIterator<Item = Value>) -> Cluster {
    Cluster::new(Settings::default(), objects)
}

/// The rules by which others use what a world's revision brings.
fn brought(objects: impl IntoIterator<Item = Value>) -> Vec<String> {
    let page = cluster(objects).page(EDIT);
    page.lines().skip(3).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn only_references_to_definitions_count() {
    const CRDS: &str = "apiextensions.k8s.io/v1";
    for (reference, expected) in [
        (crd_ref(CRDS, "CustomResourceDefinition", "pinballs.example.org"), "* example.org pinballs,pinballs/status"),
        (crd_ref("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "a.b.c"), "* b.c a,a/status"),
        (crd_ref("apiextensions.crossplane.io/v1alpha1", "ManagedResourceDefinition", "a.b.c"), "* b.c a,a/status"),
        (crd_ref("apiextensions.crossplane.io/v2", "ManagedResourceDefinition", "a.b.c"), "* b.c a,a/status"),
        (crd_ref("apiextensions.k8s.io/v1/x", "CustomResourceDefinition", "a.b.c"), ""),
        (crd_ref("apiextensions.k8s.io", "CustomResourceDefinition", "a.b.c"), ""),
        (crd_ref("", "CustomResourceDefinition", "a.b.c"), ""),
        (crd_ref("example.org/v1", "CustomResourceDefinition", "a.b.c"), ""),
        (crd_ref(CRDS, "ManagedResourceDefinition", "a.b.c"), ""),
        (crd_ref("apiextensions.crossplane.io/v1", "CustomResourceDefinition", "a.b.c"), ""),
        (crd_ref("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", "a.b.c"), ""),
        (crd_ref(CRDS, "IntergalacticCustomResource", "a.b.c"), ""),
        (crd_ref(CRDS, "CustomResourceDefinition", "nodot"), ""),
        (json!({}), ""),
    ] {
        let mut p = revision("p-1", &[]);
        p["status"]["objectRefs"] = json!([reference]);
        assert_eq!(brought([p]).join(";"), expected, "{reference}");
    }
}

#[test]
fn what_names_the_revision_as_an_owner_counts_as_well() {
    for owns in [controlled(crd("a.b.c"), "p-1"), owned(crd("a.b.c"), "p-1", false), controlled(mrd("a.b.c"), "p-1")] {
        assert_eq!(brought([revision("p-1", &[]), owns.clone()]), ["* b.c a,a/status"], "{owns}");
    }
    assert_eq!(brought([revision("p-1", &[]), controlled(crd("a.b.c"), "p-2")]), Vec::<String>::new());
}

#[test]
fn each_resource_counts_once_and_order_makes_no_difference() {
    let expected = ["* a.io x,x/status,y,y/status", "* z.io a,a/status"];
    assert_eq!(brought([revision("p-1", &["a.z.io", "y.a.io", "x.a.io"])]), expected);
    let twice = revision("p-1", &["x.a.io", "x.a.io", "y.a.io", "a.z.io"]);
    let objects =
        [controlled(mrd("x.a.io"), "p-1"), controlled(crd("x.a.io"), "p-1"), controlled(crd("y.a.io"), "p-1")];
    assert_eq!(brought([twice].into_iter().chain(objects)), expected);
}

#[test]
fn a_list_that_is_too_short_is_told_and_nobody_lacks_anything() {
    let of = |name: &str| controlled(crd(name), "p-1");
    let mut cluster = cluster([revision("p-1", &["a.b.c"]), of("a.b.c"), of("d.b.c"), of("e.b.c")]);
    assert_eq!(cluster.rules_of(EDIT), super::world::rules(&["* b.c a,a/status,d,d/status,e,e/status"]));
    let told = ["RW0203 ProviderRevision/p-1: `status.objectRefs` lists 1 of 3 resources; `d.b.c` is missing"];
    assert_eq!(cluster.told(), told);
    let condition = |cluster: &Cluster| {
        let conditions = &cluster.get(&REVISION, "p-1").conditions;
        conditions
            .iter()
            .map(|condition| format!("{} {} {}", condition.name, condition.status, condition.reason))
            .collect::<Vec<_>>()
    };
    assert_eq!(condition(&cluster), ["PermissionsReady False ResourcesUnlisted"]);
    // The package manager writes the whole list at last. Conditions are ours, so what it writes keeps them.
    let listed = cluster.get(&REVISION, "p-1").conditions.clone();
    cluster.set(&revision("p-1", &["a.b.c", "d.b.c", "e.b.c"]));
    cluster.edit(&REVISION, "p-1", |live| live.conditions = listed);
    assert_eq!(words(&cluster.settle()), Vec::<String>::new(), "the roles were right all along");
    assert_eq!(cluster.told(), Vec::<&str>::new());
    assert_eq!(condition(&cluster), ["PermissionsReady True Applied"]);
}

#[test]
fn a_revision_that_lists_nothing_yet_is_no_mismatch() {
    let cluster = cluster([revision("p-1", &[]), controlled(crd("a.b.c"), "p-1")]);
    assert_eq!(cluster.told(), Vec::<&str>::new());
}

#[test]
fn resources_come_and_go_with_their_definitions() {
    let mut cluster = cluster([revision("p-1", &[]), controlled(crd("a.b.c"), "p-1")]);
    cluster.set(&controlled(crd("d.b.c"), "p-1"));
    assert_eq!(cluster.settle().len(), 3, "one write for each role");
    assert_eq!(cluster.rules_of(EDIT), super::world::rules(&["* b.c a,a/status,d,d/status"]));
    cluster.remove(&SERVED_RESOURCE, "", "a.b.c");
    assert_eq!(cluster.settle().len(), 3);
    assert_eq!(cluster.rules_of(EDIT), super::world::rules(&["* b.c d,d/status"]));
}

/// Whoever writes a revision's status, or names a revision as an owner, does not get everything by that.
#[test]
fn what_cannot_be_a_custom_resource_is_told_and_nobody_gets_it() {
    let refused = |name: &str, why: &str| {
        vec![format!("RW0207 ProviderRevision/p-1: nobody gets `{name}`, because part of it {why}")]
    };
    let (domain, word, kubernetes, closed) = (
        "is not a domain such as `example.org`",
        "is not one word such as `buckets`",
        "is served by Kubernetes itself",
        "is not to be extended",
    );
    for (name, expected) in [
        ("releases.helm.crossplane.io", None),
        ("objects.kubernetes.crossplane.io", None),
        ("gateways.gateway.networking.k8s.io", None),
        ("*.*", Some(word)),
        ("*.example.org", Some(word)),
        ("a.*", Some(domain)),
        ("a.b", Some(domain)),
        ("deployments.apps", Some(domain)),
        ("pods.", Some(domain)),
        ("nodot", Some("has no group")),
        ("clusterroles.rbac.authorization.k8s.io", Some(kubernetes)),
        ("customresourcedefinitions.apiextensions.k8s.io", Some(kubernetes)),
        ("compositions.apiextensions.crossplane.io", Some(closed)),
        ("functions.pkg.crossplane.io", Some(closed)),
        ("clusterusages.protection.crossplane.io", Some(closed)),
        ("packagepolicies.rolewright.io", Some(closed)),
    ] {
        let told: Vec<String> = expected.map(|why| refused(name, why)).unwrap_or_default();
        for owned in [false, true] {
            let listed: &[&str] = if owned { &["a.b.c"] } else { &["a.b.c", name] };
            let owns = owned.then(|| controlled(mrd(name), "p-1"));
            let cluster = cluster([revision("p-1", listed)].into_iter().chain(owns));
            let others = super::world::rules(&["* b.c a,a/status"]);
            assert_eq!(cluster.rules_of(EDIT) == others, expected.is_some(), "{name} {owned}");
            let is_told: Vec<&str> = cluster.told().into_iter().filter(|told| !told.starts_with("RW0203")).collect();
            assert_eq!(is_told, told, "{name} {owned}");
        }
    }
    let cluster = cluster([revision("p-1", &["*.*", "nodot"])]);
    assert_eq!(cluster.names("crossplane:provider:"), Vec::<String>::new());
    assert_eq!(
        cluster.told(),
        [format!("RW0207 ProviderRevision/p-1: nobody gets `*.*` (and 1 more), because part of it {word}")]
    );
}
