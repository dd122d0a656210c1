//! What RootSyncs ask for (spec 1.3, 2.6, 5).

use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::rbac::{CLUSTER_ROLE, ROLE, RoleBody};
use rolewright_plan::sync::{ROOT_SYNC, Settings};
use rolewright_plan::workload::SERVICE_ACCOUNT;
use rolewright_plan::{Name, ObjectRef};
use serde_json::{Value, json};

use super::world::{Cluster, HOME, ground, leaving, namespace, role, root, root_key, service_account, with};
use crate::cluster::words;

fn cluster(objects: impl IntoIterator<Item = Value>) -> Cluster {
    Cluster::new(Settings::default(), ground().into_iter().chain(objects))
}

/// The example of the seed, with everything that is made for it.
#[test]
fn each_role_gets_a_binding() {
    let refs = ["ClusterRole/one", "ClusterRole/two@shop", "Role/ci@shop"];
    let cluster = cluster([root("my-root-sync", &refs)]);
    let account = "root-reconciler-my-root-sync";
    assert_eq!(
        cluster.bindings(|live| live.meta.ours.is_some()),
        [
            format!("all ClusterRole/one to {account}"),
            format!("all ClusterRole/rolewright:root-reconciler to {account}"),
            format!("{HOME} Role/{account}:base to {account}"),
            format!("shop ClusterRole/two to {account}"),
            format!("shop Role/ci to {account}"),
        ]
    );
    assert_eq!(cluster.ours(&SERVICE_ACCOUNT), [ObjectRef::namespaced(&SERVICE_ACCOUNT, HOME, account)]);
    let sync = root_key("my-root-sync");
    assert_eq!(
        cluster.condition(&sync),
        "True Bound: ClusterRole/one: Bound; ClusterRole/two in shop: Bound; Role/shop/ci: Bound"
    );
    assert_eq!(cluster.told(), Vec::<&str>::new());
    let live = cluster.engine.snapshot().get(&sync).unwrap();
    assert_eq!(live.meta.finalizers, ["configsync.gke.io/reconciler-manager"]);
    // All of it can be found by its labels.
    let snapshot = cluster.engine.snapshot();
    for kind in
        [&SERVICE_ACCOUNT, &ROLE, &rolewright_plan::rbac::ROLE_BINDING, &rolewright_plan::rbac::CLUSTER_ROLE_BINDING]
    {
        for object in cluster.ours(kind) {
            let labels = &snapshot.get(&object).unwrap().meta.labels;
            for (key, value) in super::world::labels("RootSync", HOME, Some("my-root-sync")).as_object().unwrap() {
                assert_eq!(labels.get(key).map(Name::as_str), value.as_str(), "{object}: {key}");
            }
        }
    }
}

#[test]
fn what_every_reconciler_has_is_limited_to_its_own() {
    let cluster = cluster([root("shop", &["ClusterRole/one"])]);
    let rules = |object: &ObjectRef| -> Vec<String> {
        let rules = &cluster.engine.snapshot().body::<RoleBody>(object).unwrap().rules;
        rules
            .iter()
            .map(|rule| {
                let list = |names: &[Name]| names.iter().map(Name::as_str).collect::<Vec<_>>().join(",");
                let (resources, names) = (list(&rule.resources), list(&rule.resource_names));
                format!("{} {resources} [{names}] {}", list(&rule.api_groups), list(&rule.verbs))
            })
            .collect()
    };
    assert_eq!(
        rules(&ObjectRef::namespaced(&ROLE, HOME, "root-reconciler-shop:base")),
        [
            "configsync.gke.io rootsyncs,rootsyncs/status [shop] get,update,patch",
            "configsync.gke.io rootsyncs/finalizers [shop] update",
            "kpt.dev resourcegroups [] get,list,watch,create",
            "kpt.dev resourcegroups,resourcegroups/status [shop] get,update,patch,delete",
        ]
    );
    assert_eq!(
        rules(&ObjectRef::cluster(&CLUSTER_ROLE, "rolewright:root-reconciler")),
        [
            "apiextensions.k8s.io customresourcedefinitions [] get,list,watch",
            "configsync.gke.io rootsyncs [] get,list,watch",
        ]
    );
}

