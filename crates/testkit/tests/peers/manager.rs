//! Crossplane's RBAC manager at work: after every step, the roles and bindings on both servers are the same.

mod stages;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rolewright_testkit::peers::{Crossplane, Project, Running};
use serde_json::Value;
use tokio::time::sleep;

use self::stages::{Action, Stage};
use crate::RBAC;
use crate::definitions::{DEFINITIONS, established};
use crate::servers::{self, Home, PATIENCE, YAML, plain};

/// The manager's roles and bindings by kind and name.
type State = BTreeMap<String, Value>;

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "what was compared")]
async fn crossplane_s_manager_finds_no_difference() -> Result<()> {
    const SUITE: &str = "the peers suite";
    let Some(crossplane) = Crossplane::find(SUITE)? else { return Ok(()) };
    let Some(pair) = servers::pair("manager").await? else { return Ok(()) };
    let (real, ours) = (&pair.real, &pair.ours);
    tokio::try_join!(install(&crossplane, real), install(&crossplane, ours))?;
    let start = |home: &Home| crossplane.rbac(&home.kubeconfig, &pair.folder.join(format!("{}.log", home.name)));
    let mut managers = [start(real)?, start(ours)?];
    for stage in stages::all() {
        tokio::try_join!(act(real, &stage.actions), act(ours, &stage.actions))
            .with_context(|| stage.title.to_owned())?;
        let state = settled(&stage, real, ours, &mut managers)
            .await
            .with_context(|| format!("{}; its logs are in {}", stage.title, pair.folder.display()))?;
        println!("{}: {} roles and bindings", stage.title, state.len());
    }
    for manager in &mut managers {
        manager.end()?;
    }
    std::fs::remove_dir_all(&pair.folder)?;
    Ok(())
}

/// All of Crossplane's definitions; the manager does not start without them.
pub(crate) async fn install(crossplane: &Crossplane, home: &Home) -> Result<()> {
    for file in crossplane.definitions(Project::Crossplane)? {
        let created = home.done("POST", DEFINITIONS, YAML, std::fs::read(&file)?).await.with_context(|| name(&file))?;
        let path = format!("{DEFINITIONS}/{}", created["metadata"]["name"].as_str().unwrap_or_default());
        established(home, &path).await?;
    }
    Ok(())
}

fn name(file: &Path) -> String {
    file.display().to_string()
}

async fn act(home: &Home, actions: &[Action]) -> Result<()> {
    for action in actions {
        let mut body = action.body.clone();
        resolve(home, &mut body).await?;
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        home.done(action.method, &action.path, action.content, bytes).await?;
    }
    Ok(())
}

/// Puts ids where a body says whose.
async fn resolve(home: &Home, body: &mut Value) -> Result<()> {
    match body {
        Value::String(text) => {
            if let Some(path) = text.strip_prefix("uid of ") {
                let owner = home.get(path).await?.body;
                *text = owner["metadata"]["uid"].as_str().with_context(|| format!("{path}: {owner}"))?.to_owned();
            }
        }
        Value::Array(items) => {
            for item in items {
                Box::pin(resolve(home, item)).await?;
            }
        }
        Value::Object(members) => {
            for value in members.values_mut() {
                Box::pin(resolve(home, value)).await?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Waits until the manager has done on both servers what the stage is about, and both are equal.
async fn settled(stage: &Stage, real: &Home, ours: &Home, managers: &mut [Running]) -> Result<State> {
    let start = Instant::now();
    loop {
        for manager in &mut *managers {
            manager.alive()?;
        }
        let (there, here) = tokio::try_join!(state(real), state(ours))?;
        let missing = [stage.missing(&there), stage.missing(&here)];
        if missing.iter().all(Option::is_none) && there == here {
            return Ok(there);
        }
        if start.elapsed() > PATIENCE {
            for (home, missing) in [real, ours].iter().zip(missing) {
                if let Some(missing) = missing {
                    bail!("{}: {missing}", home.name);
                }
            }
            bail!("{}", difference(&there, &here));
        }
        sleep(Duration::from_millis(100)).await;
    }
}

async fn state(home: &Home) -> Result<State> {
    let mut state = State::new();
    for kind in ["clusterroles", "clusterrolebindings"] {
        let list = home.get(&format!("{RBAC}/{kind}")).await?.body;
        let items = list["items"].as_array().with_context(|| format!("{list}"))?;
        for object in items {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            if name.starts_with("crossplane") {
                state.insert(format!("{kind}/{name}"), plain(object));
            }
        }
    }
    Ok(state)
}

fn difference(there: &State, here: &State) -> String {
    let names: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let differ = names.into_iter().filter(|name| there.get(*name) != here.get(*name));
    let show = |object: Option<&Value>| object.map_or_else(|| "absent".to_owned(), |object| format!("{object:#}"));
    let told = differ.map(|name| format!("{name}\nreal: {}\nours: {}", show(there.get(name)), show(here.get(name))));
    told.collect::<Vec<_>>().join("\n")
}
