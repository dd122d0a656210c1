//! From Crossplane's own manager to ours and back: nobody's access has a gap, what it wrote becomes ours to take away, and
//! neither finds fault with what the other one left.

mod narrowing;
mod watchman;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rolewright_core::{Access, Scope};
use rolewright_plan::crossplane::{Manage, Settings};
use serde_json::Value;

use crate::RBAC;
use crate::access::{DECISIONS, Difference, access, differences, unmet};
use crate::module::{Ours, stock};
use crate::scene::{self, Scene};
use crate::servers::{Home, eventually};
use crate::world::{Definition, Expected, Way, World, apply, disputed};
pub(crate) use watchman::Watchman;

/// What everybody gets beside their resources, and what bindings to a namespace's roles give once these are there.
const ADDED: [&str; 3] = [
    "events are told in their new API as well",
    "a provider deletes who uses its configurations",
    "a namespace has roles of its own",
];

#[tokio::test(flavor = "multi_thread")]
async fn one_manager_takes_over_from_the_other() -> Result<()> {
    scene::play("takeover", story).await
}

async fn story(scene: Scene<'_>) -> Result<()> {
    let Scene { crossplane, home, .. } = scene;
    let world = scene.begin().await?;
    let mut peer = crossplane.rbac(&home.kubeconfig, &scene.log(1))?;
    let theirs = met(home, &world, Way::Theirs).await?;
    peer.end()?;
    for object in generated(home).await?.values() {
        ensure!(wrote(object, "crossplane", "Update"), "by what name Crossplane's manager is known: {object:#}");
    }
    scene.said("Crossplane's manager made everything");

    let watchman = Watchman::start(home, &theirs);
    let manager = Ours::start(home, stock());
    taken_over(home).await.context("our manager takes over")?;
    watchman.end().await.context("our manager takes over")?;
    until_same(home, &world, &theirs).await.context("after our manager took over")?;
    manager.end().await?;
    scene.said("ours took over");
    idle_restart(home, &world).await?;
    scene.said("ours started again and wrote nothing");
    narrowing::story(home, &world).await.context("what was taken over can be narrowed")?;
    scene.said("what was taken over was narrowed");

    let manager = Ours::start(home, stock());
    until_same(home, &world, &theirs).await.context("all is as it was")?;
    manager.end().await?;
    let watchman = Watchman::start(home, &theirs);
    let mut peer = crossplane.rbac(&home.kubeconfig, &scene.log(2))?;
    handed_back(home).await.context("ours hands back")?;
    watchman.end().await.context("ours hands back")?;
    until_same(home, &world, &theirs).await.context("after ours handed back")?;
    let world = settled_with(home, &world, "after", Way::Theirs).await?;
    peer.alive()?;
    content(&scene.log(2))?;
    scene.said("Crossplane's manager took it back");

    let mut more = disputed();
    more.definitions.extend(world.definitions.last().cloned());
    apply(home, &world, &more).await?;
    let theirs = met(home, &more, Way::Theirs).await?;
    peer.end()?;
    again(home, &more, &theirs).await.context("our manager takes over again")?;
    scene.said("ours took over again");
    Ok(())
}

/// From a world in which we want much otherwise: nobody loses anything in between but what was decided.
async fn again(home: &Home, world: &World, theirs: &Access) -> Result<()> {
    let expected = Expected::new(&[], world);
    let watchman = Watchman::start_where(home, theirs, |who, group, resource, verb| {
        let difference = Difference::new(who, &Scope::Cluster, true, group, resource, verb);
        !DECISIONS.iter().any(|row| (row.explains)(&expected, &difference))
    });
    let manager = Ours::start(home, stock());
    taken_over(home).await?;
    eventually("only what was decided to differ", || async {
        let (_, unexplained) = differences(&expected, theirs, &access(home).await?);
        Ok(if unexplained.is_empty() { Ok(()) } else { Err(unexplained.join("\n")) })
    })
    .await?;
    watchman.end().await?;
    manager.end().await
}

/// Waits until everybody has what a world gives.
pub(crate) async fn met(home: &Home, world: &World, way: Way) -> Result<Access> {
    let expected = Expected::new(&[], world);
    eventually("what the world gives", || async {
        let access = access(home).await?;
        let unmet = unmet(&expected, &access, way);
        Ok(if unmet.is_empty() { Ok(access) } else { Err(format!("{}: {unmet:#?}", home.name)) })
    })
    .await
}

/// Waits until nothing is lost, and nothing gained but what every provider gets from us.
async fn until_same(home: &Home, world: &World, theirs: &Access) -> Result<()> {
    let expected = Expected::new(&[], world);
    eventually("the same access", || async {
        let (explained, unexplained) = differences(&expected, theirs, &access(home).await?);
        let others: Vec<_> = explained.keys().filter(|row| !ADDED.contains(row)).collect();
        let same = unexplained.is_empty() && others.is_empty();
        Ok(if same { Ok(()) } else { Err(format!("{}: {others:?}\n{}", home.name, unexplained.join("\n"))) })
    })
    .await
}