/// Empty, null and absent are one (spec 1.3); base only is said in other ways (design 4).
#[test]
fn a_root_sync_without_roles() {
    let admin = "all ClusterRole/cluster-admin to root-reconciler";
    let everything = "True BoundByDefault: it names no roles, and so may do everything; name some in \
                      `spec.override.roleRefs`, or annotate `rolewright.io/root-role: none`; ClusterRole/cluster-admin: Bound";
    let base = "True BaseOnly: no roles beyond what every reconciler has";
    let said = |value: &str| json!({ "rolewright.io/root-role": value });
    let none = Settings { default_role: None, ..Settings::default() };
    let one = Settings { default_role: Some("one".into()), ..Settings::default() };
    let usual = Settings::default();
    for (settings, spec, annotations, given, condition) in [
        (&usual, json!({}), json!({}), admin, everything),
        (&usual, json!({ "override": null }), json!({}), admin, everything),
        (&usual, json!({ "override": {} }), json!({}), admin, everything),
        (&usual, json!({ "override": { "roleRefs": null } }), json!({}), admin, everything),
        (&usual, json!({ "override": { "roleRefs": [] } }), json!({}), admin, everything),
        (&usual, json!({}), said("none"), "", base),
        (&usual, json!({ "override": { "roleRefs": [] } }), said("none"), "", base),
        (&none, json!({}), json!({}), "", base),
        (
            &one,
            json!({}),
            json!({}),
            "all ClusterRole/one to root-reconciler",
            "True BoundByDefault: ClusterRole/one: Bound",
        ),
        (&one, json!({}), said("none"), "", base),
        // What nobody understands widens nothing.
        (&usual, json!({}), said("view"), "", base),
    ] {
        let mut sync = with(root("root-sync", &[]), "annotations", annotations.clone());
        sync["spec"] = spec.clone();
        let cluster = Cluster::new(settings.clone(), ground().into_iter().chain([sync]));
        assert_eq!(cluster.given().join("; "), given, "{settings:?} {spec} {annotations}");
        assert_eq!(cluster.condition(&root_key("root-sync")), condition, "{spec} {annotations}");
        let is_warned = cluster.told().iter().any(|text| text.starts_with("RW0301 "));
        assert_eq!(is_warned, given == admin, "{:?}", cluster.told());
    }
}

#[test]
fn what_cannot_be_given_is_named_and_the_rest_is_given() {
    let one = "all ClusterRole/one to root-reconciler-x";
    for (refs, given, condition, told) in [
        (
            json!([{"kind": "Role", "name": "ci"}, {"kind": "ClusterRole", "name": "one"}]),
            one,
            "False RoleRefInvalid: spec.override.roleRefs[0]: Role `ci` has no `namespace`; name the one that it is in; \
             ClusterRole/one: Bound",
            "RW0304",
        ),
        (
            json!([{"kind": "ClusterRole", "name": ""}]),
            "",
            "False RoleRefInvalid: spec.override.roleRefs[0]: `name` is empty; name the role",
            "RW0304",
        ),
        (
            json!([{"kind": "Group", "name": "x"}]),
            "",
            "False RoleRefInvalid: spec.override.roleRefs[0]: `kind` is `Group`; say `Role` or `ClusterRole`",
            "RW0304",
        ),
        (
            json!([{"kind": "ClusterRole", "name": "one", "namespace": "nowhere"}, {"kind": "ClusterRole", "name": "one"}]),
            one,
            "False NamespaceMissing: ClusterRole/one in nowhere: NamespaceMissing; ClusterRole/one: Bound",
            "RW0302",
        ),
        // It is bound all the same, and counts once it is there.
        (
            json!([{"kind": "ClusterRole", "name": "unknown"}]),
            "all ClusterRole/unknown to root-reconciler-x",
            "False RoleMissing: ClusterRole/unknown: RoleMissing",
            "RW0303",
        ),
        // Said twice is said once.
        (
            json!([{"kind": "ClusterRole", "name": "one"}, {"kind": "ClusterRole", "name": "one", "namespace": ""}]),
            one,
            "True Bound: ClusterRole/one: Bound",
            "",
        ),
    ] {
        let mut sync = root("x", &[]);
        sync["spec"]["override"] = json!({ "roleRefs": refs });
        let cluster = cluster([sync]);
        assert_eq!(cluster.given().join("; "), given, "{refs}");
        assert_eq!(cluster.condition(&root_key("x")), condition, "{refs}");
        assert_eq!(cluster.told().iter().map(|text| &text[..6]).collect::<Vec<_>>().join(" "), told, "{refs}");
    }
}

