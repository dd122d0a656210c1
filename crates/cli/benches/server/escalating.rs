//! A role that its author may create only because they hold every rule of it.

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::creating;
use crate::process::Running;

const BINDINGS: usize = 10_000;
const ROLES: u32 = 200;
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Microseconds for one role, with 10,000 bindings that say nothing of its author beside the one that does.
pub(crate) async fn role(server: &Running) -> Result<f64> {
    let binding = |i: usize| {
        json!({
            "metadata": {"name": format!("user-{i:05}")},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": format!("component-{i:05}")},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": format!("user-{i:05}")}],
        })
    };
    creating::all(server, &format!("{RBAC}/clusterrolebindings"), BINDINGS, binding).await?;
    let mut admin = server.connect().await?;
    admin.create("/api/v1/namespaces", &json!({"metadata": {"name": "shop"}})).await?;
    admin.create("/api/v1/namespaces/shop/serviceaccounts", &json!({"metadata": {"name": "lead"}})).await?;
    let rights = json!({"metadata": {"name": "lead"}, "rules": [
        {"apiGroups": ["", "apps"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]},
    ]});
    admin.create(&format!("{RBAC}/clusterroles"), &rights).await?;
    let lead = json!({
        "metadata": {"name": "lead"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "lead"},
        "subjects": [{"kind": "ServiceAccount", "name": "lead", "namespace": "shop"}],
    });
    admin.create(&format!("{RBAC}/namespaces/shop/rolebindings"), &lead).await?;
    let token = admin.create("/api/v1/namespaces/shop/serviceaccounts/lead/token", &json!({})).await?;
    let token: Value = serde_json::from_slice(&token)?;
    let token = token.pointer("/status/token").and_then(Value::as_str).context("the token")?;

    let mut lead = server.connect_as(token).await?;
    let path = format!("{RBAC}/namespaces/shop/roles");
    let role = |name: String| {
        json!({"metadata": {"name": name}, "rules": [
            {"apiGroups": [""], "resources": ["configmaps", "services"], "verbs": ["get", "create", "delete"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list", "watch", "patch"]},
        ]})
    };
    // The real server's authorizer hears of the binding a moment later.
    let deadline = Instant::now() + std::time::Duration::from_secs(20);
    while let Err(refused) = lead.create(&path, &role("first".into())).await {
        anyhow::ensure!(Instant::now() < deadline, "{refused}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let began = Instant::now();
    for i in 0..ROLES {
        lead.create(&path, &role(format!("role-{i}"))).await?;
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(ROLES))
}
