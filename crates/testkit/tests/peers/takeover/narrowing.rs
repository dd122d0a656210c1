//! What Crossplane's manager wrote and we took over can be taken away: rules, subjects, labels and whole objects.

use anyhow::{Result, ensure};
use rolewright_core::subject::service_account_user;
use serde_json::{Value, json};

use super::watchman::may;
use super::{generated, software_only};
use crate::RBAC;
use crate::module::{Ours, stock};
use crate::servers::{Home, eventually};
use crate::world::{HOME, Reference, World, apply};

const HELM: &str = "helm.example.org";

pub(super) async fn story(home: &Home, world: &World) -> Result<()> {
    let manager = Ours::start(home, stock());
    let mut less = world.clone();
    for revision in less.revisions.iter_mut().filter(|revision| revision.name == "helm-a") {
        revision.refs.retain(|reference| *reference == Reference::Served(format!("releases.{HELM}")));
    }
    for deployment in less.deployments.iter_mut().filter(|deployment| deployment.revision == "helm-a") {
        "helm-2".clone_into(&mut deployment.account);
    }
    less.accounts.clear();
    apply(home, world, &less).await?;
    until(home, "clusterroles/crossplane:provider:helm-a:system", "fewer rules", |role| {
        let text = role["rules"].to_string();
        text.contains("releases/status") && !text.contains("providerconfigs")
    })
    .await?;
    until(home, "clusterrolebindings/crossplane:provider:helm-a:system", "another subject", |binding| {
        binding["subjects"] == json!([{"kind": "ServiceAccount", "namespace": HOME, "name": "helm-2"}])
    })
    .await?;
    let old = service_account_user(HOME, "helm");
    denied(home, &old, "releases", "get").await?;
    denied(home, "crossplane-edit", "providerconfigs", "delete").await?;
    ensure!(may(home, "crossplane-edit", HELM, "releases", "delete").await?, "what was not narrowed stays");
    for (name, object) in generated(home).await? {
        let owners = object["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len);
        ensure!(owners == 1 && object["metadata"]["ownerReferences"][0]["controller"] == true, "{name}: {object:#}");
    }
    manager.end().await?;
    lowered(home).await?;
    let manager = Ours::start(home, stock());
    apply(home, &less, world).await?;
    until(home, "clusterroles/crossplane:provider:helm-a:aggregate-to-view", "what was there", |role| {
        role["rules"].to_string().contains("providerconfigs")
    })
    .await?;
    manager.end().await
}

/// A lower level takes away what people had.
async fn lowered(home: &Home) -> Result<()> {
    let manager = Ours::start(home, software_only());
    until(home, "clusterroles/crossplane:provider:helm-a:aggregate-to-edit", "only the label of software", |role| {
        role["metadata"]["labels"]
            == json!({"app.kubernetes.io/managed-by": "rolewright", "rbac.crossplane.io/aggregate-to-crossplane": "true"})
    })
    .await?;
    eventually("roles of people to go", || async {
        let people = |name: &&String| {
            ["view", "browse"].iter().any(|role| name.ends_with(&format!(":aggregate-to-{role}")))
                || (name.contains(":composite:") && name.ends_with(":aggregate-to-edit"))
        };
        let left = generated(home).await?.into_keys().find(|name| people(&name));
        Ok(left.map_or(Ok(()), |name| Err(format!("{}: {name} is still there", home.name))))
    })
    .await?;
    for user in ["crossplane-admin", "crossplane-edit", "crossplane-view"] {
        denied(home, user, "releases", "get").await?;
    }
    let core = service_account_user(HOME, "crossplane");
    ensure!(may(home, &core, HELM, "releases", "get").await?, "Crossplane works on");
    ensure!(may(home, "crossplane-view", "pkg.crossplane.io", "providers", "get").await?, "what is Helm's stays");
    manager.end().await
}

async fn denied(home: &Home, user: &str, resource: &str, verb: &str) -> Result<()> {
    eventually("access to go", || async {
        let may = may(home, user, HELM, resource, verb).await?;
        Ok(if may { Err(format!("{}: {user} may still {verb} {resource}", home.name)) } else { Ok(()) })
    })
    .await
}

async fn until(home: &Home, object: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Result<()> {
    let found = home.until(&format!("{RBAC}/{object}"), |answer| answer.status == 200 && holds(&answer.body)).await;
    found.map(|_| ()).map_err(|error| error.context(what.to_owned()))
}
