//! One role changes among many, and every role that gathers it follows.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_testkit::bench::gathering::{CHANGED, FOLLOWERS, changed, has, is_gathering, world};
use serde_json::{Value, json};

use crate::program::{EXCLUSIVE, Program};
use crate::seen::Seen;
use crate::server::{ROLES, Server, apply, send};

/// How many changes ours follows, of which the mean counts; the peer takes long enough for one.
const CHANGES: u32 = 5;
const DRIFTER: &str = "ns-100-edit";
const LARGEST: &str = "all";

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

/// Both programs, one after the other, and the milliseconds that the server takes for the largest of the roles by itself.
pub(crate) async fn all(server: &Server) -> Result<(Figures, Figures, f64)> {
    server.fill(ROLES, world()).await?;
    let first = Program::ours(server, &EXCLUSIVE).await?;
    first.rest().await?;
    first.end()?;
    let ours = figures(server, CHANGES, Program::ours(server, &EXCLUSIVE)).await.context("our manager")?;
    let peer = figures(server, 1, async { Program::peer(server) }).await.context("Kubernetes' controller")?;
    let bare = bare_apply(server).await.context("nobody")?;
    Ok((ours, peer, bare))
}

/// The write that everybody waits for, sent by nobody who thinks.
async fn bare_apply(server: &Server) -> Result<f64> {
    let mut admin = server.connect().await?;
    let path = format!("{ROLES}/{LARGEST}");
    let role = send(&mut admin, "GET", &path, &Value::Null).await?;
    let mut rules = role.get("rules").and_then(Value::as_array).context("a role has rules")?.clone();
    let mut taken = Duration::ZERO;
    for change in 0..CHANGES {
        let first = rules.first_mut().and_then(|rule| rule.get_mut("verbs")).context("it has verbs")?;
        *first = json!(["get", "list", format!("verb-bare-{change}")]);
        let began = Instant::now();
        apply(&mut admin, "clusterrole-aggregation-controller", ROLES, &applied(&rules)).await?;
        taken += began.elapsed();
    }
    Ok(taken.as_secs_f64() * 1e3 / f64::from(CHANGES))
}

fn applied(rules: &[Value]) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": LARGEST}, "rules": rules})
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

async fn follow(server: &Server, program: &Program, changes: u32) -> Result<Follow> {
    let mut admin = server.connect().await?;
    let (mut wall, mut cpu) = (Duration::ZERO, Duration::ZERO);
    for change in 0..changes {
        let verb = format!("verb-{}-{change}", program.id());
        let seen = Seen::start(server).await?;
        let before = program.cpu()?;
        let began = Instant::now();
        send(&mut admin, "PUT", &format!("{ROLES}/{CHANGED}"), &changed(&verb)).await?;
        seen.all(&FOLLOWERS).await?;
        cpu += program.rest().await?.saturating_sub(before);
        wall += seen.last(is_gathering).context("they were written")? - began;
        for name in FOLLOWERS {
            let role = send(&mut admin, "GET", &format!("{ROLES}/{name}"), &Value::Null).await?;
            ensure!(has(&role, &verb), "`{name}` does not follow");
        }
    }
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(changes);
    Ok(Follow { wall: milliseconds(wall), cpu: milliseconds(cpu) })
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