/// What cannot be read at all changes nothing: neither what was given, nor that it can be deleted.
#[test]
fn roles_that_cannot_be_read_change_nothing() {
    let mut cluster = cluster([root("x", &["ClusterRole/one"])]);
    let mut broken = with(root("x", &[]), "finalizers", json!(["configsync.gke.io/reconciler-manager"]));
    broken["spec"]["override"] = json!({ "roleRefs": "one" });
    cluster.set(&broken);
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    assert_eq!(cluster.given(), ["all ClusterRole/one to root-reconciler-x"]);
    assert!(cluster.condition(&root_key("x")).starts_with("False Invalid: `spec.override.roleRefs"));
    let (ours, reconcilers) = ("configsync.gke.io/reconciler-manager", "configsync.gke.io/reconciler");
    // Nobody waits for its reconciler for ever.
    cluster.set(&leaving(broken.clone(), &[reconcilers, ours]));
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    assert!(
        cluster.condition(&root_key("x")).contains("; its rights stay until"),
        "{}",
        cluster.condition(&root_key("x"))
    );
    assert_eq!(cluster.given(), ["all ClusterRole/one to root-reconciler-x"]);
    let said = json!({ "rolewright.io/release-reconciler": "its node burnt down" });
    cluster.set(&with(leaving(broken, &[reconcilers, ours]), "annotations", said));
    cluster.settle();
    assert_eq!(cluster.bindings(|live| live.meta.ours.is_some()), Vec::<String>::new());
    assert!(cluster.engine.snapshot().get(&root_key("x")).is_none());
}

/// What nobody here needs may be anything, and must not keep a sync from being given its roles or from going.
#[test]
fn a_source_that_cannot_be_read_is_no_source() {
    for (field, value) in
        [("git", json!(5)), ("git", json!({ "auth": null })), ("sourceType", json!([])), ("oci", json!("x"))]
    {
        let mut broken = root("x", &["ClusterRole/one"]);
        broken["spec"][field] = value.clone();
        let mut cluster = cluster([broken.clone()]);
        assert_eq!(cluster.given(), ["all ClusterRole/one to root-reconciler-x"], "{field}: {value}");
        cluster.set(&leaving(broken, &["configsync.gke.io/reconciler-manager"]));
        cluster.settle();
        assert!(cluster.engine.snapshot().get(&root_key("x")).is_none(), "{field}: {value}");
    }
}

/// What is almost `override.roleRefs` (spec 1.2): the server drops it or nobody reads it, and nobody becomes cluster-admin by
/// it.
#[test]
fn overrides_is_not_override() {
    let last_applied = |text: &str| json!({ "kubectl.kubernetes.io/last-applied-configuration": text });
    let applied = |spec: &Value| {
        let text = json!({ "kind": "RootSync", "spec": spec }).to_string();
        with(root("x", &[]), "annotations", last_applied(&text))
    };
    let kept = |spec: &Value| {
        let mut sync = root("x", &[]);
        sync["spec"] = spec.clone();
        sync
    };
    let list = json!([{ "kind": "ClusterRole", "name": "one" }]);
    let refs = json!({ "roleRefs": list });
    let (inside, outside) = ("spec.override.roleRefs", "spec.override");
    for (spec, misspelt) in [
        (json!({ "overrides": refs }), Some(("spec.overrides", outside))),
        (json!({ "overrides": {} }), Some(("spec.overrides", outside))),
        (json!({ "Override": refs }), Some(("spec.Override", outside))),
        (json!({ "OVER_rides": refs }), Some(("spec.OVER_rides", outside))),
        (json!({ "roleRefs": list }), Some(("spec.roleRefs", inside))),
        (json!({ "role-ref": list }), Some(("spec.role-ref", inside))),
        (json!({ "override": { "rolerefs": list } }), Some(("spec.override.rolerefs", inside))),
        (json!({ "override": { "roleRef": list[0] } }), Some(("spec.override.roleRef", inside))),
        (json!({ "override": { "role_refs": list, "roleRefs": [] } }), Some(("spec.override.role_refs", inside))),
        (json!({ "override": null }), None),
        (json!({ "override": { "rolerefs": null, "statusMode": "enabled" } }), None),
        (json!({ "overrides": null, "roleRefs": null, "rolesReferred": [] }), None),
        (json!("overrides"), None),
        (Value::Null, None),
    ] {
        let expected = misspelt.map(|(written, meant)| {
            format!("False OverridesMisspelt: `{written}` was applied, and nobody reads it; say `{meant}`")
        });
        let ways = [applied(&spec), kept(&spec)];
        for sync in ways.iter().filter(|sync| sync["spec"].is_object()) {
            let cluster = cluster([sync.clone()]);
            assert_eq!(cluster.given().is_empty(), misspelt.is_some(), "{sync}");
            let condition = cluster.condition(&root_key("x"));
            let is_so =
                expected.as_ref().map_or(condition.starts_with("True BoundByDefault: "), |text| condition == *text);
            assert!(is_so, "{sync}: {condition}");
        }
    }
    let unreadable = with(root("x", &[]), "annotations", last_applied("{"));
    assert!(!cluster([unreadable]).given().is_empty());
    // What is said right counts beside it, and the other is not passed over.
    let mut both = applied(&json!({ "overrides": refs }));
    both["spec"]["override"] = refs;
    let cluster = cluster([both]);
    assert_eq!(cluster.given(), ["all ClusterRole/one to root-reconciler-x"]);
    assert_eq!(
        cluster.condition(&root_key("x")),
        "True Bound: `spec.overrides` was applied, and nobody reads it; say `spec.override`; ClusterRole/one: Bound"
    );
    assert!(cluster.told().iter().any(|text| text.starts_with("RW0306 ")), "{:?}", cluster.told());
}

