//! Objects of a world, tersely.

use rolewright_plan::Name;
use serde_json::{Value, json};

pub(super) use crate::cluster::uid;

fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } })
}

/// `widgets.example.org` defines `widgets` of `example.org`.
pub(super) fn xrd(name: &str) -> Value {
    let (plural, group) = name.split_once('.').unwrap();
    let mut xrd = object("apiextensions.crossplane.io/v1", "CompositeResourceDefinition", name);
    xrd["spec"] = json!({ "group": group, "names": { "plural": plural, "kind": "X" } });
    xrd
}

/// The same, offered as claims.
pub(super) fn claimed(name: &str, claims: &str) -> Value {
    let mut xrd = xrd(name);
    xrd["spec"]["claimNames"] = json!({ "plural": claims, "kind": "C" });
    xrd
}

/// An active revision that lists these definitions of resources.
pub(super) fn revision(name: &str, crds: &[&str]) -> Value {
    let mut revision = object("pkg.crossplane.io/v1", "ProviderRevision", name);
    let package = name.rsplit_once('-').map_or(name, |(package, _)| package);
    revision["metadata"]["labels"] = json!({ "pkg.crossplane.io/package": package });
    revision["spec"] = json!({ "desiredState": "Active", "image": format!("xpkg.example.org/acme/{package}:v1") });
    let refs: Vec<Value> =
        crds.iter().map(|name| crd_ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)).collect();
    revision["status"] = json!({ "objectRefs": refs });
    revision
}

pub(super) fn crd_ref(api_version: &str, kind: &str, name: &str) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "name": name })
}

pub(super) fn inactive(mut revision: Value) -> Value {
    revision["spec"]["desiredState"] = json!("Inactive");
    revision
}

pub(super) fn family(mut revision: Value, family: &str) -> Value {
    revision["metadata"]["labels"]["pkg.crossplane.io/provider-family"] = json!(family);
    revision
}

pub(super) fn image(mut revision: Value, image: &str) -> Value {
    revision["spec"]["image"] = json!(image);
    revision
}

pub(super) fn crd(name: &str) -> Value {
    object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
}

pub(super) fn mrd(name: &str) -> Value {
    object("apiextensions.crossplane.io/v1alpha1", "ManagedResourceDefinition", name)
}

pub(super) fn account(namespace: &str, name: &str) -> Value {
    let mut account = object("v1", "ServiceAccount", name);
    account["metadata"]["namespace"] = json!(namespace);
    account
}

/// A deployment that runs as an account.
pub(super) fn deployment(namespace: &str, name: &str, account: &str) -> Value {
    let mut deployment = object("apps/v1", "Deployment", name);
    deployment["metadata"]["namespace"] = json!(namespace);
    deployment["spec"] = json!({ "template": { "spec": { "serviceAccountName": account } } });
    deployment
}

/// An object that a revision owns.
pub(super) fn owned(mut object: Value, revision: &str, controller: bool) -> Value {
    object["metadata"]["ownerReferences"] = json!([owner("ProviderRevision", revision, controller)]);
    object
}

pub(super) fn controlled(object: Value, revision: &str) -> Value {
    owned(object, revision, true)
}

pub(super) fn owner(kind: &str, name: &str, controller: bool) -> Value {
    let api_version = match kind {
        "ProviderRevision" => "pkg.crossplane.io/v1",
        "CompositeResourceDefinition" => "apiextensions.crossplane.io/v1",
        _ => "v1",
    };
    json!({ "apiVersion": api_version, "kind": kind, "name": name, "uid": uid(kind, name), "controller": controller })
}

/// A revision with the deployment of its account, where providers run.
pub(super) fn running(revision: Value) -> [Value; 2] {
    let name = revision["metadata"]["name"].as_str().unwrap().to_owned();
    [revision, controlled(deployment("crossplane-system", &name, &name), &name)]
}

pub(super) fn namespace(name: &str, annotations: &[(&str, &str)]) -> Value {
    let mut namespace = object("v1", "Namespace", name);
    let pairs = annotations.iter().map(|(key, value)| (format!("rbac.crossplane.io/{key}"), json!(value)));
    namespace["metadata"]["annotations"] = pairs.collect::<serde_json::Map<_, _>>().into();
    namespace
}

pub(super) fn annotated(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["annotations"][key] = json!(value);
    object
}

pub(super) fn labelled(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["labels"][key] = json!(value);
    object
}

pub(super) fn deleting(mut object: Value) -> Value {
    object["metadata"]["deletionTimestamp"] = json!("2026-11-16T00:00:00Z");
    object
}

/// A role with a rule for each of `verbs groups resources`, each a list with commas; `core` is the core group.
pub(super) fn role(name: &str, rules: &[&str]) -> Value {
    let mut role = object("rbac.authorization.k8s.io/v1", "ClusterRole", name);
    role["rules"] = rules.iter().map(|text| json!(rule(text))).collect();
    role
}

/// `get,list core pods,secrets`.
pub(super) fn rule(text: &str) -> rolewright_core::Rule {
    let words: Vec<Vec<Name>> = text
        .split(' ')
        .map(|list| {
            list.split(',').map(|word| if word == "core" { Name::default() } else { Name::new(word) }).collect()
        })
        .collect();
    let [verbs, api_groups, resources] = words.try_into().unwrap();
    let verbs = verbs.into_iter().flat_map(|verb| match verb.as_str() {
        "V" => ["get", "list", "watch"].map(Name::new).to_vec(),
        _ => vec![verb],
    });
    rolewright_core::Rule {
        verbs: verbs.collect(),
        api_groups: api_groups.into(),
        resources: resources.into(),
        ..rolewright_core::Rule::default()
    }
}

pub(super) fn rules(texts: &[&str]) -> Vec<rolewright_core::Rule> {
    texts.iter().map(|text| rule(text)).collect()
}

/// A binding of a user to a ClusterRole, in the whole cluster or in a namespace.
pub(super) fn bound(user: &str, namespace: &str, role: &str) -> Value {
    let kind = if namespace.is_empty() { "ClusterRoleBinding" } else { "RoleBinding" };
    let mut binding = object("rbac.authorization.k8s.io/v1", kind, &format!("{user}-{role}"));
    if !namespace.is_empty() {
        binding["metadata"]["namespace"] = json!(namespace);
    }
    binding["roleRef"] = json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role });
    binding["subjects"] = json!([{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }]);
    binding
}

/// One user for each role that people are bound to, of the same name.
pub(super) fn people() -> [Value; 4] {
    ["admin", "edit", "view", "browse"].map(|role| bound(role, "", &format!("crossplane-{role}")))
}
