//! What happens to Crossplane's world, step by step, and by what one sees that the manager has followed.

use serde_json::{Value, json};

use super::State;
use crate::servers::{JSON, MERGE};

const REVISIONS: &str = "/apis/pkg.crossplane.io/v1/providerrevisions";
const PROVIDERS: &str = "/apis/pkg.crossplane.io/v1/providers";
const XRDS: &str = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions";
const XRDS_V2: &str = "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const SYSTEM: &str = "/apis/apps/v1/namespaces/crossplane-system/deployments";

/// A request that must work. A text `uid of PATH` in its body stands for the id of that object.
pub(super) struct Action {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) content: &'static str,
    pub(super) body: Value,
}

pub(super) struct Stage {
    pub(super) title: &'static str,
    pub(super) actions: Vec<Action>,
    /// Objects, and a text that is in each.
    there: Vec<(&'static str, &'static str)>,
    /// Objects, and a text that is not in them; an empty text for those that do not exist at all.
    gone: Vec<(&'static str, &'static str)>,
}

impl Stage {
    /// What the manager has still to do.
    pub(super) fn missing(&self, state: &State) -> Option<String> {
        let text = |name: &str| state.get(name).map(Value::to_string);
        let there = self.there.iter().find(|(name, part)| !text(name).is_some_and(|text| text.contains(part)));
        let gone = self.gone.iter().find(|(name, part)| text(name).is_some_and(|text| text.contains(part)));
        let missing = there.map(|(name, part)| format!("{name} is without `{part}`"));
        missing.or_else(|| gone.map(|(name, part)| format!("{name} is still there with `{part}`")))
    }
}

pub(super) fn all() -> Vec<Stage> {
    vec![
        chart(),
        definitions(),
        providers(),
        family(),
        deployments(),
        a_member_gains_a_resource(),
        a_definition_gains_claims(),
        foreign_hands(),
        deployments_change(),
        the_family_changes(),
        revisions_end(),
        definitions_end(),
    ]
}

