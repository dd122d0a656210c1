//! The finalizer of syncs is Config Sync's own: where its manager runs, uninstalling ours takes none away.

use anyhow::{Result, ensure};
use rolewright_api::crds;
use serde_json::{Value, json};

use crate::place::Place;
use crate::uninstalling::{said, uninstall};

const HOME: &str = "config-management-system";
const FINALIZER: &str = "configsync.gke.io/reconciler-manager";

pub(crate) async fn beside_config_sync(place: &Place) -> Result<()> {
    for definition in crds::config_sync() {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        place.apply(&path, &definition).await?;
        place.until("a definition", &path, is_established).await?;
    }
    let home = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}});
    place.apply(&format!("/api/v1/namespaces/{HOME}"), &home).await?;
    let sync = format!("/apis/configsync.gke.io/v1beta1/namespaces/{HOME}/rootsyncs/held");
    let held = json!({"apiVersion": "configsync.gke.io/v1beta1", "kind": "RootSync", "spec": {},
        "metadata": {"name": "held", "namespace": HOME, "finalizers": [FINALIZER]}});
    place.apply(&sync, &held).await?;
    let manager = format!("/apis/apps/v1/namespaces/{HOME}/deployments/reconciler-manager");
    place.apply(&manager, &reconciler_manager(1)).await?;

    let beside = uninstall(place, &["--access", "revoke"])?;
    let left =
        "Deployment/config-management-system/reconciler-manager runs, so the finalizers of syncs are left to it: 1";
    ensure!(beside.status.success() && said(&beside).contains(left), "{beside:?}");
    ensure!(finalizers(place, &sync).await? == json!([FINALIZER]), "{beside:?}");

    place.apply(&manager, &reconciler_manager(0)).await?;
    let alone = uninstall(place, &["--access", "revoke"])?;
    ensure!(alone.status.success() && said(&alone).contains("release RootSync/"), "{alone:?}");
    ensure!(finalizers(place, &sync).await? == Value::Null, "{alone:?}");
    Ok(())
}

fn is_established(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|known| known["type"] == "Established" && known["status"] == "True")
}

fn reconciler_manager(replicas: u8) -> Value {
    let labels = json!({"app": "reconciler-manager"});
    let pod = json!({"containers": [{"name": "manager", "image": "example.org/manager"}]});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "reconciler-manager", "namespace": HOME},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod}}})
}

async fn finalizers(place: &Place, sync: &str) -> Result<Value> {
    Ok(place.get(sync).await?.unwrap_or_default()["metadata"]["finalizers"].clone())
}
