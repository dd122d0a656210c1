//! From Crossplane's own manager to this one: its objects become ours, and nobody's access changes on the way.

use rolewright_core::Access;
use rolewright_plan::crossplane::{InactiveRevisions, Settings};
use rolewright_plan::rbac::CLUSTER_ROLE;
use rolewright_plan::{Phase, Write};
use serde_json::{Map, Value, json};

use super::cluster::{Cluster, words};
use super::world::{bound, claimed, controlled, inactive, labelled, owner, people, revision, role, running, uid, xrd};

/// An object as Crossplane's manager leaves it behind.
fn by_crossplane(mut object: Value, labels: &[&str], owned_by: (&str, &str)) -> Value {
    let (kind, name) = owned_by;
    let key = |label: &&str| format!("rbac.crossplane.io/{label}");
    let labels: Map<String, Value> = labels.iter().map(|label| (key(label), json!("true"))).collect();
    let fields: Map<String, Value> = labels.keys().map(|label| (format!("f:{label}"), json!({}))).collect();
    object["metadata"]["labels"] = labels.into();
    object["metadata"]["ownerReferences"] = json!([owner(kind, name, true)]);
    object["metadata"]["managedFields"] = json!([{
        "manager": "crossplane", "operation": "Update", "apiVersion": "rbac.authorization.k8s.io/v1", "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": { "f:labels": fields, "f:ownerReferences": { format!("k:{{\"uid\":\"{}\"}}", uid(kind, name)): {} } },
            "f:rules": {},
        },
    }]);
    object
}

/// What Crossplane v2 makes of a definition with claims, and of a revision.
fn left_behind(definition: &str, claims: &str, revision: &str, plural: &str, group: &str) -> Vec<Value> {
    let (xr, xr_group) = definition.split_once('.').unwrap();
    let of_xrd = |to: &str, labels: &[&str], rules: &[&str]| {
        let name = format!("crossplane:composite:{definition}:aggregate-to-{to}");
        by_crossplane(role(&name, rules), labels, ("CompositeResourceDefinition", definition))
    };
    let of_revision = |to: &str, labels: &[&str], rules: &[&str]| {
        by_crossplane(
            role(&format!("crossplane:provider:{revision}:{to}"), rules),
            labels,
            ("ProviderRevision", revision),
        )
    };
    let on = |verbs: &str, resource: &str| format!("{verbs} {xr_group} {resource},{resource}/status");
    let provides = |verbs: &str| format!("{verbs} {group} {plural},{plural}/status");
    let name = format!("crossplane:provider:{revision}:system");
    let mut binding = bound("x", "", &name);
    binding["metadata"]["name"] = json!(name);
    binding["subjects"] = json!([{ "kind": "ServiceAccount", "namespace": "crossplane-system", "name": revision }]);
    vec![
        of_xrd(
            "crossplane",
            &["aggregate-to-crossplane"],
            &[
                &on("*", xr),
                &format!("update {xr_group} {xr}/finalizers"),
                &on("*", claims),
                &format!("update {xr_group} {claims}/finalizers"),
            ],
        ),
        of_xrd(
            "edit",
            &["aggregate-to-admin", "aggregate-to-ns-admin", "aggregate-to-edit", "aggregate-to-ns-edit"],
            &[&on("*", xr), &on("*", claims)],
        ),
        of_xrd("view", &["aggregate-to-view", "aggregate-to-ns-view"], &[&on("V", xr), &on("V", claims)]),
        of_xrd("browse", &["aggregate-to-browse"], &[&on("V", xr)]),
        of_revision(
            "aggregate-to-edit",
            &["aggregate-to-admin", "aggregate-to-crossplane", "aggregate-to-edit"],
            &[&provides("*")],
        ),
        of_revision("aggregate-to-view", &["aggregate-to-view"], &[&provides("V")]),
        of_revision(
            "system",
            &[],
            &[
                &provides("V,update,patch,create"),
                &format!("update {group} */finalizers"),
                "* core,coordination.k8s.io secrets,configmaps,events,leases",
            ],
        ),
        by_crossplane(binding, &[], ("ProviderRevision", revision)),
    ]
}

fn world() -> Vec<Value> {
    let mut objects = vec![claimed("xs.example.org", "cs")];
    objects.extend(running(revision("p-1", &["a.b.c"])));
    objects.extend(people());
    objects
}