/// The samples of the seed's text: as they are written there, and as they are meant.
#[test]
fn the_seeds_samples() {
    let overview = ["ClusterRole/quota", "ClusterRole/tenant@shop", "Role/deployer@shop"];
    // Here a ClusterRole is bound in a namespace, and has the name of a tenant's role.
    let guide = ["ClusterRole/quota", "ClusterRole/deployer@bank", "Role/web@bank"];
    let roles = ["quota", "tenant", "deployer", "deployer@shop", "web@bank"].map(role);
    for (refs, given) in [
        (overview, ["all ClusterRole/quota", "shop ClusterRole/tenant", "shop Role/deployer"]),
        (guide, ["all ClusterRole/quota", "bank ClusterRole/deployer", "bank Role/web"]),
    ] {
        let meant = root("tenants", &refs);
        let mut written = meant.clone();
        let block = written["spec"].as_object_mut().unwrap().remove("override").unwrap();
        written["spec"]["overrides"] = block;
        let key = root_key("tenants");
        let cluster = |sync: Value| cluster(roles.clone().into_iter().chain([sync]));
        let as_written = cluster(written);
        assert_eq!(as_written.given(), Vec::<String>::new());
        assert!(as_written.condition(&key).starts_with("False OverridesMisspelt: "));
        let as_meant = cluster(meant);
        assert_eq!(as_meant.given(), given.map(|text| format!("{text} to root-reconciler-tenants")));
        assert!(as_meant.condition(&key).starts_with("True Bound: "));
    }
}

/// A name says nothing without its kind and its place (spec 7, 15).
#[test]
fn roles_of_one_name_are_told_apart() {
    let refs = ["ClusterRole/ci", "ClusterRole/ci@shop", "Role/ci@shop", "Role/ci@bank"];
    let mut cluster = cluster([role("ci"), root("x", &refs), root("y", &[])]);
    let of_y = "all ClusterRole/cluster-admin to root-reconciler-y".to_owned();
    let given = ["all ClusterRole/ci", "bank Role/ci", "shop ClusterRole/ci", "shop Role/ci"];
    let mut expected: Vec<String> = given.map(|text| format!("{text} to root-reconciler-x")).into();
    expected.insert(1, of_y.clone());
    assert_eq!(cluster.given(), expected);
    cluster.set(&root("x", &["Role/ci@shop"]));
    cluster.settle();
    assert_eq!(cluster.given(), [of_y.clone(), "shop Role/ci to root-reconciler-x".to_owned()]);
    cluster.set(&leaving(root("x", &["Role/ci@shop"]), &["configsync.gke.io/reconciler-manager"]));
    cluster.settle();
    assert_eq!(cluster.given(), [of_y]);
}

