//! From nothing to a manager that works, by what it prints itself.

use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};
use rolewright_api::manifest;
use serde_json::{Value, json};

use crate::place::{Place, ROLES, gathered, gathering, numbered};
use crate::process::Manager;

/// Everything that `manifests rbac` prints, applied in that order, is enough for the manager to lead and to write.
pub(crate) async fn one_go(place: &Place) -> Result<()> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
    let printed =
        command.args(["manifests", "rbac", "--modules", "aggregation", "--aggregation", "exclusive"]).output()?;
    ensure!(printed.status.success(), "{printed:?}");
    let manifests = manifest::read("printed", &printed.stdout).map_err(|problems| anyhow!("{problems:?}"))?;
    for manifest in manifests {
        place.apply_manifest(&manifest.object).await?;
    }
    place.role("in-one-go", gathering("in-one-go")).await?;
    place.role("in-one-go-part", gathered("in-one-go-part", "in-one-go", 1)).await?;
    let account = place.kubeconfig(Some("system:serviceaccount:rolewright-system:rolewright"))?;
    let manager = Manager::start(&account, &["--lease-namespace", "rolewright-system"])?;
    let path = format!("{ROLES}/in-one-go");
    place.until("the first rules", &path, |role| role["rules"] == numbered(1)).await?;
    manager.until("/readyz", 200).await?;

    // Somebody changes what is ours.
    place
        .role("in-one-go", json!({"aggregationRule": gathering("in-one-go")["aggregationRule"], "rules": numbered(9)}))
        .await?;
    place.until("the rules again", &path, |role| role["rules"] == numbered(1)).await?;
    let (_, metrics) = manager.ask("/metrics").await?;
    for line in metrics.lines().filter(|line| line.starts_with("rolewright_engine_lag_seconds_")) {
        if line.contains("_sum{") || line.contains("_count{") || line.contains("le=\"1.0\"") {
            println!("  {line}");
        }
    }
    manager.end_well().await?;

    let leases = "/apis/coordination.k8s.io/v1/namespaces/rolewright-system/leases";
    let ours = place.get(&format!("{leases}?labelSelector=app.kubernetes.io/managed-by=rolewright")).await?;
    let ours = ours.context("leases can be listed")?;
    let names: Vec<&Value> =
        ours["items"].as_array().into_iter().flatten().map(|lease| &lease["metadata"]["name"]).collect();
    ensure!(names == ["rolewright"], "{ours:#}");
    Ok(())
}

impl Place {
    pub(crate) async fn apply_manifest(&self, object: &Value) -> Result<()> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let version = text(&object["apiVersion"]).context("a version")?;
        let plural = format!("{}s", text(&object["kind"]).context("a kind")?.to_lowercase());
        let name = text(&object["metadata"]["name"]).context("a name")?;
        let root = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
        let scope = text(&object["metadata"]["namespace"]).map(|namespace| format!("/namespaces/{namespace}"));
        self.apply(&format!("{root}{}/{plural}/{name}", scope.unwrap_or_default()), object).await
    }
}
