//! Crossplane's own RBAC manager and ours in a large world: what it takes to write all roles, and what to follow changes.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::simulation::Simulation;
use rolewright_plan::{Engine, Event, Kind, Live, Module, Time, crossplane as plan};
use rolewright_testkit::client::Connection;
use rolewright_testkit::peers::{Crossplane, Project};
use serde_json::{Value, json};

use crate::program::{self, Program};
use crate::server::{ROLES, Server, send};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const REVISIONS: &str = "/apis/pkg.crossplane.io/v1/providerrevisions";
pub(crate) const XRDS: &str = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions";
pub(crate) const COUNT: usize = 2_000;
const MEMBERS: usize = 70;
const RESOURCES: usize = 15;
const NAMESPACES: usize = 500;
/// The definition that has no claims at first.
const UNCLAIMED: usize = 7;
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
pub(crate) const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// Whom to measure.
#[derive(Clone, Copy)]
pub(crate) enum Who {
    /// Crossplane's own manager.
    Theirs,
    /// Ours, with these flags.
    Ours(&'static [&'static str]),
}

impl Who {
    /// Whether the members of a family have one role.
    fn shares(self) -> bool {
        matches!(self, Self::Ours(flags) if flags.contains(&"shared"))
    }
}

/// What was measured of one program.
pub(crate) struct Figures {
    pub(crate) all: Work,
    /// One member of the family gains a resource.
    pub(crate) family: Work,
    /// One definition gains claims.
    pub(crate) claim: Work,
    /// 500 namespaces enable definitions.
    pub(crate) namespaces: Work,
    /// Resident megabytes after the first of these.
    pub(crate) memory: f64,
    /// Milliseconds until what somebody deleted is back, of several roles the slowest.
    pub(crate) drift: f64,
    /// Writes after a restart.
    pub(crate) restart: f64,
    /// Roles and bindings that there are after the first of these, but for Kubernetes' own.
    pub(crate) objects: f64,
}

/// What one task took.
pub(crate) struct Work {
    /// Milliseconds until it came to rest.
    pub(crate) wall: f64,
    /// Milliseconds on a processor.
    pub(crate) cpu: f64,
    /// Requests that write objects of RBAC.
    pub(crate) writes: f64,
}

/// A manager on a server that has Crossplane's world and none of its roles.
pub(crate) async fn figures(server: &Server, crossplane: &Crossplane, who: Who) -> Result<Figures> {
    fill(server, crossplane, COUNT).await?;
    let mut admin = server.connect().await?;
    let (before, writes) = (objects(&mut admin).await?, server.writes().await?);
    let began = Instant::now();
    let program = start(server, crossplane, who).await?;
    let (at, cpu) = program::busy_until(program.id()).await?;
    let all = work(began, at, cpu, server.writes().await? - writes);
    let objects = objects(&mut admin).await? - before;
    // On a machine that is too busy a program looks as if it were at rest.
    at_least("of all", objects, 4 * COUNT + 3 * MEMBERS)?;
    let memory = program.memory()?;

    let family = measure(server, &program, describe(&mut admin, 0, RESOURCES + 1)).await?;
    at_least("when a member gains a resource", family.writes, if who.shares() { 4 } else { MEMBERS + 2 })?;
    let claim = measure(server, &program, gain_claims(&mut admin)).await?;
    at_least("when one XRD changes", claim.writes, 3)?;
    let namespaces =
        measure(server, &program, server.fill("/api/v1/namespaces", (0..NAMESPACES).map(namespace).collect())).await?;
    if matches!(who, Who::Ours(_)) {
        at_least("of namespaces", namespaces.writes, 2 * NAMESPACES)?;
    }
    let drift = drift(&mut admin).await?;
    program.rest().await?;

    program.end()?;
    let writes = server.writes().await?;
    let program = start(server, crossplane, who).await?;
    program.rest().await?;
    let restart = server.writes().await? - writes;
    program.end()?;
    Ok(Figures { all, family, claim, namespaces, memory, drift, restart, objects })
}

/// Who does nothing takes no time for it.
fn at_least(what: &str, writes: f64, least: usize) -> Result<()> {
    ensure!(writes >= f64::from(u32::try_from(least)?), "only {writes} writes {what}, where {least} are due");
    Ok(())
}

