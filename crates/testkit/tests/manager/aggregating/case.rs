//! What happens to roles, and what must come of it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use kube::api::{Patch, PatchParams};
use rolewright_testkit::manifest::name;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::side::{Problems, Side};
use crate::place::{PATIENCE, rbac};

/// A story about roles whose names begin with the name of the case.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) on: On,
    pub(super) steps: Vec<Step>,
}

/// Where it is played.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    /// Everywhere, and the roles are byte for byte the same.
    Alike,
    /// Everywhere, and Kubernetes gets it wrong.
    Unlike,
    /// Where the manager writes.
    Ours,
}

/// What happens, or what must be.
pub(super) enum Step {
    /// Somebody applies this, whoever owns it.
    Put(Value),
    /// Somebody merges this into a role.
    Merge(&'static str, Value),
    /// Somebody deletes a role.
    Delete(&'static str),
    /// Somebody applies this without force, and is refused with this code and the same words everywhere.
    Refused(u16, Value),
    /// A role has exactly these rules in this order.
    Holds(&'static str, Vec<Value>),
    /// A role has this rule among others.
    Has(&'static str, Value),
    /// The same, where the manager writes.
    Ours(&'static str, Vec<Value>),
    /// The same, where Kubernetes' controller writes.
    Theirs(&'static str, Vec<Value>),
    /// A role is gone.
    Gone(&'static str),
    /// The manager has sent exactly so many writes since the case began, where it writes.
    Writes(u64),
    /// All that the manager says is wrong with these roles: where it writes, and where it observes.
    Told(&'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]),
}

impl Case {
    /// Plays it on all sides, step by step, and leaves nothing behind.
    pub(super) async fn play(&self, sides: &[&Side]) -> Result<()> {
        let sides: Vec<&Side> =
            sides.iter().copied().filter(|side| self.on != On::Ours || !side.is_kubernetes()).collect();
        let before: Vec<u64> = sides.iter().map(|side| side.writes()).collect();
        for (index, step) in self.steps.iter().enumerate() {
            let taken = sides.iter().zip(&before).map(|(side, before)| async move {
                step.take(side, self.name, *before).await.with_context(|| format!("{}, step {index}", side.name))
            });
            let answers = try_join_all(taken).await?;
            ensure!(answers.windows(2).all(|pair| pair.first() == pair.last()), "step {index}: {answers:#?}");
            if self.on == On::Alike && matches!(step, Step::Holds(..) | Step::Has(..)) {
                alike(&sides, self.name).await.with_context(|| format!("step {index}"))?;
            }
        }
        try_join_all(sides.iter().map(|side| tidy_up(side, self.name))).await?;
        Ok(())
    }
}

impl Step {
    /// Takes it on one side; returns what the server said if that must be the same everywhere.
    async fn take(&self, side: &Side, case: &str, before: u64) -> Result<Option<String>> {
        match self {
            Self::Put(object) => drop(side.place.apply(object).await?),
            Self::Merge(name, patch) => drop(side.place.merge(&rbac("ClusterRole", name), patch).await?),
            Self::Delete(name) => side.place.delete(&rbac("ClusterRole", name)).await?,
            Self::Refused(code, object) => return refused(side, *code, object).await.map(Some),
            Self::Holds(name, rules) => holds(side, name, rules).await?,
            Self::Ours(name, rules) if !side.is_kubernetes() => holds(side, name, rules).await?,
            Self::Theirs(name, rules) if side.is_kubernetes() => holds(side, name, rules).await?,
            Self::Has(name, rule) => {
                let has = |role: &Value| role["rules"].as_array().is_some_and(|rules| rules.contains(rule));
                side.place.until("a rule", &rbac("ClusterRole", name), has).await?;
            }
            Self::Gone(name) => side.place.until_gone(&rbac("ClusterRole", name)).await?,
            Self::Writes(count) if !side.is_kubernetes() => {
                side.until("every write", || side.writes() >= before + count).await?;
                side.fence().await?;
                let writes = side.writes() - before;
                ensure!(writes == *count, "{writes} writes instead of {count}");
            }
            Self::Ours(..) | Self::Theirs(..) | Self::Writes(_) => {}
            Self::Told(ours, theirs) => told(side, case, if side.is_kubernetes() { theirs } else { ours }).await?,
        }
        Ok(None)
    }
}

/// Waits until a role has these rules. They may be too large to be shown.
async fn holds(side: &Side, name: &str, rules: &[Value]) -> Result<()> {
    let role = rbac("ClusterRole", name);
    let start = Instant::now();
    loop {
        let found = side.place.get(&role).await?.unwrap_or_default();
        let stored = found["rules"].as_array().map_or(&[][..], Vec::as_slice);
        if stored == rules {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            let cut = |rules: &[Value]| -> Vec<String> {
                rules.iter().map(|rule| rule.to_string().chars().take(120).collect()).collect()
            };
            anyhow::bail!("`{name}` holds {:#?} instead of {:#?}", cut(stored), cut(rules));
        }
        sleep(Duration::from_millis(5)).await;
    }
}

async fn refused(side: &Side, code: u16, object: &Value) -> Result<String> {
    let params = PatchParams::apply("somebody");
    let name = object["metadata"]["name"].as_str().context("it has a name")?;
    match side.place.api(object)?.patch(name, &params, &Patch::Apply(object)).await {
        Err(kube::Error::Api(status)) if status.code == code => Ok(status.message),
        other => anyhow::bail!("not refused with {code}: {other:?}"),
    }
}

/// Waits until the manager says exactly this of the roles of a case, also in metrics and events.
async fn told(side: &Side, case: &str, expected: &[(&str, &str)]) -> Result<()> {
    let expected: Problems = expected.iter().map(|(code, name)| ((*code).to_owned(), (*name).to_owned())).collect();
    let of_case =
        || -> Problems { side.manager.problems().into_iter().filter(|(_, name)| name.starts_with(case)).collect() };
    side.until(&format!("{expected:?}"), || of_case() == expected).await?;
    let count = |code: &str| expected.iter().filter(|problem| problem.0 == code).count();
    for (code, _) in &expected {
        let metric = format!("code=\"{code}\"");
        let scraped = side.manager.scraped();
        let line =
            scraped.lines().find(|line| line.starts_with("rolewright_engine_problems{") && line.contains(&metric));
        ensure!(line.is_some_and(|line| line.ends_with(&format!(" {}", count(code)))), "{code}: {scraped}");
    }
    for (code, name) in &expected {
        let start = Instant::now();
        while !side.place.told(name, code).await? {
            ensure!(start.elapsed() < PATIENCE, "no event tells {code} of {name}");
            sleep(Duration::from_millis(5)).await;
        }
    }
    Ok(())
}

/// Waits until the roles whose names begin so are the same everywhere.
pub(super) async fn alike(sides: &[&Side], prefix: &str) -> Result<()> {
    let start = Instant::now();
    loop {
        let worlds = try_join_all(sides.iter().map(|side| roles(side, prefix))).await?;
        let mut pairs = worlds.iter().zip(worlds.iter().skip(1)).zip(sides.iter().skip(1));
        let Some(((one, other), side)) = pairs.find(|((one, other), _)| one != other) else { return Ok(()) };
        if start.elapsed() > PATIENCE / 4 {
            let only = |these: &[String], those: &[String]| -> String {
                these.iter().filter(|role| !those.contains(role)).map(String::as_str).collect()
            };
            anyhow::bail!("{} has\n{}instead of\n{}", side.name, only(other, one), only(one, other));
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// The roles of a case but for what no two servers have in common: identities and times.
async fn roles(side: &Side, case: &str) -> Result<Vec<String>> {
    let mut roles = side.roles(case).await?;
    for role in &mut roles {
        let is_empty = role["rules"].as_array().is_none_or(Vec::is_empty);
        let metadata = role["metadata"].as_object_mut().context("a role has metadata")?;
        for field in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation"] {
            metadata.remove(field);
        }
        let Some(managers) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) else { continue };
        // WHY: Kubernetes' controller gives up `rules` when nothing is left. We keep them, so that nobody fills them in.
        managers.retain(|entry| !(is_empty && entry["manager"] == "clusterrole-aggregation-controller"));
        for entry in managers.iter_mut().filter_map(Value::as_object_mut) {
            entry.remove("time");
            // The real server's own writes have the name of its program, which is the testbed.
            if entry.get("manager").and_then(Value::as_str).is_some_and(|name| name.starts_with("testbed")) {
                entry.insert("manager".to_owned(), json!("kube-apiserver"));
            }
        }
        // Their order follows from the times.
        managers.sort_by_key(Value::to_string);
    }
    Ok(roles.iter().map(|role| format!("{role:#}")).collect())
}

async fn tidy_up(side: &Side, case: &str) -> Result<()> {
    let start = Instant::now();
    loop {
        let left = side.roles(case).await?;
        for role in &left {
            let gone = rbac("ClusterRole", name(role));
            let deleted = side.place.delete(&gone).await;
            if side.is_kubernetes() {
                continue;
            }
            deleted?;
            side.place.until_gone(&gone).await?;
        }
        // WHY: Kubernetes' controller makes a role anew that goes while it writes to it. Ours never does.
        if left.is_empty() || !side.is_kubernetes() {
            break;
        }
        ensure!(start.elapsed() < PATIENCE, "{} roles stay", left.len());
    }
    told(side, case, &[]).await
}
