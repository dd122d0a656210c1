//! One role changes among many, and every role that gathers it follows.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::program::{EXCLUSIVE, Program};
use crate::seen::Seen;
use crate::server::{ROLES, Server, send};

const COMPONENTS: usize = 2_000;
const NAMESPACES: usize = 500;
/// How many changes ours follows, of which the mean counts; the peer takes long enough for one.
const CHANGES: u32 = 5;
/// The roles that gather component 7: the one with everything, and the namespace that selects it.
const FOLLOWERS: [&str; 2] = ["all", "ns-002-edit"];
const DRIFTER: &str = "ns-100-edit";

/// What was measured of one program.
pub(crate) struct Figures {
    pub(crate) follow: Follow,
    /// Writes after a start where nothing is left to do.
    pub(crate) restart: f64,
    /// Milliseconds from a bad write to its repair.
    pub(crate) drift: f64,
}

/// Milliseconds for one change.
pub(crate) struct Follow {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// Both programs, one after the other.
pub(crate) async fn both(server: &Server) -> Result<(Figures, Figures)> {
    server.fill(ROLES, world()).await?;
    let first = Program::ours(server, &EXCLUSIVE).await?;
    first.rest().await?;
    first.end()?;
    let ours = figures(server, CHANGES, Program::ours(server, &EXCLUSIVE)).await.context("our manager")?;
    let peer = figures(server, 1, async { Program::peer(server) }).await.context("Kubernetes' controller")?;
    Ok((ours, peer))
}

/// One program, on a server where nothing is left to do.
async fn figures(server: &Server, changes: u32, program: impl Future<Output = Result<Program>>) -> Result<Figures> {
    let before = server.writes().await?;
    let program = program.await?;
    program.rest().await?;
    let restart = server.writes().await? - before;
    let follow = follow(server, &program, changes).await?;
    let drift = drift(server, &program).await?;
    program.end()?;
    Ok(Figures { follow, restart, drift })
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
fn world() -> Vec<Value> {
    let base = json!({"metadata": {"name": "base", "labels": {"base": "true"}},
        "rules": [{"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["get", "list", "watch"]}]});
    let namespace = |i: usize| {
        let xrd = |k: usize| ("xrd", ((i * 3 + k) % COMPONENTS).to_string());
        gathering(&format!("ns-{i:03}-edit"), &[("base", "true".into()), xrd(0), xrd(1), xrd(2)])
    };
    let all = gathering("all", &[("aggregate-to-all", "true".into())]);
    let components = (0..COMPONENTS).map(|i| component(i, "watch"));
    components.chain([base, all]).chain((0..NAMESPACES).map(namespace)).collect()
}

fn is_aggregated(name: &str) -> bool {
    name == "all" || name.starts_with("ns-")
}

async fn follow(server: &Server, program: &Program, changes: u32) -> Result<Follow> {
    let mut admin = server.connect().await?;
    let (mut wall, mut cpu) = (Duration::ZERO, Duration::ZERO);
    for change in 0..changes {
        let verb = format!("verb-{}-{change}", program.id());
        let seen = Seen::start(server).await?;
        let before = program.cpu()?;
        let began = Instant::now();
        send(&mut admin, "PUT", &format!("{ROLES}/component-0007"), &component(7, &verb)).await?;
        seen.all(&FOLLOWERS).await?;
        cpu += program.rest().await?.saturating_sub(before);
        wall += seen.last(is_aggregated).context("they were written")? - began;
        for name in FOLLOWERS {
            let role = send(&mut admin, "GET", &format!("{ROLES}/{name}"), &Value::Null).await?;
            ensure!(has(&role, &verb), "`{name}` does not follow");
        }
    }
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(changes);
    Ok(Follow { wall: milliseconds(wall), cpu: milliseconds(cpu) })
}

fn has(role: &Value, verb: &str) -> bool {
    let rules = role.get("rules").and_then(Value::as_array).into_iter().flatten();
    let of_seven = |rule: &&Value| rule.pointer("/resources/0").is_some_and(|first| first == "xr7");
    rules.filter(of_seven).any(|rule| {
        rule.get("verbs").and_then(Value::as_array).is_some_and(|verbs| verbs.iter().any(|held| held == verb))
    })
}

/// Somebody empties a role; the write that repairs it is the one after theirs.
async fn drift(server: &Server, program: &Program) -> Result<f64> {
    let mut admin = server.connect().await?;
    let path = format!("{ROLES}/{DRIFTER}");
    let role = send(&mut admin, "GET", &path, &Value::Null).await?;
    let right = role.get("rules").context("a role has rules")?;
    let wrong = json!({
        "metadata": {"name": DRIFTER}, "aggregationRule": role.get("aggregationRule"),
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
    });
    let seen = Seen::start(server).await?;
    let began = Instant::now();
    send(&mut admin, "PUT", &path, &wrong).await?;
    let mut at = Duration::ZERO;
    while send(&mut admin, "GET", &path, &Value::Null).await?.get("rules") != Some(right) {
        at = began.elapsed();
        ensure!(at < Duration::from_mins(5), "it is not repaired");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    program.rest().await?;
    let repaired = seen.last(|name| name == DRIFTER).map_or(at, |last| last - began);
    Ok(repaired.as_secs_f64() * 1e3)
}