fn taken_over() -> (Cluster, Vec<rolewright_plan::Op>) {
    let objects = world().into_iter().chain(left_behind("xs.example.org", "cs", "p-1", "a", "b.c"));
    // The roles of the chart are there, so that everybody has access before.
    let standing = Cluster::new(Settings::default(), people());
    let mut cluster = Cluster::unsettled(Settings::default(), objects);
    for live in standing.engine.snapshot().all(&CLUSTER_ROLE).cloned().collect::<Vec<_>>() {
        let name = live.meta.name.clone();
        cluster.set(&role(&name, &[]));
        cluster.edit(&CLUSTER_ROLE, &name, |known| *known = live);
    }
    let before = cluster.world().aggregated();
    let access = Access::of(&before);
    let written = cluster.settle_watched(|op, world| {
        let changes = access.changes(&Access::of(&world.clone().aggregated()));
        for change in &changes {
            assert!(change.lost.is_empty(), "{op}: {change:?}");
        }
    });
    (cluster, written)
}

#[test]
fn everything_becomes_ours_and_nobody_loses_anything() {
    let (cluster, written) = taken_over();
    let inherited = written.iter().filter(|op| matches!(op.write, Write::Inherit { .. })).count();
    assert_eq!(inherited, 8, "{:?}", words(&written));
    assert!(written.iter().all(|op| !matches!(op.write, Write::Delete { .. } | Write::Replace { .. })));
    assert!(
        written.iter().all(|op| !matches!(op.write, Write::Inherit { .. }) || op.phase == Phase::Ground),
        "before anything else"
    );
    let clean = Cluster::new(Settings::default(), world());
    assert_eq!(cluster.page("crossplane"), clean.page("crossplane"), "labels that only Crossplane set are gone");
    assert_eq!(cluster.told(), Vec::<&str>::new());
}

#[test]
fn what_was_taken_over_can_be_narrowed() {
    let (mut cluster, _) = taken_over();
    cluster.set(&xrd("xs.example.org"));
    cluster.settle();
    let mut clean = Cluster::new(Settings::default(), world());
    clean.set(&xrd("xs.example.org"));
    clean.settle();
    assert_eq!(cluster.page("crossplane"), clean.page("crossplane"));
    assert!(!cluster.page("crossplane:composite:").contains("cs"));
}

#[test]
fn what_crossplane_made_for_another_is_not_taken() {
    let theirs = left_behind("xs.example.org", "cs", "p-1", "a", "b.c").into_iter().map(|mut object| {
        object["metadata"]["ownerReferences"][0]["uid"] = json!("gone");
        object
    });
    let cluster = Cluster::new(Settings::default(), world().into_iter().chain(theirs));
    assert_eq!(cluster.told().len(), 8);
    assert!(cluster.told().iter().all(|told| told.starts_with("RW0003 ")), "{:?}", cluster.told());
}

#[test]
fn an_inactive_revision_that_was_taken_over_loses_its_people_only_to_a_successor() {
    let keep = Settings { inactive: InactiveRevisions::Keep, ..Settings::default() };
    let old = left_behind("xs.example.org", "cs", "p-0", "a", "b.c").into_iter().skip(4);
    for (settings, expected) in [(keep, 4), (Settings::default(), 2)] {
        let objects = world().into_iter().chain([inactive(revision("p-0", &["a.b.c"]))]);
        let cluster = Cluster::new(
            settings,
            objects
                .chain(old.clone())
                .chain([controlled(super::world::deployment("crossplane-system", "d", "p-0"), "p-0")]),
        );
        assert_eq!(
            cluster.names("crossplane:provider:p-0:").len(),
            expected,
            "{:?}",
            cluster.names("crossplane:provider:p-0:")
        );
    }
}

#[test]
fn a_label_that_others_rely_on_stays_theirs() {
    let mut objects = left_behind("xs.example.org", "cs", "p-1", "a", "b.c");
    let kept = labelled(objects.remove(1), "team", "platform");
    let cluster = Cluster::new(Settings::default(), world().into_iter().chain([kept]));
    let labels = &cluster.get(&CLUSTER_ROLE, "crossplane:composite:xs.example.org:aggregate-to-edit").meta.labels;
    assert!(
        labels.contains_key("team") && !labels.contains_key("rbac.crossplane.io/aggregate-to-ns-admin"),
        "{labels:?}"
    );
}