/// What Crossplane's chart installs: aggregated roles.
fn chart() -> Stage {
    let mut actions = vec![create("/api/v1/namespaces", json!({"metadata": {"name": "crossplane-system"}}))];
    for (name, label) in [
        ("crossplane", "crossplane"),
        ("crossplane-admin", "admin"),
        ("crossplane-edit", "edit"),
        ("crossplane-view", "view"),
        ("crossplane-browse", "browse"),
        ("crossplane:allowed-provider-permissions", "allowed-provider-permissions"),
    ] {
        let label = format!("rbac.crossplane.io/aggregate-to-{label}");
        let rule = json!({"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]});
        actions.push(create(ROLES, json!({"metadata": {"name": name}, "aggregationRule": rule, "rules": []})));
    }
    // None of them is ever empty: what becomes of rules that nobody gives any more is where we differ on purpose.
    for label in ["crossplane", "admin", "edit", "view", "browse"] {
        let key = format!("rbac.crossplane.io/aggregate-to-{label}");
        let rule = json!({"apiGroups": ["pkg.crossplane.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]});
        let metadata = json!({"name": format!("crossplane:aggregate-to-{label}"), "labels": {key: "true"}});
        actions.push(create(ROLES, json!({"metadata": metadata, "rules": [rule]})));
    }
    stage("the chart is installed", actions, &[("clusterroles/crossplane-view", "pkg.crossplane.io")], &[])
}

fn definitions() -> Stage {
    let actions = vec![
        create(XRDS, xrd("xdatabases", "example.org", "XDatabase", Some(("databases", "Database")))),
        create(XRDS, xrd("xnetworks", "example.org", "XNetwork", None)),
        create(XRDS_V2, xrd("buckets", "storage.example.org", "Bucket", None)),
    ];
    let there = [
        ("clusterroles/crossplane:composite:xdatabases.example.org:aggregate-to-crossplane", "databases/finalizers"),
        ("clusterroles/crossplane:composite:xdatabases.example.org:aggregate-to-browse", "xdatabases/status"),
        ("clusterroles/crossplane:composite:xnetworks.example.org:aggregate-to-browse", "xnetworks"),
        ("clusterroles/crossplane:composite:buckets.storage.example.org:aggregate-to-browse", "buckets/status"),
        ("clusterroles/crossplane-browse", "xnetworks"),
        ("clusterroles/crossplane-edit", "buckets/status"),
        ("clusterroles/crossplane", "databases/finalizers"),
    ];
    stage("composite resources are defined", actions, &there, &[])
}

fn providers() -> Stage {
    let mut actions = vec![create(PROVIDERS, provider("provider-helm"))];
    actions.extend(revision("provider-helm", "a", "xpkg.example.org/contrib/provider-helm:v1", None));
    actions.extend(status("provider-helm-a", &["releases.helm.example.org", "providerconfigs.helm.example.org"], &[]));
    actions.push(create(PROVIDERS, provider("provider-safe")));
    actions.extend(revision("provider-safe", "a", "xpkg.example.org/contrib/provider-safe:v1", None));
    actions.extend(status("provider-safe-a", &["objects.safe.example.org"], &["SafeStart"]));
    actions.push(create(PROVIDERS, provider("provider-empty")));
    actions.extend(revision("provider-empty", "a", "xpkg.example.org/contrib/provider-empty:v1", None));
    let there = [
        ("clusterroles/crossplane:provider:provider-helm-a:system", "releases/status"),
        ("clusterroles/crossplane:provider:provider-helm-a:aggregate-to-view", "providerconfigs"),
        ("clusterroles/crossplane:provider:provider-safe-a:system", "customresourcedefinitions"),
        ("clusterroles/crossplane-view", "objects/status"),
        ("clusterrolebindings/crossplane:provider:provider-empty-a:system", "ClusterRole"),
    ];
    let gone = [("clusterroles/crossplane:provider:provider-empty-a:system", "")];
    stage("providers are installed", actions, &there, &gone)
}

fn family() -> Stage {
    const ORG: &str = "xpkg.example.org/cloud";
    let mut actions = Vec::new();
    for (name, resources) in [
        ("cloud-family", &["providerconfigs.cloud.example.org"][..]),
        ("cloud-compute", &["instances.compute.cloud.example.org", "disks.compute.cloud.example.org"]),
        ("cloud-network", &["vpcs.network.cloud.example.org", "subnets.network.cloud.example.org"]),
        ("cloud-storage", &["buckets.storage.cloud.example.org"]),
    ] {
        actions.push(create(PROVIDERS, provider(name)));
        actions.extend(revision(name, "a", &format!("{ORG}/{name}:v1"), Some("cloud")));
        actions.extend(status(&format!("{name}-a"), resources, &[]));
    }
    actions.push(create(PROVIDERS, provider("stranger")));
    actions.extend(revision("stranger", "a", "elsewhere.example.org/cloud/stranger:v1", Some("cloud")));
    actions.extend(status("stranger-a", &["thefts.stranger.example.org"], &[]));
    let there = [
        ("clusterroles/crossplane:provider:cloud-family-a:system", "subnets/status"),
        ("clusterroles/crossplane:provider:cloud-compute-a:system", "buckets/status"),
        ("clusterroles/crossplane:provider:cloud-network-a:aggregate-to-edit", "buckets/status"),
        ("clusterroles/crossplane:provider:cloud-network-a:aggregate-to-view", "buckets/status"),
        ("clusterroles/crossplane:provider:cloud-storage-a:system", "providerconfigs/status"),
        ("clusterroles/crossplane:provider:stranger-a:aggregate-to-view", "thefts/status"),
        ("clusterroles/crossplane-view", "thefts/status"),
    ];
    let gone = [
        ("clusterroles/crossplane:provider:stranger-a:system", "subnets"),
        ("clusterroles/crossplane:provider:cloud-family-a:system", "thefts"),
    ];
    stage("a family is installed", actions, &there, &gone)
}

fn deployments() -> Stage {
    let mut actions = vec![create("/api/v1/namespaces", json!({"metadata": {"name": "elsewhere"}}))];
    actions.push(create(SYSTEM, deployment("provider-helm", "provider-helm-a", "helm")));
    actions.push(create(SYSTEM, deployment("cloud-compute", "cloud-compute-a", "compute")));
    let other = deployment("cloud-compute", "cloud-compute-a", "other");
    actions.push(create("/apis/apps/v1/namespaces/elsewhere/deployments", other));
    let there = [
        ("clusterrolebindings/crossplane:provider:provider-helm-a:system", "\"name\":\"helm\""),
        ("clusterrolebindings/crossplane:provider:cloud-compute-a:system", "\"name\":\"compute\""),
        ("clusterrolebindings/crossplane:provider:cloud-compute-a:system", "\"name\":\"other\""),
    ];
    stage("providers run", actions, &there, &[])
}

fn a_member_gains_a_resource() -> Stage {
    let status = json!({"status": {"objectRefs": [
        {"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "ManagedResourceDefinition",
         "name": "queues.storage.cloud.example.org"},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "configmaps.other"},
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
         "name": "buckets.storage.cloud.example.org"},
    ]}});
    let actions = vec![patch(format!("{REVISIONS}/cloud-storage-a/status"), status)];
    let there = [
        ("clusterroles/crossplane:provider:cloud-family-a:system", "queues/status"),
        ("clusterroles/crossplane:provider:cloud-compute-a:aggregate-to-view", "queues/status"),
        ("clusterroles/crossplane:provider:cloud-network-a:aggregate-to-view", "queues/status"),
        ("clusterroles/crossplane:provider:cloud-storage-a:aggregate-to-view", "queues/status"),
        ("clusterroles/crossplane-edit", "queues/status"),
    ];
    let gone = [("clusterroles/crossplane:provider:cloud-storage-a:system", "\"other\"")];
    stage("a member gains a resource", actions, &there, &gone)
}

fn a_definition_gains_claims() -> Stage {
    let claims = json!({"spec": {"claimNames": {"plural": "networks", "kind": "Network"}}});
    let actions = vec![patch(format!("{XRDS}/xnetworks.example.org"), claims)];
    let there = [
        ("clusterroles/crossplane:composite:xnetworks.example.org:aggregate-to-crossplane", "networks/finalizers"),
        ("clusterroles/crossplane:composite:xnetworks.example.org:aggregate-to-edit", "\"networks\""),
        ("clusterroles/crossplane:composite:xnetworks.example.org:aggregate-to-view", "\"networks\""),
        ("clusterroles/crossplane-view", "\"networks\""),
    ];
    let gone = [("clusterroles/crossplane:composite:xnetworks.example.org:aggregate-to-browse", "\"networks\"")];
    stage("a definition gains claims", actions, &there, &gone)
}

/// What others do to the manager's roles is undone.
fn foreign_hands() -> Stage {
    let role = |name: &str| format!("{ROLES}/crossplane:{name}");
    let other = json!({"rules": [{"apiGroups": ["foreign.example.org"], "resources": ["x"], "verbs": ["get"]}]});
    let label = json!({"metadata": {"labels": {"rbac.crossplane.io/aggregate-to-edit": null, "foreign": "yes"},
        "annotations": {"kept": "yes"}}});
    let actions = vec![
        patch(role("provider:provider-helm-a:system"), other.clone()),
        patch(role("composite:buckets.storage.example.org:aggregate-to-edit"), label),
        delete(role("provider:provider-safe-a:aggregate-to-edit")),
        delete(format!("{}/crossplane:provider:cloud-family-a:system", ROLES.replace("roles", "rolebindings"))),
    ];
    let there = [
        ("clusterroles/crossplane:provider:provider-helm-a:system", "releases/status"),
        (
            "clusterroles/crossplane:composite:buckets.storage.example.org:aggregate-to-edit",
            "aggregate-to-edit\":\"true",
        ),
        ("clusterroles/crossplane:provider:provider-safe-a:aggregate-to-edit", "objects/status"),
        ("clusterrolebindings/crossplane:provider:cloud-family-a:system", "ClusterRole"),
        ("clusterroles/crossplane-edit", "buckets/status"),
    ];
    let gone = [
        ("clusterroles/crossplane:provider:provider-helm-a:system", "foreign.example.org"),
        ("clusterroles/crossplane-edit", "foreign.example.org"),
    ];
    stage("foreign hands", actions, &there, &gone)
}

fn deployments_change() -> Stage {
    let account = json!({"spec": {"template": {"spec": {"serviceAccountName": "helm-2"}}}});
    let actions = vec![
        patch(format!("{SYSTEM}/provider-helm"), account),
        delete("/apis/apps/v1/namespaces/elsewhere/deployments/cloud-compute".to_owned()),
    ];
    let there = [("clusterrolebindings/crossplane:provider:provider-helm-a:system", "\"name\":\"helm-2\"")];
    let gone = [
        ("clusterrolebindings/crossplane:provider:provider-helm-a:system", "\"name\":\"helm\""),
        ("clusterrolebindings/crossplane:provider:cloud-compute-a:system", "\"name\":\"other\""),
    ];
    stage("deployments change", actions, &there, &gone)
}

/// One leaves, one upgrades to a second revision, one is paused while the family grows.
fn the_family_changes() -> Stage {
    const FAMILY: &str = "pkg.crossplane.io/provider-family";
    let paused = json!({"metadata": {"annotations": {"crossplane.io/paused": "true"}}});
    let mut actions = vec![patch(format!("{REVISIONS}/cloud-network-a"), paused)];
    actions.push(patch(
        format!("{REVISIONS}/cloud-storage-a"),
        json!({"metadata": {"labels": {FAMILY: null}}, "spec": {"desiredState": "Inactive"}}),
    ));
    actions.extend(revision("cloud-compute", "b", "xpkg.example.org/cloud/cloud-compute:v2", Some("cloud")));
    actions.extend(status("cloud-compute-b", &["images.compute.cloud.example.org"], &["safe-start"]));
    let there = [
        ("clusterroles/crossplane:provider:cloud-compute-b:system", "vpcs/status"),
        ("clusterroles/crossplane:provider:cloud-compute-b:system", "customresourcedefinitions"),
        ("clusterroles/crossplane:provider:cloud-family-a:system", "images/status"),
        ("clusterroles/crossplane:provider:cloud-compute-a:aggregate-to-view", "images/status"),
        ("clusterrolebindings/crossplane:provider:cloud-compute-b:system", "ClusterRole"),
    ];
    let gone = [
        ("clusterroles/crossplane:provider:cloud-storage-a:aggregate-to-view", "vpcs"),
        ("clusterroles/crossplane:provider:cloud-network-a:system", "images"),
    ];
    stage("the family changes", actions, &there, &gone)
}

fn revisions_end() -> Stage {
    let actions = vec![
        delete(format!("{REVISIONS}/provider-safe-a")),
        delete(format!("{PROVIDERS}/provider-helm")),
        delete(format!("{PROVIDERS}/stranger")),
    ];
    let gone = [
        ("clusterroles/crossplane:provider:provider-safe-a:system", ""),
        ("clusterroles/crossplane:provider:provider-safe-a:aggregate-to-view", ""),
        ("clusterrolebindings/crossplane:provider:provider-safe-a:system", ""),
        ("clusterroles/crossplane:provider:provider-helm-a:system", ""),
        ("clusterrolebindings/crossplane:provider:provider-helm-a:system", ""),
        ("clusterroles/crossplane:provider:stranger-a:aggregate-to-edit", ""),
        ("clusterroles/crossplane-view", "thefts"),
        ("clusterroles/crossplane", "releases"),
    ];
    stage("revisions end", actions, &[], &gone)
}

/// One definition goes by itself, all others with the definition of definitions.
fn definitions_end() -> Stage {
    let kind = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/\
                compositeresourcedefinitions.apiextensions.crossplane.io";
    let actions = vec![delete(format!("{XRDS}/xdatabases.example.org")), delete(kind.to_owned())];
    let gone = [
        ("clusterroles/crossplane:composite:xdatabases.example.org:aggregate-to-crossplane", ""),
        ("clusterroles/crossplane:composite:xnetworks.example.org:aggregate-to-view", ""),
        ("clusterroles/crossplane:composite:buckets.storage.example.org:aggregate-to-browse", ""),
        ("clusterroles/crossplane-browse", "xnetworks"),
    ];
    stage("definitions end", actions, &[("clusterroles/crossplane-view", "vpcs")], &gone)
}

fn stage(
    title: &'static str,
    actions: Vec<Action>,
    there: &[(&'static str, &'static str)],
    gone: &[(&'static str, &'static str)],
) -> Stage {
    Stage { title, actions, there: there.to_vec(), gone: gone.to_vec() }
}

fn create(path: &str, body: Value) -> Action {
    let mut body = body;
    for (place, kind) in [
        (PROVIDERS, ("pkg.crossplane.io/v1", "Provider")),
        (REVISIONS, ("pkg.crossplane.io/v1", "ProviderRevision")),
        (XRDS, ("apiextensions.crossplane.io/v1", "CompositeResourceDefinition")),
        (XRDS_V2, ("apiextensions.crossplane.io/v2", "CompositeResourceDefinition")),
    ] {
        if path == place {
            body["apiVersion"] = kind.0.into();
            body["kind"] = kind.1.into();
        }
    }
    Action { method: "POST", path: path.to_owned(), content: JSON, body }
}

fn patch(path: String, body: Value) -> Action {
    Action { method: "PATCH", path, content: MERGE, body }
}

fn delete(path: String) -> Action {
    Action { method: "DELETE", path, content: JSON, body: Value::Null }
}

fn xrd(plural: &str, group: &str, kind: &str, claim: Option<(&str, &str)>) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"size": {"type": "integer"}}}}}});
    let mut spec = json!({"group": group, "names": {"plural": plural, "kind": kind},
        "versions": [{"name": "v1", "served": true, "referenceable": true, "schema": schema}]});
    if let Some((plural, kind)) = claim {
        spec["claimNames"] = json!({"plural": plural, "kind": kind});
    }
    json!({"metadata": {"name": format!("{plural}.{group}")}, "spec": spec})
}

