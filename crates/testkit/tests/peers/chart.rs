//! What Crossplane's Helm chart installs beside its manager: the roles that people and Crossplane are bound to.

use anyhow::Result;
use serde_json::{Value, json};

use crate::RBAC;
use crate::servers::{Home, JSON};
use crate::world::{HOME, SHOP, people};

const VIEW: [&str; 3] = ["get", "list", "watch"];
const WRITE: [&str; 7] = ["get", "list", "watch", "create", "update", "patch", "delete"];
const ALL: [&str; 1] = ["*"];

/// The role that the chart passes to the manager, and that nothing aggregates to.
pub(crate) const BOUNDARY: &str = "crossplane:allowed-provider-permissions";

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

/// Marked as of a release.
fn metadata(name: &str, labels: &Value) -> Value {
    let mut metadata = json!({"name": name, "labels": labels,
        "annotations": {"meta.helm.sh/release-name": "crossplane", "meta.helm.sh/release-namespace": HOME}});
    metadata["labels"]["app.kubernetes.io/managed-by"] = "Helm".into();
    metadata
}

fn aggregated(name: &str, label: &str) -> Value {
    let key = format!("rbac.crossplane.io/aggregate-to-{label}");
    json!({"metadata": metadata(name, &json!({})),
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {key: "true"}}]}, "rules": []})
}

fn base(name: &str, label: &str, rules: &[Value]) -> Value {
    let key = format!("rbac.crossplane.io/aggregate-to-{label}");
    json!({"metadata": metadata(name, &json!({key: "true"})), "rules": rules})
}

fn roles() -> Vec<Value> {
    let events = rule(&[""], &["events"], &VIEW);
    let all_groups =
        ["apiextensions", "pkg", "secrets", "protection", "ops"].map(|name| format!("{name}.crossplane.io"));
    let all_groups: Vec<&str> = all_groups.iter().map(String::as_str).collect();
    let core = vec![
        rule(&[""], &["events"], &["create", "update", "patch", "delete"]),
        rule(&["apiextensions.k8s.io"], &["customresourcedefinitions", "customresourcedefinitions/status"], &ALL),
        rule(&[""], &["secrets"], &WRITE),
        rule(&[""], &["serviceaccounts", "services"], &ALL),
        rule(
            &["apiextensions.crossplane.io", "ops.crossplane.io", "pkg.crossplane.io", "protection.crossplane.io"],
            &["*"],
            &ALL,
        ),
        rule(&["extensions", "apps"], &["deployments"], &WRITE),
        rule(&["", "coordination.k8s.io"], &["configmaps", "leases"], &WRITE),
        rule(
            &["admissionregistration.k8s.io"],
            &["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
            &WRITE,
        ),
    ];
    let admin = vec![
        events.clone(),
        rule(&[""], &["secrets", "namespaces"], &ALL),
        rule(&["rbac.authorization.k8s.io"], &["clusterroles", "roles"], &VIEW),
        rule(&["rbac.authorization.k8s.io"], &["clusterrolebindings", "rolebindings"], &ALL),
        rule(&all_groups, &["*"], &ALL),
        rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], &VIEW),
    ];
    let edit = vec![
        events.clone(),
        rule(&[""], &["secrets"], &ALL),
        rule(&[""], &["namespaces"], &VIEW),
        rule(&all_groups, &["*"], &ALL),
    ];
    let view = vec![events.clone(), rule(&[""], &["namespaces"], &VIEW), rule(&all_groups, &["*"], &VIEW)];
    let browse = vec![events, rule(&["apiextensions.crossplane.io"], &["*"], &VIEW)];
    let mut roles = vec![
        aggregated("crossplane", "crossplane"),
        base("crossplane:system:aggregate-to-crossplane", "crossplane", &core),
        aggregated(BOUNDARY, "allowed-provider-permissions"),
    ];
    for (role, rules) in [("admin", admin), ("edit", edit), ("view", view), ("browse", browse)] {
        roles.push(aggregated(&format!("crossplane-{role}"), role));
        roles.push(base(&format!("crossplane:aggregate-to-{role}"), role, &rules));
    }
    roles
}

fn role_ref(name: &str) -> Value {
    json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name})
}

/// Installs it.
pub(crate) async fn install(home: &Home) -> Result<()> {
    for role in roles() {
        home.done("POST", &format!("{RBAC}/clusterroles"), JSON, role.to_string().into_bytes()).await?;
    }
    let core = json!([{"kind": "ServiceAccount", "name": "crossplane", "namespace": HOME}]);
    let masters = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "crossplane:masters"}]);
    for (name, subjects) in [("crossplane", core), ("crossplane-admin", masters)] {
        let binding = json!({"metadata": metadata(name, &json!({})), "roleRef": role_ref(name), "subjects": subjects});
        home.done("POST", &format!("{RBAC}/clusterrolebindings"), JSON, binding.to_string().into_bytes()).await?;
    }
    Ok(())
}

/// Binds one user to each role of people, and two to those of a namespace. They are named after their role.
pub(crate) async fn bind(home: &Home) -> Result<()> {
    let user = |name: &str| json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]);
    for name in people() {
        let binding =
            json!({"metadata": {"name": format!("the-{name}")}, "roleRef": role_ref(name), "subjects": user(name)});
        home.done("POST", &format!("{RBAC}/clusterrolebindings"), JSON, binding.to_string().into_bytes()).await?;
    }
    for role in ["edit", "view"] {
        let name = format!("crossplane-ns-{SHOP}-{role}");
        let binding = json!({"metadata": {"name": name}, "roleRef": role_ref(&name), "subjects": user(&name)});
        let path = format!("{RBAC}/namespaces/{SHOP}/rolebindings");
        home.done("POST", &path, JSON, binding.to_string().into_bytes()).await?;
    }
    Ok(())
}