/// A role by which its holder takes more is given, and said to be one (spec 5.2).
#[test]
fn a_role_that_gives_more_than_it_says() {
    let rbac = "rbac.authorization.k8s.io";
    let rule = |group: &str, resource: &str, verb: &str| json!({ "apiGroups": [group], "resources": [resource], "verbs": [verb] });
    let named = |mut rule: Value| {
        rule["resourceNames"] = json!(["view"]);
        rule
    };
    let (gives, acts, takes, binds) = (
        "it may give rights that it does not have",
        "it may act as others",
        "it may take tokens of service accounts",
        "it may write bindings",
    );
    for (name, rule, why) in [
        ("wide", rule("*", "*", "*"), Some("it may do everything")),
        ("wide", rule(rbac, "clusterroles", "bind"), Some(gives)),
        ("wide", rule(rbac, "roles", "escalate"), Some(gives)),
        ("wide", named(rule(rbac, "roles", "escalate")), Some(gives)),
        ("wide", rule(rbac, "*", "*"), Some(gives)),
        ("wide", rule("", "users", "impersonate"), Some(acts)),
        ("wide", rule("", "serviceaccounts", "impersonate"), Some(acts)),
        ("wide", rule("", "serviceaccounts/token", "create"), Some(takes)),
        ("wide", rule("", "*/token", "create"), Some(takes)),
        ("wide", rule(rbac, "rolebindings", "create"), Some(binds)),
        ("wide", rule(rbac, "clusterrolebindings", "patch"), Some(binds)),
        ("system:node", rule("", "pods", "get"), Some("it is one of Kubernetes' own, and changes with it")),
        ("narrow", named(rule(rbac, "clusterroles", "bind")), None),
        ("narrow", rule(rbac, "rolebindings", "get"), None),
        ("narrow", rule("", "serviceaccounts", "create"), None),
        ("narrow", rule("apps", "*", "*"), None),
        ("narrow", rule("example.org", "rolebindings", "create"), None),
    ] {
        // It becomes such a role while the sync is there.
        let mut cluster = cluster([role(name), root("x", &[&format!("ClusterRole/{name}")])]);
        let mut wide = role(name);
        wide["rules"] = json!([rule]);
        cluster.set(&wide);
        assert_eq!(words(&cluster.settle()), Vec::<String>::new());
        assert_eq!(cluster.given(), [format!("all ClusterRole/{name} to root-reconciler-x")]);
        let more = why.map(|why| format!("ClusterRole/{name} lets its reconciler take more than it says: {why}; "));
        assert_eq!(
            cluster.condition(&root_key("x")),
            format!("True Bound: {}ClusterRole/{name}: Bound", more.unwrap_or_default()),
            "{rule}"
        );
        let is_told = cluster.told().iter().any(|text| text.starts_with("RW0311 "));
        assert_eq!(is_told, why.is_some(), "{rule}: {:?}", cluster.told());
    }
}

#[test]
fn entries_heal_when_what_they_name_appears() {
    let mut cluster = cluster([root("x", &["Role/new@later", "ClusterRole/new"])]);
    let sync = root_key("x");
    assert_eq!(cluster.given(), ["all ClusterRole/new to root-reconciler-x"]);
    cluster.set(&namespace("later"));
    assert_eq!(words(&cluster.settle()), ["create RoleBinding/later/root-reconciler-x:08270f4b5e"]);
    cluster.set(&role("new@later"));
    cluster.set(&role("new"));
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    assert_eq!(cluster.condition(&sync), "True Bound: ClusterRole/new: Bound; Role/later/new: Bound");
    cluster.remove(&CLUSTER_ROLE, "", "new");
    cluster.settle();
    assert_eq!(cluster.condition(&sync), "False RoleMissing: ClusterRole/new: RoleMissing; Role/later/new: Bound");
    // A namespace that is going keeps what is in it, and gets nothing new.
    cluster.edit(&NAMESPACE, "later", |live| live.meta.deleting = true);
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    assert!(cluster.condition(&sync).contains("Role/later/new: NamespaceMissing"));
    let more = root("x", &["Role/new@later", "ClusterRole/new", "ClusterRole/one@later", "Role/other@later"]);
    cluster.set(&with(more, "finalizers", json!(["configsync.gke.io/reconciler-manager"])));
    assert_eq!(words(&cluster.settle()), Vec::<String>::new());
    assert!(cluster.condition(&sync).contains("ClusterRole/one in later: NamespaceMissing"));
}

