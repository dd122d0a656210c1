//! Aggregated cluster roles, one of another, while labels come and go.

use anyhow::Result;
use serde_json::{Value, json};

use super::{RBAC, done, plain, seen};
use crate::servers::Home;

fn role(name: &str, labels: &Value, rest: Value) -> Value {
    let mut role = rest;
    role["metadata"] = json!({"name": name, "labels": labels});
    role
}

fn rules(resources: &[&str]) -> Value {
    resources.iter().map(|name| json!({"apiGroups": [""], "resources": [name], "verbs": ["get"]})).collect()
}

fn of(label: &str) -> Value {
    json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]}})
}

pub(super) async fn play(home: &Home) -> Result<Vec<(String, Value)>> {
    let roles = format!("{RBAC}/clusterroles");
    let at = |name: &str| format!("{roles}/{name}");
    let has = |resources: &'static [&'static str]| {
        move |role: &Value| {
            if resources.is_empty() { role["rules"].is_null() } else { role["rules"] == rules(resources) }
        }
    };
    let mut states = Vec::new();
    for object in [
        role("agg-inner", &json!({"to-outer": "true"}), of("to-inner")),
        role("agg-outer", &json!({}), of("to-outer")),
        role("agg-one", &json!({"to-inner": "true"}), json!({"rules": rules(&["pods"])})),
        role("agg-two", &json!({}), json!({"rules": rules(&["services"])})),
        role("agg-three", &json!({"to-outer": "true"}), json!({"rules": rules(&["secrets"])})),
    ] {
        done(home, "POST", &roles, Some(object)).await?;
    }
    seen(home, &at("agg-inner"), 200, has(&["pods"])).await?;
    states.push(("nested".to_owned(), plain(&seen(home, &at("agg-outer"), 200, has(&["pods", "secrets"])).await?)));

    let label = |label: &str, value: Value| Some(json!({"metadata": {"labels": {label: value}}}));
    done(home, "PATCH", &at("agg-two"), label("to-inner", json!("true"))).await?;
    seen(home, &at("agg-outer"), 200, has(&["pods", "services", "secrets"])).await?;
    states.push((
        "a label comes".to_owned(),
        plain(&seen(home, &at("agg-inner"), 200, has(&["pods", "services"])).await?),
    ));

    done(home, "PATCH", &at("agg-one"), label("to-inner", Value::Null)).await?;
    states.push((
        "a label goes".to_owned(),
        plain(&seen(home, &at("agg-outer"), 200, has(&["services", "secrets"])).await?),
    ));

    done(home, "PATCH", &at("agg-two"), Some(json!({"rules": rules(&["nodes"])}))).await?;
    states.push((
        "a source changes".to_owned(),
        plain(&seen(home, &at("agg-outer"), 200, has(&["nodes", "secrets"])).await?),
    ));

    done(home, "PATCH", &at("agg-inner"), Some(json!({"rules": rules(&["everything"])}))).await?;
    states.push((
        "rules by hand are undone".to_owned(),
        plain(&seen(home, &at("agg-inner"), 200, has(&["nodes"])).await?),
    ));

    done(home, "DELETE", &at("agg-three"), None).await?;
    states.push(("a source goes".to_owned(), plain(&seen(home, &at("agg-outer"), 200, has(&["nodes"])).await?)));

    done(home, "PATCH", &at("agg-outer"), Some(of("nobody"))).await?;
    let admin =
        seen(home, &at("admin"), 200, |role| role["rules"].as_array().is_some_and(|rules| rules.len() > 20)).await?;
    states.push(("admin".to_owned(), admin["rules"].clone()));
    let view =
        seen(home, &at("view"), 200, |role| role["rules"].as_array().is_some_and(|rules| rules.len() > 5)).await?;
    states.push(("view".to_owned(), view["rules"].clone()));
    Ok(states)
}
