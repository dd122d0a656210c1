//! What becomes of bindings that somebody changes, and of those that nobody wants any more (spec 3.2, 3.3).

use rolewright_core::Labels;
use rolewright_plan::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, RoleBody};
use rolewright_plan::sync::{ROOT_SYNC, Settings};
use rolewright_plan::workload::SERVICE_ACCOUNT;
use rolewright_plan::{Live, ObjectRef};
use serde_json::{Value, json};
use std::sync::Arc;

use super::world::{Cluster, HOME, binding, ground, labels, namespace, repo, root, root_key, with};
use crate::cluster::words;

/// What somebody does to an object, and what that is called.
type Wound = (&'static str, fn(&mut Live));

const REFS: [&str; 3] = ["ClusterRole/one", "ClusterRole/two@shop", "Role/ci@bank"];

fn cluster(objects: impl IntoIterator<Item = Value>) -> Cluster {
    Cluster::new(Settings::default(), ground().into_iter().chain(objects))
}

fn made(cluster: &Cluster) -> Vec<ObjectRef> {
    [&CLUSTER_ROLE_BINDING, &ROLE_BINDING, &SERVICE_ACCOUNT].into_iter().flat_map(|kind| cluster.ours(kind)).collect()
}

/// Every object of a sync, in each way in which somebody may hurt it: it is as it was, by one write.
#[test]
fn whatever_somebody_does_is_undone() {
    let sound = cluster([root("x", &REFS)]);
    let (all, before) = (made(&sound), sound.bindings(|_| true));
    assert_eq!(all.len(), 6);
    let wound: [Wound; 4] = [
        ("labels taken", |live| live.meta.labels = Labels::default()),
        ("another sync's", |live| {
            live.meta.labels.insert("configsync.gke.io/sync-name".into(), "other".into());
        }),
        ("no longer kept", |live| {
            live.meta.labels.insert("configsync.gke.io/managed-by".into(), "somebody".into());
        }),
        ("subjects", |live| {
            if let Some(BindingBody { role_ref, .. }) = live.body().cloned() {
                let subjects = vec![rolewright_core::Subject::user("mallory")];
                live.body = Ok(Arc::new(BindingBody { role_ref, subjects }));
            }
        }),
    ];
    for object in &all {
        for (what, wound) in wound {
            if what == "subjects" && *object.kind == SERVICE_ACCOUNT {
                continue;
            }
            let mut cluster = cluster([root("x", &REFS)]);
            cluster.edit_at(object, wound);
            // Whom it is for comes back before whom it is not for goes.
            let mut written = words(&cluster.settle());
            written.dedup();
            assert_eq!(written, [format!("repair {object}")], "{object}: {what}");
            assert_eq!((cluster.bindings(|_| true), made(&cluster)), (before.clone(), all.clone()), "{object}: {what}");
        }
        let mut cluster = cluster([root("x", &REFS)]);
        cluster.remove(object.kind, &object.namespace, &object.name);
        assert_eq!(words(&cluster.settle()), [format!("repair {object}")], "{object}: deleted");
        assert_eq!(cluster.bindings(|_| true), before, "{object}: deleted");
    }
}

/// What every reconciler has is kept as well.
#[test]
fn roles_of_all_reconcilers_are_kept() {
    let both = || cluster([root("x", &REFS), repo("shop", "web", &[])]);
    let sound = both();
    let rules = |cluster: &Cluster, object: &ObjectRef| cluster.engine.snapshot().body::<RoleBody>(object).cloned();
    let roles: Vec<ObjectRef> = [&CLUSTER_ROLE, &ROLE].into_iter().flat_map(|kind| sound.ours(kind)).collect();
    assert_eq!(roles.len(), 4, "{roles:?}");
    for object in &roles {
        let mut cluster = both();
        cluster.edit_at(object, |live| live.body = Ok(Arc::new(RoleBody::default())));
        assert_eq!(words(&cluster.settle()), [format!("repair {object}")], "{object}: emptied");
        assert_eq!(rules(&cluster, object), rules(&sound, object));
        cluster.remove(object.kind, &object.namespace, &object.name);
        assert_eq!(words(&cluster.settle()), [format!("repair {object}")], "{object}: deleted");
        assert_eq!(rules(&cluster, object), rules(&sound, object));
    }
}

/// A role cannot be changed in place, so somebody deleted and made anew what has our name.
#[test]
fn a_binding_to_another_role_is_replaced() {
    let mut cluster = cluster([root("x", &REFS)]);
    for object in cluster.ours(&CLUSTER_ROLE_BINDING).into_iter().chain(cluster.ours(&ROLE_BINDING)) {
        cluster.edit_at(&object, |live| {
            let BindingBody { subjects, .. } = live.body().cloned().unwrap();
            let role_ref = rolewright_core::RoleRef::cluster_role("cluster-admin");
            live.body = Ok(Arc::new(BindingBody { role_ref, subjects }));
        });
        assert_eq!(words(&cluster.settle()), [format!("repair {object}")]);
    }
    assert!(!cluster.bindings(|_| true).join(" ").contains("cluster-admin"));
}

/// Two whose names begin alike are two (spec 3.2, bug B), and a binding in a tenant's namespace counts (bug A).
#[test]
fn a_change_reaches_the_sync_that_it_belongs_to() {
    let mut cluster = cluster([root("root-sync", &REFS), root("foo", &REFS), root("foo-bar", &REFS)]);
    let before = cluster.given();
    assert_eq!(before.len(), 9);
    for object in cluster.ours(&ROLE_BINDING).into_iter().chain(cluster.ours(&CLUSTER_ROLE_BINDING)) {
        cluster.remove(object.kind, &object.namespace, &object.name);
        assert_eq!(words(&cluster.settle()), [format!("repair {object}")]);
    }
    assert_eq!(cluster.given(), before);
    // The same of RepoSyncs (spec 7, 12): of one namespace, of namespaces that begin alike, and of names that do.
    let settings = Settings { bindable: Some(vec!["one".into()]), ..Settings::default() };
    let syncs =
        [("shop", "repo-sync"), ("shop", "web"), ("shop", "web-2"), ("bank", "repo-sync"), ("shop-web", "repo-sync")];
    let syncs = syncs.map(|(place, name)| repo(place, name, &["ClusterRole/one"]));
    let world = ground().into_iter().chain([namespace("shop-web")]).chain(syncs);
    let mut cluster = Cluster::new(settings, world);
    let before = cluster.bindings(|_| true);
    assert_eq!(before.len(), 15);
    for object in cluster.ours(&ROLE_BINDING).into_iter().chain(cluster.ours(&CLUSTER_ROLE_BINDING)) {
        cluster.remove(object.kind, &object.namespace, &object.name);
        assert_eq!(words(&cluster.settle()), [format!("repair {object}")]);
    }
    assert_eq!(cluster.bindings(|_| true), before);
}

#[test]
fn what_others_made_is_never_touched() {
    let inventory = labels("RootSync", HOME, Some("x"));
    let theirs = [
        with(binding("", "theirs", "ClusterRole/three", &["root-reconciler-x"]), "labels", inventory.clone()),
        with(binding("shop", "theirs", "ClusterRole/three", &["root-reconciler-x"]), "labels", inventory.clone()),
        with(binding("bank", "declared", "Role/ci", &["root-reconciler-x", "more"]), "labels", inventory),
        binding("", "plain", "ClusterRole/three", &["root-reconciler-x"]),
        // Crossplane's own writes are another module's affair.
        with(
            binding("", "composed", "ClusterRole/three", &["root-reconciler-x"]),
            "managedFields",
            json!([{ "manager": "crossplane", "operation": "Update", "fieldsV1": {} }]),
        ),
        // A name that we do not need is not given to us.
        with(
            binding("", "given", "ClusterRole/three", &["root-reconciler-x"]),
            "annotations",
            json!({ "rolewright.io/adopt": "true" }),
        ),
    ];
    let mut cluster = cluster(theirs.into_iter().chain([root("x", &REFS)]));
    let kept = |cluster: &Cluster| cluster.bindings(|live| live.meta.ours.is_none());
    assert_eq!(kept(&cluster).len(), 6);
    cluster.remove(&ROOT_SYNC, HOME, "x");
    cluster.settle();
    assert_eq!(kept(&cluster).len(), 6);
    assert_eq!(made(&cluster), []);
}

/// A name that we would give, on somebody else's binding.
#[test]
fn a_name_that_is_taken_is_told_with_its_entry() {
    let name = cluster([root("x", &["ClusterRole/one"])]).ours(&CLUSTER_ROLE_BINDING);
    let name = name.iter().find(|object| !object.name.ends_with(":base")).unwrap().name.clone();
    let cluster = cluster([binding("", &name, "ClusterRole/two", &["somebody"]), root("x", &["ClusterRole/one"])]);
    assert_eq!(cluster.given(), ["all ClusterRole/two to somebody"]);
    let condition = cluster.condition(&root_key("x"));
    assert!(condition.starts_with("False NameTaken: ClusterRole/one: NameTaken"), "{condition}");
}

/// Left behind by a sync that went while nobody looked (spec 3.1): found by labels, by names and by subjects.
#[test]
fn what_is_left_of_syncs_that_are_gone_goes_at_the_start() {
    let stripped: [Wound; 3] = [
        ("as made", |_| {}),
        ("without labels", |live| live.meta.labels = Labels::default()),
        ("of a sync that never was", |live| {
            live.meta.labels.insert("configsync.gke.io/sync-name".into(), "other".into());
        }),
    ];
    let sound = cluster([root("x", &REFS), repo("shop", "web", &[])]);
    for (what, strip) in stripped {
        let mut engine = cluster(sound.left(strip));
        assert_eq!(made(&engine), [], "{what}");
        // And nobody who comes back under the old name finds anything of it.
        engine.set(&root("x", &["ClusterRole/three"]));
        engine.settle();
        assert_eq!(engine.given(), ["all ClusterRole/three to root-reconciler-x"], "{what}");
    }
}

/// Stale, without its labels, and found only by who comes next (spec 3.3): neither a change of the wish nor a restart
/// leaves it, and a sync that was made anew does not inherit it.
#[test]
fn what_is_stale_goes_whatever_its_labels_say() {
    let stripped = |sync: &Value| {
        let mut left = cluster([root("x", &REFS)]).left(|live| live.meta.labels = Labels::default());
        left.push(sync.clone());
        cluster(left)
    };
    let mut running = cluster([root("x", &REFS)]);
    for object in made(&running) {
        running.edit_at(&object, |live| live.meta.labels = Labels::default());
    }
    running.set(&root("x", &["ClusterRole/three"]));
    running.settle();
    for cluster in [running, stripped(&root("x", &["ClusterRole/three"]))] {
        assert_eq!(cluster.given(), ["all ClusterRole/three to root-reconciler-x"]);
        let labels = |object: ObjectRef| cluster.engine.snapshot().get(&object).unwrap().meta.labels.clone();
        assert!(
            made(&cluster).into_iter().map(labels).all(|labels| labels.get("configsync.gke.io/sync-name").is_some())
        );
    }
}

impl Cluster {
    /// What is left without the syncs, each a little hurt, as objects for another cluster.
    fn left(&self, hurt: fn(&mut Live)) -> Vec<Value> {
        let kinds = [&CLUSTER_ROLE_BINDING, &ROLE_BINDING, &SERVICE_ACCOUNT, &ROLE];
        let lives = kinds.into_iter().flat_map(|kind| self.engine.snapshot().all(kind).map(move |live| (kind, live)));
        let ours = lives.filter(|(_, live)| live.meta.ours.is_some());
        let object = |(kind, live): (&'static rolewright_plan::Kind, &Live)| {
            let mut live = live.clone();
            hurt(&mut live);
            let labels: serde_json::Map<String, Value> =
                live.meta.labels.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
            let mut metadata = json!({ "name": live.meta.name, "labels": labels, "managedFields": [
                { "manager": "rolewright", "operation": "Apply", "fieldsV1": { "f:metadata": {} } }] });
            if !live.meta.namespace.is_empty() {
                metadata["namespace"] = json!(live.meta.namespace);
            }
            let mut object = json!({ "kind": kind.kind, "metadata": metadata });
            if let Some(BindingBody { role_ref, subjects }) = live.body() {
                object["roleRef"] = json!(role_ref);
                object["subjects"] = json!(subjects);
            }
            object
        };
        ours.map(object).collect()
    }
}
