//! Crossplane's own RBAC manager in a large world: what it takes to write all roles, and what to follow one change.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
use rolewright_testkit::client::Connection;
use rolewright_testkit::peers::{Crossplane, Project};
use rolewright_testkit::process;
use serde_json::{Value, json};

use crate::program;
use crate::server::{Server, send};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const REVISIONS: &str = "/apis/pkg.crossplane.io/v1/providerrevisions";
const XRDS: &str = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions";
const COUNT: usize = 2_000;
const MEMBERS: usize = 70;
const RESOURCES: usize = 15;
const PATIENCE: Duration = Duration::from_secs(60);

/// What was measured of one program.
pub(crate) struct Figures {
    pub(crate) all: Work,
    /// One member of the family gains a resource.
    pub(crate) family: Work,
    /// Resident megabytes after all of it.
    pub(crate) memory: f64,
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

/// Crossplane's manager on a server that has its world and none of its roles.
pub(crate) async fn theirs(server: &Server, crossplane: &Crossplane) -> Result<Figures> {
    fill(server, crossplane).await?;
    let log = std::env::temp_dir().join(format!("rolewright-bench-crossplane-{}.log", std::process::id()));
    let writes = server.writes().await?;
    let began = Instant::now();
    let mut manager = crossplane.rbac(server.kubeconfig(), &log)?;
    let (at, cpu) = program::busy_until(manager.id()).await?;
    let all = work(began, at, cpu, server.writes().await? - writes);
    ensure!(all.writes > 0.0, "it wrote nothing; its log is `{}`", log.display());

    let (writes, before) = (server.writes().await?, process::cpu(manager.id())?);
    let mut admin = server.connect().await?;
    let began = Instant::now();
    describe(&mut admin, 0, RESOURCES + 1).await?;
    let (at, cpu) = program::busy_until(manager.id()).await?;
    let family = work(began, at, cpu.saturating_sub(before), server.writes().await? - writes);
    let memory = process::resident(manager.id())?;
    manager.end()?;
    std::fs::remove_file(log)?;
    Ok(Figures { all, family, memory })
}

fn work(began: Instant, at: Instant, cpu: Duration, writes: f64) -> Work {
    Work { wall: (at - began).as_secs_f64() * 1e3, cpu: cpu.as_secs_f64() * 1e3, writes }
}

/// Crossplane's definitions, many composite resources, and a family of providers.
pub(crate) async fn fill(server: &Server, crossplane: &Crossplane) -> Result<()> {
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
    server.fill(XRDS, (0..COUNT).map(xrd).collect()).await?;
    server.fill(REVISIONS, (0..MEMBERS).map(revision).collect()).await?;
    for member in 0..MEMBERS {
        describe(&mut admin, member, RESOURCES).await?;
    }
    Ok(())
}

fn xrd(i: usize) -> Value {
    let group = format!("g{}.acme.io", i % 40);
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"size": {"type": "integer"}}}}}});
    json!({"metadata": {"name": format!("xr{i}s.{group}")}, "spec": {
        "group": group, "names": {"plural": format!("xr{i}s"), "kind": format!("Xr{i}")},
        "claimNames": {"plural": format!("claim{i}s"), "kind": format!("Claim{i}")},
        "versions": [{"name": "v1", "served": true, "referenceable": true, "schema": schema}],
    }})
}

fn revision(member: usize) -> Value {
    let labels =
        json!({"pkg.crossplane.io/package": format!("cloud-{member}"), "pkg.crossplane.io/provider-family": "cloud"});
    let image = format!("xpkg.example.org/cloud/cloud-{member}:v1");
    json!({"metadata": {"name": format!("cloud-{member}-a"), "labels": labels},
        "spec": {"desiredState": "Active", "image": image, "revision": 1}})
}

/// What the package manager finds in a member's package.
async fn describe(admin: &mut Connection, member: usize, resources: usize) -> Result<()> {
    let definition = |i: usize| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "name": format!("things{i}.m{member}.cloud.example.org")})
    };
    let refs: Vec<Value> = (0..resources).map(definition).collect();
    let path = format!("{REVISIONS}/cloud-{member}-a/status");
    let status = json!({"status": {"objectRefs": refs}});
    let (code, answer) = admin.ask("PATCH", &path, "application/merge-patch+json", &status).await.context(path)?;
    ensure!(code == 200, "{answer}");
    Ok(())
}