/// The roles and bindings of definitions and revisions, by kind and name.
pub(crate) async fn generated(home: &Home) -> Result<BTreeMap<String, Value>> {
    let mut found = BTreeMap::new();
    for plural in ["clusterroles", "clusterrolebindings"] {
        let mut list = home.get(&format!("{RBAC}/{plural}")).await?.body;
        for object in list["items"].as_array_mut().into_iter().flatten() {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            if name.starts_with("crossplane:composite:") || name.starts_with("crossplane:provider:") {
                found.insert(format!("{plural}/{name}"), object.take());
            }
        }
    }
    ensure!(!found.is_empty(), "{}: there are roles", home.name);
    Ok(found)
}

fn wrote(object: &Value, manager: &str, operation: &str) -> bool {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().any(|entry| entry["manager"] == manager && entry["operation"] == operation)
}

pub(crate) fn is_marked(object: &Value) -> bool {
    object["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "rolewright"
}

/// Waits until all is ours, and nothing is Crossplane's.
pub(crate) async fn taken_over(home: &Home) -> Result<()> {
    let is_ours = |object: &Value| {
        // What is paused stays as it is.
        object["metadata"]["name"].as_str().is_some_and(|name| name.contains(":xpaused."))
            || (is_marked(object) && wrote(object, "rolewright", "Apply") && !wrote(object, "crossplane", "Update"))
    };
    until_all(home, "to be taken over", is_ours).await
}

/// Waits until all is as Crossplane's manager wants it, which keeps no labels of others and binds nobody to nothing.
pub(crate) async fn handed_back(home: &Home) -> Result<()> {
    until_all(home, "to be handed back", |object| !is_marked(object) || object.get("roleRef").is_some()).await?;
    let empty = format!("{RBAC}/clusterrolebindings/crossplane:provider:empty-a:system");
    home.until(&empty, |answer| answer.status == 200).await?;
    Ok(())
}

async fn until_all(home: &Home, what: &str, holds: impl Fn(&Value) -> bool) -> Result<()> {
    eventually(what, || async {
        let waits = generated(home).await?.into_values().find(|object| !holds(object));
        Ok(waits.map_or(Ok(()), |object| Err(format!("{}: {object:#}", home.name))))
    })
    .await
}

const MARKERS: &str = "markers.example.org";

/// Adds a definition to the world.
pub(crate) async fn marked(home: &Home, world: &World, name: &str) -> Result<World> {
    let mut marked = world.clone();
    let plural = format!("marks{name}");
    marked.definitions.push(Definition { plural, group: MARKERS.to_owned(), claim: None, scope: None, paused: false });
    apply(home, world, &marked).await?;
    Ok(marked)
}

/// Adds a definition, by which one sees that a manager has looked at everything, and that it wrote nothing else.
async fn settled_with(home: &Home, world: &World, name: &str, way: Way) -> Result<World> {
    let before = generated(home).await?;
    let marked = marked(home, world, name).await?;
    met(home, &marked, way).await?;
    let after = generated(home).await?;
    for (name, object) in before {
        ensure!(after.get(&name) == Some(&object), "{}: {name} is written again and again: {object:#}", home.name);
    }
    Ok(marked)
}

/// A manager that starts where everything is well writes nothing.
async fn idle_restart(home: &Home, world: &World) -> Result<()> {
    let manager = Ours::start(home, stock());
    let marked = settled_with(home, world, "restart", Way::Ours).await?;
    eventually("nothing left to look at", || async {
        let waiting = manager.counted("rolewright_engine_queue_keys");
        Ok(if waiting == 0 { Ok(()) } else { Err(format!("{waiting} keys wait")) })
    })
    .await?;
    let writes = manager.counted("rolewright_apply_writes_total");
    ensure!(writes == 4, "{}: a start writes nothing but the roles of one definition: {writes}", home.name);
    apply(home, &marked, world).await?;
    manager.end().await
}

/// Crossplane's manager was refused nothing. That it now and then forgets what it has just made itself is not our doing.
fn content(log: &Path) -> Result<()> {
    let text = std::fs::read_to_string(log)?;
    let harmless = |line: &&str| line.contains("already exists") || line.contains("the object has been modified");
    for line in text.lines().filter(|line| !harmless(line)) {
        let refused = ["cannot apply", "cannot update", "cannot create", "not controlled by", "forbidden"];
        ensure!(!refused.iter().any(|word| line.contains(word)), "Crossplane's manager was refused something: {line}");
    }
    Ok(())
}

/// Settings of a lower level.
fn software_only() -> Settings {
    Settings { manage: Manage::ServiceAccounts, ..stock() }
}
