//! Roles that a Helm release owns stay as its chart has them.

use anyhow::{Result, ensure};
use rolewright_plan::crossplane::Settings;
use rolewright_testkit::manifest::{rbac, with};
use serde_json::{Value, json};

use crate::matrix::Question;
use crate::place::{Place, manage};

const ROLES: [&str; 5] = ["crossplane", "crossplane-admin", "crossplane-edit", "crossplane-view", "crossplane-browse"];

fn of_a_release(object: Value) -> Value {
    let metadata = json!({"labels": {"app.kubernetes.io/managed-by": "Helm"},
        "annotations": {"meta.helm.sh/release-name": "crossplane", "meta.helm.sh/release-namespace": "crossplane-system"}});
    with(object, json!({"metadata": metadata}))
}

/// What Crossplane's chart installs.
fn chart() -> Vec<Value> {
    let mut all = Vec::new();
    for role in ROLES {
        let short = role.strip_prefix("crossplane-").unwrap_or(role);
        let label = format!("rbac.crossplane.io/aggregate-to-{short}");
        let gathers = json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {&label: "true"}}]}});
        all.push(of_a_release(with(rbac("ClusterRole", role), gathers)));
        let base =
            if short == role { "system:aggregate-to-crossplane".to_owned() } else { format!("aggregate-to-{short}") };
        let rule = json!({"apiGroups": ["pkg.crossplane.io"], "resources": ["*"], "verbs": ["get"]});
        let fields = json!({"metadata": {"labels": {label: "true"}}, "rules": [rule]});
        all.push(of_a_release(with(rbac("ClusterRole", &format!("crossplane:{base}")), fields)));
    }
    let subject = json!({"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "helms-admins"});
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "crossplane-admin"});
    all.push(of_a_release(with(
        rbac("ClusterRoleBinding", "crossplane-admin"),
        json!({"roleRef": role, "subjects": [subject]}),
    )));
    all
}

/// A chart comes between, and the manager after it leaves alone what the chart has; then the chart goes.
pub(crate) async fn left_alone(place: &Place, settings: &Settings) -> Result<()> {
    for object in chart() {
        if place.get(&object).await?.is_some() {
            place.delete(&object).await?;
            place.until_gone(&object).await?;
        }
        place.apply(&object).await?;
    }
    let manager = manage(place, settings)?;
    manager.rest().await?;
    for object in chart() {
        let found = place.get(&object).await?.unwrap_or_default();
        let touched = found["metadata"]["managedFields"].as_array().into_iter().flatten();
        let touched: Vec<&Value> = touched.filter(|entry| entry["manager"] == "rolewright").collect();
        ensure!(touched.is_empty() && found["metadata"]["labels"] == object["metadata"]["labels"], "{found:#}");
    }
    for (subject, text, expected) in [
        ("edit", "create xdatabases.acme.io", true),
        ("edit", "create providers.pkg.crossplane.io", false),
        ("view", "get releases.helm.example.org", true),
        ("core", "update xdatabases.acme.io/finalizers", true),
        ("admin", "get xdatabases.acme.io", false),
        ("t1e", "create databases.acme.io in team-1", true),
    ] {
        Question::new(subject, text).until(place, expected).await?;
    }
    // What nobody owns any more is made anew.
    for object in chart() {
        place.delete(&object).await?;
    }
    crate::story::said(place, "renamed").await?;
    manager.end().await
}