/// Deletes roles, one after the other, and waits until each is there again.
async fn drift(admin: &mut Connection) -> Result<f64> {
    let mut slowest = 0.0_f64;
    for role in [
        "crossplane:composite:xr1s.g1.acme.io:aggregate-to-edit",
        "crossplane:provider:cloud-1-a:aggregate-to-view",
        "crossplane:provider:cloud-2-a:system",
    ] {
        let path = format!("{ROLES}/{role}");
        send(admin, "DELETE", &path, &Value::Null).await?;
        let began = Instant::now();
        while admin.ask("GET", &path, "application/json", &Value::Null).await?.0 != 200 {
            ensure!(began.elapsed() < PATIENCE, "`{role}` does not come back");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        slowest = slowest.max(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(slowest)
}

pub(crate) async fn start(server: &Server, crossplane: &Crossplane, who: Who) -> Result<Program> {
    match who {
        Who::Theirs => Program::crossplane(server, crossplane),
        Who::Ours(flags) => Program::ours(server, &[&["--modules", "crossplane"], flags].concat()).await,
    }
}

async fn measure(server: &Server, program: &Program, change: impl Future<Output = Result<()>>) -> Result<Work> {
    let (writes, before) = (server.writes().await?, program.cpu()?);
    let began = Instant::now();
    change.await?;
    let (at, _) = program::busy_until(program.id()).await?;
    // What takes less than a program at rest may take would otherwise count as nothing.
    let cpu = program.cpu()?.saturating_sub(before);
    Ok(work(began, at, cpu, server.writes().await? - writes))
}

fn work(began: Instant, at: Instant, cpu: Duration, writes: f64) -> Work {
    Work { wall: at.saturating_duration_since(began).as_secs_f64() * 1e3, cpu: cpu.as_secs_f64() * 1e3, writes }
}

/// How many roles and bindings of the whole cluster there are.
async fn objects(admin: &mut Connection) -> Result<f64> {
    let mut count = 0.0;
    for path in [ROLES, BINDINGS] {
        let list = send(admin, "GET", path, &Value::Null).await?;
        let items = list.get("items").and_then(Value::as_array).context("a list has items")?;
        count += f64::from(u32::try_from(items.len())?);
    }
    Ok(count)
}

/// The same roles, applied by nobody who thinks: what the API server takes for them by itself, in milliseconds.
pub(crate) async fn bare_writes(from: &Server, to: &Server) -> Result<f64> {
    let list = send(&mut from.connect().await?, "GET", ROLES, &Value::Null).await?;
    let mut roles: Vec<Value> = Vec::new();
    for role in list.get("items").and_then(Value::as_array).into_iter().flatten() {
        let name = role.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        if name.starts_with("crossplane:") {
            let of = |field: &str| role.pointer(&format!("/metadata/{field}"));
            let metadata = json!({"name": name, "labels": of("labels"), "ownerReferences": of("ownerReferences")});
            roles.push(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": metadata, "rules": role.get("rules"), "aggregationRule": role.get("aggregationRule")}));
        }
    }
    let began = Instant::now();
    to.apply(ROLES, roles).await?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Milliseconds to read and plan all of it without a cluster, namespaces included. The objects are there as JSON.
pub(crate) fn offline(user_roles: plan::UserRoles) -> Result<f64> {
    let texts = |kind: &'static Kind, objects: Vec<Value>| -> Result<(&'static Kind, Vec<String>)> {
        let texts = objects.into_iter().enumerate().map(|(i, mut object)| {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("uid".to_owned(), json!(format!("{}-{i}", kind.plural)));
                metadata.insert("resourceVersion".to_owned(), json!((i + 1).to_string()));
            }
            Ok(serde_json::to_string(&object)?)
        });
        Ok((kind, texts.collect::<Result<_>>()?))
    };
    let member = |i: usize| {
        let mut revision = revision(i);
        if let Some(revision) = revision.as_object_mut() {
            revision.insert("status".to_owned(), json!({"objectRefs": refs(i, RESOURCES)}));
        }
        revision
    };
    let module = plan::Crossplane::new(plan::Settings { user_roles, ..plan::Settings::default() });
    let mut world = Vec::new();
    for kind in module.watches().into_iter().map(|watch| watch.kind) {
        world.push(match () {
            () if *kind == plan::DEFINITION => texts(kind, (0..COUNT).map(xrd).collect())?,
            () if *kind == plan::REVISION => texts(kind, (0..MEMBERS).map(member).collect())?,
            () if *kind == NAMESPACE => texts(kind, (0..NAMESPACES).map(namespace).collect())?,
            () => (kind, Vec::new()),
        });
    }
    let began = Instant::now();
    let read = |(kind, texts): &(&'static Kind, Vec<String>)| -> Result<Event> {
        let lives = texts.iter().map(|text| Ok(Live::parse(kind, text)?));
        Ok(Event::All(kind, lives.collect::<Result<_>>()?))
    };
    let events: Vec<Event> = world.iter().map(read).collect::<Result<_>>()?;
    let mut engine = Engine::new([Box::new(module) as Box<dyn Module>]);
    engine.take(events, Time(0));
    engine.mark_all(Time(0));
    let written = Simulation::on(engine.snapshot()).settle(&mut engine, Time(0)).len();
    let took = began.elapsed().as_secs_f64() * 1e3;
    ensure!(written > COUNT * 4 + NAMESPACES * 2, "only {written} writes");
    Ok(took)
}

/// Crossplane's definitions, many composite resources, and a family of providers.
pub(crate) async fn fill(server: &Server, crossplane: &Crossplane, definitions: usize) -> Result<()> {
    let mut admin = server.connect().await?;
    for file in crossplane.definitions(Project::Crossplane)? {
        let text = std::fs::read(&file)?.into();
        let answer = admin.send("application/json", "POST", DEFINITIONS, "application/yaml", text).await?;
        ensure!(answer.status().is_success(), "{}: {}", file.display(), answer.status());
        answer.into_body().collect().await?;
    }
    for path in [XRDS, REVISIONS] {
        let deadline = Instant::now() + PATIENCE;
        while admin.open("GET", path, "application/json", &Value::Null).await?.status() != 200 {
            ensure!(Instant::now() < deadline, "`{path}` is not served");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    send(&mut admin, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": "crossplane-system"}})).await?;
    server.fill(XRDS, (0..definitions).map(xrd).collect()).await?;
    server.fill(REVISIONS, (0..MEMBERS).map(revision).collect()).await?;
    for member in 0..MEMBERS {
        describe(&mut admin, member, RESOURCES).await?;
    }
    Ok(())
}

pub(crate) fn xrd(i: usize) -> Value {
    let group = format!("g{}.acme.io", i % 40);
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"size": {"type": "integer"}}}}}});
    let claims = json!({"plural": format!("claim{i}s"), "kind": format!("Claim{i}")});
    json!({"apiVersion": "apiextensions.crossplane.io/v1", "kind": "CompositeResourceDefinition",
        "metadata": {"name": format!("xr{i}s.{group}")}, "spec": {
        "group": group, "names": {"plural": format!("xr{i}s"), "kind": format!("Xr{i}")},
        "claimNames": if i == UNCLAIMED { Value::Null } else { claims },
        "versions": [{"name": "v1", "served": true, "referenceable": true, "schema": schema}],
    }})
}

