//! Seed 002: one labelled role beside a CRD extends admin, edit and view.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::place::{Place, rbac, with};

fn etcd(verbs: &[&str]) -> Value {
    json!({"apiGroups": ["etcd.database.coreos.com"], "resources": ["etcdclusters"], "verbs": verbs})
}

fn has(role: &Value, rule: &Value) -> bool {
    role["rules"].as_array().is_some_and(|rules| rules.contains(rule))
}

fn aggregated(name: &str, label: &str) -> Value {
    let selector = json!({"matchLabels": {label: "true"}});
    with(rbac("ClusterRole", name), json!({"aggregationRule": {"clusterRoleSelectors": [selector]}}))
}

fn labelled(name: &str, label: &str, rules: &Value) -> Value {
    with(rbac("ClusterRole", name), json!({"metadata": {"labels": {label: "true"}}, "rules": rules}))
}

/// The payoff: admin, edit and view follow a role that comes and goes.
pub(crate) async fn story(place: &Place) -> Result<()> {
    let manager = place.manage();
    let admin = rbac("ClusterRole", "admin");
    let to_admin = "rbac.authorization.k8s.io/aggregate-to-admin";
    let before =
        place.until("admin", &admin, |admin| admin["rules"].as_array().is_some_and(|rules| !rules.is_empty())).await?;
    let operator = labelled("etcd-operator-admin", to_admin, &json!([etcd(&["*"])]));
    place.apply(&operator).await?;
    let with_etcd = place.until("admin with etcd", &admin, |admin| has(admin, &etcd(&["*"]))).await?;
    ensure!(with_etcd["metadata"]["labels"] == before["metadata"]["labels"], "only rules are ours");
    let writers: Vec<&Value> = with_etcd["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|entry| entry["fieldsV1"].get("f:rules").is_some())
        .collect();
    ensure!(
        writers.len() == 1
            && writers.iter().all(|entry| {
                entry["manager"] == "clusterrole-aggregation-controller" && entry["operation"] == "Apply"
            }),
        "{writers:#?}"
    );
    place.delete(&operator).await?;
    let after = place.until("admin without etcd", &admin, |admin| !has(admin, &etcd(&["*"]))).await?;
    ensure!(after["rules"] == before["rules"], "deleting the role undoes it");
    manager.end().await
}

/// What Kubernetes' controller gets wrong: an empty union, a cycle.
pub(crate) async fn better(place: &Place) -> Result<()> {
    let manager = place.manage();
    // A: hand-written rules of a role that selects nothing go.
    let empty = aggregated("agg-empty", "agg-nothing");
    place.apply(&with(empty.clone(), json!({"rules": [etcd(&["get"])]}))).await?;
    place.until("no rules", &empty, |role| role["rules"].as_array().is_none_or(Vec::is_empty)).await?;

    // B: a circle does not keep what was revoked.
    let leaf = labelled("agg-leaf", "agg-a", &json!([etcd(&["get"])]));
    let a = with(aggregated("agg-circle-a", "agg-a"), json!({"metadata": {"labels": {"agg-b": "true"}}}));
    let b = with(aggregated("agg-circle-b", "agg-b"), json!({"metadata": {"labels": {"agg-a": "true"}}}));
    for object in [&leaf, &a, &b] {
        place.apply(object).await?;
    }
    place.until("the rule in the circle", &b, |role| has(role, &etcd(&["get"]))).await?;
    place.delete(&leaf).await?;
    for object in [&a, &b] {
        place.until("no rule in the circle", object, |role| !has(role, &etcd(&["get"]))).await?;
    }
    // Somebody who writes rules into an aggregated role sees them go.
    let written = with(a.clone(), json!({"rules": [etcd(&["delete"])]}));
    place.apply(&written).await?;
    place.until("only what is gathered", &a, |role| !has(role, &etcd(&["delete"]))).await?;
    place.get(&b).await?.context("it stays")?;
    manager.end().await
}
