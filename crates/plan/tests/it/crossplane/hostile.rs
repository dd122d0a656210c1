//! What nobody who means well would write: it breaks nothing, and nobody gets anything by it that is not a custom resource.

use proptest::prelude::*;
use rolewright_core::Rule;
use rolewright_plan::crossplane::{Boundary, Settings};
use rolewright_plan::rbac::CLUSTER_ROLE;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::world::{controlled, crd, family, namespace, people, revision, role, xrd};

/// Texts that mean something somewhere.
const TEXTS: [&str; 16] = [
    "",
    "*",
    "*/*",
    "secrets",
    "clusterroles.rbac.authorization.k8s.io",
    "rbac.authorization.k8s.io",
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "xs.example.org",
    "providers.pkg.crossplane.io",
    "a.b.c",
    ".a..b.",
    "Active",
    "xpkg.example.org/acme/p:v1",
    "a b\n\u{202e}c",
    "rolewright.io",
];

fn text() -> impl Strategy<Value = String> {
    let long = "n".repeat(300);
    prop_oneof![8 => proptest::sample::select(TEXTS.to_vec()).prop_map(str::to_owned), 1 => Just(long), 1 => any::<String>()]
}

/// Anything, at any depth.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        6 => text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((text(), inner), 0..4).prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

/// An object of these fields, each mostly there, and mostly a text.
fn object(fields: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let value = prop_oneof![4 => text().prop_map(Value::from), 1 => anything()];
    proptest::collection::vec(proptest::option::weighted(0.8, value), fields.len()).prop_map(|values| {
        let all = fields.iter().zip(values).filter_map(|(field, value)| Some(((*field).to_owned(), value?)));
        Value::Object(all.collect())
    })
}

fn list(items: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    proptest::collection::vec(items, 0..4).prop_map(Value::from)
}

fn definition() -> impl Strategy<Value = Value> {
    let names = || prop_oneof![6 => object(&["plural", "kind"]), 1 => anything()];
    (names(), names(), text(), anything()).prop_map(|(names, claims, group, scope)| {
        let mut xrd = xrd("xs.example.org");
        xrd["spec"] = json!({"names": names, "claimNames": claims, "group": group, "scope": scope});
        xrd
    })
}

fn installed() -> impl Strategy<Value = Value> {
    let refs = list(object(&["apiVersion", "kind", "name"]));
    let whole = list(text().prop_map(
        |name| json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": name}),
    ));
    let refs = prop_oneof![3 => whole, 3 => refs, 1 => anything()];
    let many = || list(text().prop_map(Value::from));
    let asked =
        list((many(), many(), many()).prop_map(
            |(groups, resources, verbs)| json!({"apiGroups": groups, "resources": resources, "verbs": verbs}),
        ));
    let asked = prop_oneof![4 => asked, 1 => anything()];
    (refs, asked, many(), object(&["desiredState", "image"]), text()).prop_map(|(refs, asked, able, spec, of)| {
        let mut revision = family(revision("p-1", &[]), &of);
        revision["spec"] = spec;
        revision["status"] = json!({"objectRefs": refs, "permissionRequests": asked, "capabilities": able});
        revision
    })
}

fn enabling() -> impl Strategy<Value = Value> {
    proptest::collection::vec((text(), text()), 0..4).prop_map(|annotations| {
        let pairs: Vec<(&str, &str)> = annotations.iter().map(|(key, value)| (&**key, &**value)).collect();
        namespace("n", &pairs)
    })
}

/// Whether a rule is on custom resources alone.
fn is_custom(rule: &Rule) -> bool {
    let groups = |group: &str| group.contains('.') && !group.contains('*') && !group.ends_with(".k8s.io");
    let ours = |group: &str| ["pkg.crossplane.io", "apiextensions.crossplane.io", "rolewright.io"].contains(&group);
    rule.api_groups.iter().all(|group| groups(group) && !ours(group))
        && rule.resources.iter().all(|resource| !resource.contains('*') && !resource.is_empty())
        && rule.non_resource_urls.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nobody_gets_anything_by_what_is_no_custom_resource(
        definition in definition(),
        revision in installed(),
        namespace in enabling(),
        boundary in proptest::sample::select(vec![Boundary::Requests, Boundary::All]),
        owned in text().prop_filter("the server refuses objects without a name", |name| !name.is_empty()),
    ) {
        let settings = Settings { boundary, boundary_role: Some("limit".into()), ..Settings::default() };
        let limit = role("limit", &["get,list core pods", "V *.example.org *"]);
        let objects = [definition, revision, namespace, limit, controlled(crd(&owned), "p-1")];
        let cluster = Cluster::new(settings, objects.into_iter().chain(people()));
        for live in cluster.engine.snapshot().all(&CLUSTER_ROLE) {
            let name = live.meta.name.as_str();
            if name.starts_with("crossplane:composite:") || name.contains(":aggregate-to-edit") && name.contains(":provider:") {
                let rules = live.role().unwrap().rules;
                prop_assert!(rules.iter().all(is_custom), "{name}: {rules:?}");
            }
        }
    }
}