fn provider(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"package": format!("xpkg.example.org/contrib/{name}:v1")}})
}

/// A revision that its provider controls.
fn revision(provider: &str, suffix: &str, image: &str, family: Option<&str>) -> Vec<Action> {
    let mut labels = json!({"pkg.crossplane.io/package": provider});
    if let Some(family) = family {
        labels["pkg.crossplane.io/provider-family"] = family.into();
    }
    let owner = json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "Provider", "name": provider,
        "uid": format!("uid of {PROVIDERS}/{provider}"), "controller": true, "blockOwnerDeletion": true});
    let metadata = json!({"name": format!("{provider}-{suffix}"), "labels": labels, "ownerReferences": [owner]});
    let spec = json!({"desiredState": "Active", "image": image, "revision": 1});
    vec![create(REVISIONS, json!({"metadata": metadata, "spec": spec}))]
}

/// What the package manager finds in a package.
fn status(revision: &str, resources: &[&str], capabilities: &[&str]) -> Vec<Action> {
    let refs: Vec<Value> = resources
        .iter()
        .map(|name| json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": name}))
        .collect();
    let status = json!({"status": {"objectRefs": refs, "capabilities": capabilities}});
    vec![patch(format!("{REVISIONS}/{revision}/status"), status)]
}

fn deployment(name: &str, revision: &str, account: &str) -> Value {
    let owner = json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": revision,
        "uid": format!("uid of {REVISIONS}/{revision}"), "controller": true, "blockOwnerDeletion": true});
    let labels = json!({"pkg.crossplane.io/revision": revision});
    json!({"metadata": {"name": name, "ownerReferences": [owner]}, "spec": {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": account,
            "containers": [{"name": "main", "image": "example.org/provider:v1"}]}}}})
}
