//! A world of roles that gather others: one role changes among many, and all that gather it follow.

use serde_json::{Value, json};

/// Where they are created.
pub const PATH: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
/// The role that changes.
pub const CHANGED: &str = "component-0007";
/// The roles that gather it: the one with everything, and the namespace that selects it.
pub const FOLLOWERS: [&str; 2] = ["all", "ns-002-edit"];

const COMPONENTS: usize = 2_000;
const NAMESPACES: usize = 500;

/// The role that changes, with this verb among others.
pub fn changed(verb: &str) -> Value {
    component(7, verb)
}

fn component(i: usize, verb: &str) -> Value {
    let group = format!("g{}.acme.io", i % 40);
    json!({
        "metadata": {"name": format!("component-{i:04}"), "labels": {"aggregate-to-all": "true", "xrd": i.to_string()}},
        "rules": [
            {"apiGroups": [group], "resources": [format!("xr{i}"), format!("claim{i}")], "verbs": ["get", "list", verb]},
            {"apiGroups": [group], "resources": [format!("xr{i}/status"), format!("claim{i}/status")], "verbs": ["get", "list", "watch"]},
        ],
    })
}

fn gathering(name: &str, labels: &[(&str, String)]) -> Value {
    let selectors: Vec<Value> = labels.iter().map(|(key, value)| json!({"matchLabels": {*key: value}})).collect();
    json!({"metadata": {"name": name}, "aggregationRule": {"clusterRoleSelectors": selectors}, "rules": []})
}

/// A role for each XRD as Crossplane's manager writes them, a role for each namespace with a base and three of them, and one
/// with everything.
pub fn world() -> Vec<Value> {
    let base = json!({"metadata": {"name": "base", "labels": {"base": "true"}},
        "rules": [{"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["get", "list", "watch"]}]});
    let namespace = |i: usize| {
        let xrd = |k: usize| ("xrd", ((i * 3 + k) % COMPONENTS).to_string());
        gathering(&format!("ns-{i:03}-edit"), &[("base", "true".into()), xrd(0), xrd(1), xrd(2)])
    };
    let all = gathering("all", &[("aggregate-to-all", "true".into())]);
    let components = (0..COMPONENTS).map(|i| component(i, "watch"));
    components.chain([base]).chain((0..NAMESPACES).map(namespace)).chain([all]).collect()
}

/// Whether a role gathers others.
pub fn is_gathering(name: &str) -> bool {
    name == "all" || name.starts_with("ns-")
}

/// Whether a role shows this verb of the one that changed.
pub fn has(role: &Value, verb: &str) -> bool {
    let rules = role.get("rules").and_then(Value::as_array).into_iter().flatten();
    let of_seven = |rule: &&Value| rule.pointer("/resources/0").is_some_and(|first| first == "xr7");
    rules.filter(of_seven).any(|rule| {
        rule.get("verbs").and_then(Value::as_array).is_some_and(|verbs| verbs.iter().any(|held| held == verb))
    })
}