fn revision(member: usize) -> Value {
    let labels =
        json!({"pkg.crossplane.io/package": format!("cloud-{member}"), "pkg.crossplane.io/provider-family": "cloud"});
    let image = format!("xpkg.example.org/cloud/cloud-{member}:v1");
    json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision",
        "metadata": {"name": format!("cloud-{member}-a"), "labels": labels},
        "spec": {"desiredState": "Active", "image": image, "revision": 1}})
}

fn refs(member: usize, resources: usize) -> Vec<Value> {
    let definition = |i: usize| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "name": format!("things{i}.m{member}.cloud.example.org")})
    };
    (0..resources).map(definition).collect()
}

/// A namespace that enables three definitions.
fn namespace(i: usize) -> Value {
    let enabled = |k: usize| (i * 3 + k) % COUNT;
    let annotations: serde_json::Map<String, Value> = (0..3)
        .map(|k| {
            let xrd = enabled(k);
            (format!("rbac.crossplane.io/xr{xrd}s.g{}.acme.io", xrd % 40), json!("xrd-enabled"))
        })
        .collect();
    json!({"metadata": {"name": format!("team-{i}"), "annotations": annotations}})
}

/// The definition without claims gets some.
async fn gain_claims(admin: &mut Connection) -> Result<()> {
    let path = format!("{XRDS}/xr{UNCLAIMED}s.g{}.acme.io", UNCLAIMED % 40);
    let names = json!({"plural": format!("claim{UNCLAIMED}s"), "kind": format!("Claim{UNCLAIMED}")});
    let patch = json!({"spec": {"claimNames": names}});
    let (code, answer) = admin.ask("PATCH", &path, "application/merge-patch+json", &patch).await.context(path)?;
    ensure!(code == 200, "{answer}");
    Ok(())
}

/// What the package manager finds in a member's package.
async fn describe(admin: &mut Connection, member: usize, resources: usize) -> Result<()> {
    let path = format!("{REVISIONS}/cloud-{member}-a/status");
    let status = json!({"status": {"objectRefs": refs(member, resources)}});
    let (code, answer) = admin.ask("PATCH", &path, "application/merge-patch+json", &status).await.context(path)?;
    ensure!(code == 200, "{answer}");
    Ok(())
}
