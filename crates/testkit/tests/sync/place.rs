//! Servers with the kinds of Config Sync on them, and what syncs in tests name.

use anyhow::Result;
use rolewright_api::crds;
use rolewright_plan::sync::{RoleRefs, Settings};
use rolewright_testkit::manifest::{is_established, name, rbac, with};
use rolewright_testkit::place::{Place, Running};
use serde_json::{Value, json};

const SUITE: &str = "sync";
pub(crate) const HOME: &str = "config-management-system";
/// The finalizers of a sync: its reconciler's, and ours, which is also that of Config Sync's manager.
pub(crate) const RECONCILERS: &str = "configsync.gke.io/reconciler";
pub(crate) const OURS: &str = "configsync.gke.io/reconciler-manager";

pub(crate) fn bare_ours() -> Result<Place> {
    Place::embedded(SUITE, rolewright_server::Settings::default())
}

pub(crate) async fn bare_real() -> Result<Option<Place>> {
    Place::kubernetes(SUITE, &[]).await
}

/// Our server with our definitions.
pub(crate) async fn ours() -> Result<Place> {
    with_ours(bare_ours()?).await
}

/// The real server with our definitions.
pub(crate) async fn real() -> Result<Option<Place>> {
    match bare_real().await? {
        Some(place) => with_ours(place).await.map(Some),
        None => Ok(None),
    }
}

async fn with_ours(place: Place) -> Result<Place> {
    install(&place, &crds::config_sync()).await?;
    Ok(place)
}

/// A server with definitions as Config Sync has them: what is not declared is dropped, and conditions are one list.
pub(crate) async fn with_theirs(place: Place) -> Result<Place> {
    let mut definitions = crds::config_sync();
    for definition in &mut definitions {
        for version in definition["spec"]["versions"].as_array_mut().into_iter().flatten() {
            version["schema"]["openAPIV3Schema"] = their_schema();
        }
    }
    install(&place, &definitions).await?;
    Ok(place)
}

fn their_schema() -> Value {
    let text = json!({"type": "string"});
    let role_ref = json!({"type": "object", "required": ["kind", "name"],
        "properties": {"kind": {"type": "string", "enum": ["Role", "ClusterRole"]}, "name": text, "namespace": text}});
    let condition = json!({"type": "object", "required": ["status", "type"], "properties": {"commit": text,
        "lastTransitionTime": {"type": "string", "format": "date-time", "nullable": true},
        "lastUpdateTime": {"type": "string", "format": "date-time", "nullable": true},
        "message": text, "reason": text, "status": text, "type": text}});
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "git": {"type": "object", "properties": {"repo": text, "auth": text}},
            "override": {"type": "object", "nullable": true,
                "properties": {"roleRefs": {"type": "array", "items": role_ref}}}}},
        "status": {"type": "object", "properties": {
            "observedGeneration": {"type": "integer"},
            "reconciler": text,
            "conditions": {"type": "array", "items": condition}}},
    }})
}

async fn install(place: &Place, definitions: &[Value]) -> Result<()> {
    for definition in definitions {
        place.apply(definition).await?;
        place.until("a kind", definition, is_established).await?;
    }
    for name in [HOME, "shop", "bank"] {
        place.apply(&namespace(name)).await?;
    }
    let on = |resource: &str, verbs: &[&str]| json!([{"apiGroups": [""], "resources": [resource], "verbs": verbs}]);
    for (role, rules) in [
        (rbac("ClusterRole", "reader"), on("configmaps", &["list"])),
        (rbac("ClusterRole", "writer"), on("configmaps", &["create"])),
        (rbac("Role", "shop/ci"), on("secrets", &["list"])),
        (rbac("Role", "bank/ci"), on("secrets", &["list"])),
    ] {
        place.apply(&with(role, json!({"rules": rules}))).await?;
    }
    Ok(())
}

pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// Starts a manager of the roles of syncs.
pub(crate) fn manage(place: &Place) -> Result<Running> {
    manage_with(place, Settings::default())
}

/// Starts one that works like this.
pub(crate) fn manage_with(place: &Place, settings: Settings) -> Result<Running> {
    place.manage(vec![Box::new(RoleRefs::new(settings))])
}

/// A RootSync with these roles: `ClusterRole/reader`, `ClusterRole/reader@shop`, `Role/ci@shop`.
pub(crate) fn root(name: &str, refs: &[&str]) -> Value {
    let refs: Vec<Value> = refs.iter().map(|text| role_ref(text)).collect();
    json!({"apiVersion": "configsync.gke.io/v1beta1", "kind": "RootSync",
        "metadata": {"namespace": HOME, "name": name}, "spec": {"override": {"roleRefs": refs}}})
}

/// A RepoSync without roles.
pub(crate) fn repo(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "configsync.gke.io/v1beta1", "kind": "RepoSync",
        "metadata": {"namespace": namespace, "name": name}, "spec": {}})
}

/// A change of a sync's roles.
pub(crate) fn refs(refs: &[&str]) -> Value {
    json!({"spec": {"override": root("", refs)["spec"]["override"]}})
}

/// A change of a sync's finalizers.
pub(crate) fn finalizers(all: &[&str]) -> Value {
    json!({"metadata": {"finalizers": all}})
}

/// A change of a sync's annotations.
pub(crate) fn annotations(all: &Value) -> Value {
    json!({"metadata": {"annotations": all}})
}

pub(crate) fn role_ref(text: &str) -> Value {
    let (role, namespace) = text.split_once('@').map_or((text, None), |(role, namespace)| (role, Some(namespace)));
    let (kind, name) = role.split_once('/').unwrap();
    let role_ref = json!({"kind": kind, "name": name});
    namespace.map_or(role_ref.clone(), |namespace| with(role_ref, json!({"namespace": namespace})))
}

pub(crate) fn account(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": HOME, "name": name}})
}

/// The reason of our condition.
pub(crate) fn reason(sync: &Value) -> &str {
    said(sync, "reason")
}

/// The message of our condition.
pub(crate) fn message(sync: &Value) -> &str {
    said(sync, "message")
}

fn said<'a>(sync: &'a Value, field: &str) -> &'a str {
    let conditions = sync.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let mut ours = conditions.filter(|condition| condition["type"] == "PermissionsReady");
    ours.find_map(|condition| condition[field].as_str()).unwrap_or_default()
}

/// Waits until our condition of a sync has this reason.
pub(crate) async fn until(place: &Place, sync: &Value, wanted: &str) -> Result<Value> {
    let what = format!("`{}` of `{}`", wanted, name(sync));
    // The condition is of the wish as it is now.
    place
        .until(&what, sync, |sync| {
            let conditions = sync.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
            let of =
                conditions.filter(|one| one["type"] == "PermissionsReady").map(|one| one["observedGeneration"].clone());
            let is_now = of.into_iter().all(|of| of.is_null() || of == sync["metadata"]["generation"]);
            is_now && reason(sync) == wanted
        })
        .await
}
