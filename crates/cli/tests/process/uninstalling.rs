//! The manager goes: by its own command, and never while it runs.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::PATIENCE;
use crate::place::{Place, ROLES};
use crate::platform::{MODULES, everybody_may, nobody_may};
use crate::process::Manager;

const LABEL: &str = "app.kubernetes.io/managed-by";

/// Keeps everybody's access and removes the manager, then takes back what was kept; nobody else's object goes with it.
pub(crate) async fn away(place: &Place) -> Result<()> {
    let labelled = json!({"metadata": {"labels": {LABEL: "rolewright"}}, "rules": []});
    place.role("copied-label", labelled.clone()).await?;
    place.made_by_manager("made-by-manager").await?;
    let account = place.kubeconfig(None)?;
    let manager = Manager::start_modules(MODULES, &account, &["--lease-namespace", "rolewright-system"])?;
    manager.says("leading").await?;
    everybody_may(place).await?;
    let refused = uninstall(place, &["--access", "keep"])?;
    ensure!(refused.status.code() == Some(4) && said(&refused).contains("a manager still runs"), "{refused:?}");
    manager.end_well().await?;

    let dry = uninstall(place, &["--access", "revoke", "--dry-run"])?;
    for gone in ["ClusterRole/made-by-manager", "ServiceAccount/rolewright-system/rolewright"] {
        ensure!(dry.status.success() && said(&dry).contains(&format!("delete {gone}")), "{dry:?}");
    }
    ensure!(place.exists("made-by-manager").await?, "nothing is written by a dry run");

    let kept = uninstall(place, &["--access", "keep"])?;
    ensure!(kept.status.success() && said(&kept).contains("the access that it gave stays"), "{kept:?}");
    ensure!(place.exists("made-by-manager").await? && !place.exists("rolewright").await?, "{kept:?}");
    let leases = "/apis/coordination.k8s.io/v1/namespaces/rolewright-system/leases/rolewright";
    ensure!(place.get(leases).await?.is_none(), "the lease is gone");
    everybody_may(place).await?;

    // Crossplane's manager has its job back: what it keeps itself is not ours to take.
    place.peer_holds("crossplane-1").await?;
    let left = uninstall(place, &["--access", "revoke"])?;
    ensure!(left.status.success() && said(&left).contains("`crossplane-1` runs, so what it keeps itself"), "{left:?}");
    for (role, stays) in [
        ("crossplane:composite:databases.acme.io:aggregate-to-edit", true),
        ("crossplane-ns-shop-edit", false),
        ("made-by-manager", false),
    ] {
        ensure!(place.exists(role).await? == stays, "{role}: {left:?}");
    }
    place.peer_holds("").await?;

    let revoked = uninstall(place, &["--access", "revoke"])?;
    ensure!(revoked.status.success(), "{revoked:?}");
    nobody_may(place).await?;
    ensure!(place.exists("copied-label").await?, "a label alone does not make it ours");
    let nothing = uninstall(place, &["--access", "revoke"])?;
    ensure!(nothing.status.success() && said(&nothing).contains("there is nothing of the manager"), "{nothing:?}");
    Ok(())
}

/// What Kubernetes' controller makes anew while it goes, goes as often as that happens.
pub(crate) async fn coming_back(place: &Place) -> Result<()> {
    place.made_by_manager("comes-back").await?;
    let uninstalled = tokio::task::spawn_blocking({
        let kubeconfig = place.kubeconfig(None)?;
        move || uninstall_with(&kubeconfig, &["--access", "revoke"])
    });
    for round in 0..3 {
        let start = Instant::now();
        while place.exists("comes-back").await? {
            ensure!(start.elapsed() < PATIENCE, "it is there still, after it came back {round} times");
            sleep(Duration::from_millis(10)).await;
        }
        place.applied_by("clusterrole-aggregation-controller", "comes-back", &json!({})).await?;
    }
    let revoked = uninstalled.await??;
    ensure!(revoked.status.success() && !place.exists("comes-back").await?, "{revoked:?}");
    Ok(())
}

pub(crate) fn uninstall(place: &Place, arguments: &[&str]) -> Result<Output> {
    uninstall_with(&place.kubeconfig(None)?, arguments)
}

fn uninstall_with(kubeconfig: &Path, arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
    command.arg("uninstall").args(arguments).arg("--kubeconfig").arg(kubeconfig);
    command.output().context("it starts")
}

pub(crate) fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

impl Place {
    /// A role as the manager makes them: with its label, and applied by it.
    async fn made_by_manager(&self, name: &str) -> Result<()> {
        self.applied_by("rolewright", name, &json!({LABEL: "rolewright"})).await
    }

    /// A role without rules.
    async fn applied_by(&self, manager: &str, name: &str, labels: &Value) -> Result<()> {
        let role: Value = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels}, "rules": [],
        });
        let path = format!("{ROLES}/{name}?fieldManager={manager}&force=true");
        let apply = "application/apply-patch+yaml";
        let (status, answer) = self.connect().await?.ask("PATCH", &path, apply, &role).await?;
        ensure!(status < 300, "{path}: {answer}");
        Ok(())
    }

    async fn exists(&self, role: &str) -> Result<bool> {
        Ok(self.get(&format!("{ROLES}/{role}")).await?.is_some())
    }
}
