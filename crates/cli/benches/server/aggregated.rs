//! One role changes, and every role that gathers it follows.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hyper::Method;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::creating;
use crate::process::Running;

const COMPONENTS: usize = 2_000;
const NAMESPACES: usize = 500;
const CHANGES: u32 = 5;
const PATH: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
/// The roles that gather component 7: the one with everything, and the namespace that selects it.
const FOLLOWERS: [&str; 2] = ["all", "ns-002-edit"];

fn component(i: usize, verb: &str) -> Value {
    let group = format!("g{}.acme.io", i % 40);
    json!({
        "metadata": {"name": format!("component-{i:04}"), "labels": {"aggregate-to-all": "true", "xrd": i.to_string()}},
        "rules": [
            {"apiGroups": [group], "resources": [format!("xr{i}"), format!("claim{i}")], "verbs": ["get", "list", verb]},
            {"apiGroups": [group], "resources": [format!("xr{i}/status")], "verbs": ["get", "list", "watch"]},
        ],
    })
}

fn gathering(name: &str, labels: &[(&str, String)]) -> Value {
    let selectors: Vec<Value> = labels.iter().map(|(key, value)| json!({"matchLabels": {*key: value}})).collect();
    json!({"metadata": {"name": name}, "aggregationRule": {"clusterRoleSelectors": selectors}, "rules": []})
}

/// Microseconds from sending a change of one component until it shows in every role that gathers it.
pub(crate) async fn follow(server: &Running) -> Result<f64> {
    creating::all(server, PATH, COMPONENTS, |i| component(i, "watch")).await?;
    let mut admin = server.connect().await?;
    let base = json!({"metadata": {"name": "base", "labels": {"base": "true"}},
        "rules": [{"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["get", "list", "watch"]}]});
    admin.create(PATH, &base).await?;
    creating::all(server, PATH, NAMESPACES, |i| {
        let xrd = |k: usize| ("xrd", ((i * 3 + k) % COMPONENTS).to_string());
        gathering(&format!("ns-{i:03}-edit"), &[("base", "true".into()), xrd(0), xrd(1), xrd(2)])
    })
    .await?;
    admin.create(PATH, &gathering("all", &[("aggregate-to-all", "true".into())])).await?;
    shows(&mut admin, "watch").await?;

    let mut total = Duration::ZERO;
    for change in 0..CHANGES {
        let verb = format!("verb-{change}");
        let began = Instant::now();
        admin.send(Method::PUT, &format!("{PATH}/component-0007"), &component(7, &verb)).await?;
        total += began.elapsed();
        total += shows(&mut admin, &verb).await?;
    }
    Ok(total.as_secs_f64() * 1e6 / f64::from(CHANGES))
}

/// Waits until all followers have the verb; none of the time if they had it when first asked.
async fn shows(admin: &mut Connection, verb: &str) -> Result<Duration> {
    let began = Instant::now();
    let mut waited = Duration::ZERO;
    for name in FOLLOWERS {
        while !has(&admin.get(&format!("{PATH}/{name}")).await?, verb) {
            waited = began.elapsed();
            ensure!(waited < Duration::from_mins(10), "`{name}` does not follow");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    Ok(waited)
}

fn has(role: &Value, verb: &str) -> bool {
    let rules = role.get("rules").and_then(Value::as_array).into_iter().flatten();
    let of_seven = |rule: &&Value| rule.pointer("/resources/0").is_some_and(|first| first == "xr7");
    rules.filter(of_seven).any(|rule| {
        rule.get("verbs").and_then(Value::as_array).is_some_and(|verbs| verbs.iter().any(|held| held == verb))
    })
}