/// Also the role that a sync gets without naming it.
#[test]
fn the_default_heals_when_it_appears() {
    let settings = Settings { default_role: Some("later".into()), ..Settings::default() };
    let mut cluster = Cluster::new(settings, ground().into_iter().chain([root("x", &[])]));
    let sync = root_key("x");
    assert_eq!(cluster.condition(&sync), "False RoleMissing: ClusterRole/later: RoleMissing");
    cluster.set(&role("later"));
    cluster.settle_refused(|_| None);
    assert_eq!(cluster.condition(&sync), "True BoundByDefault: ClusterRole/later: Bound");
    cluster.remove(&CLUSTER_ROLE, "", "later");
    cluster.settle_refused(|_| None);
    assert_eq!(cluster.condition(&sync), "False RoleMissing: ClusterRole/later: RoleMissing");
}

#[test]
fn a_sync_in_the_wrong_place_gets_nothing() {
    let elsewhere = {
        let mut sync = root("x", &[]);
        sync["metadata"]["namespace"] = json!("shop");
        sync
    };
    let long = "a".repeat(39);
    for (sync, namespace, name, why) in [
        (elsewhere, "shop", "x", format!("a RootSync must be in the namespace `{HOME}`")),
        (root(&long, &[]), HOME, &*long, "its name is longer than 38 characters".to_owned()),
    ] {
        let cluster = cluster([sync]);
        assert_eq!(cluster.given(), Vec::<String>::new());
        assert_eq!(cluster.ours(&SERVICE_ACCOUNT), []);
        let key = ObjectRef::namespaced(&ROOT_SYNC, namespace, name);
        assert_eq!(cluster.condition(&key), format!("False SyncMisplaced: {why}"));
    }
    let fits = "a".repeat(38);
    assert_eq!(cluster([root(&fits, &[])]).given().len(), 1);
    // Nor does it take anything from the one whose account it would have, whatever becomes of that account.
    let stranger = {
        let mut sync = root("x", &[]);
        sync["metadata"]["namespace"] = json!("bank");
        sync
    };
    let mut cluster = cluster([root("x", &["ClusterRole/one"]), stranger]);
    cluster.remove(&SERVICE_ACCOUNT, HOME, "root-reconciler-x");
    cluster.settle();
    assert_eq!(cluster.given(), ["all ClusterRole/one to root-reconciler-x"]);
    assert_eq!(cluster.condition(&root_key("x")), "True Bound: ClusterRole/one: Bound");
}

#[test]
fn the_google_account_is_the_one_of_the_source_in_use() {
    let email = "shop@example.iam.gserviceaccount.com";
    let google = json!({ "auth": "gcpserviceaccount", "gcpServiceAccountEmail": email });
    let none = json!({ "auth": "none", "gcpServiceAccountEmail": email });
    for (spec, is_there) in [
        (json!({ "git": google }), true),
        (json!({ "sourceType": "oci", "oci": google }), true),
        (json!({ "sourceType": "helm", "helm": google }), true),
        (json!({ "sourceType": "oci", "git": google }), false),
        (json!({ "git": none }), false),
        (json!({}), false),
    ] {
        let mut sync = root("x", &[]);
        sync["spec"] = spec.clone();
        let mut cluster = cluster([sync]);
        let account = ObjectRef::namespaced(&SERVICE_ACCOUNT, HOME, "root-reconciler-x");
        let email_of = |cluster: &Cluster| {
            let live = cluster.engine.snapshot().get(&account).unwrap();
            live.meta.annotations.get("iam.gke.io/gcp-service-account").cloned()
        };
        assert_eq!(email_of(&cluster).is_some(), is_there, "{spec}");
        cluster.set(&root("x", &[]));
        cluster.settle();
        assert_eq!(email_of(&cluster), None, "it goes with the wish");
    }
}

/// A name that somebody else's object has.
#[test]
fn an_account_of_somebody_else_is_left_alone() {
    let cluster = cluster([service_account("root-reconciler-x"), root("x", &["ClusterRole/one"])]);
    assert_eq!(cluster.ours(&SERVICE_ACCOUNT), []);
    assert!(cluster.told().iter().any(|text| text.starts_with("RW0003 ServiceAccount/")), "{:?}", cluster.told());
    assert!(cluster.condition(&root_key("x")).starts_with("False Refused: "), "{}", cluster.condition(&root_key("x")));
}
