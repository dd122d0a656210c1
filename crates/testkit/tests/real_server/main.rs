//! Core against the real kube-apiserver with Kubernetes' own controllers: what it stores, decides, refuses and says.
//!
//! One server serves all of it, because a start takes seconds; the steps are told apart by name.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "what is skipped must be seen")]

mod deciding;
mod describing;
mod refusing;

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rolewright_core::aggregate::Aggregation;
use rolewright_core::{Binding, Role, RoleKey, Rule, World, bootstrap};
use rolewright_testkit::apiserver::{ApiServer, Client};
use rolewright_testkit::wire::{BindingObject, RoleObject};
use serde_json::{Value, json};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[test]
fn core_agrees_with_a_real_server() -> Result<()> {
    let Some(server) = ApiServer::start("the real API server")? else { return Ok(()) };
    let mut client = server.client()?;
    if server.controllers {
        bootstrap_policy_is_what_the_server_has(&mut client)?;
        a_labelled_role_reaches_admins_and_leaves_them_again(&mut client)?;
    } else {
        println!(
            "skipped: aggregation on the real API server needs Kubernetes' controllers, which come with the testbed"
        );
    }
    describing::documents_are_the_servers(&mut client)?;
    let world = stored(&mut client)?;
    deciding::decisions_and_reasons_are_the_servers(&mut client, &world)?;
    refusing::refusals_are_the_servers(&mut client, &world)?;
    refusing::validation_is_the_servers(&mut client)?;
    let kubeconfig = server.ready.kubeconfig.clone();
    server.stop()?;
    ensure!(!kubeconfig.exists(), "the server takes its data with it");
    Ok(())
}

/// All objects of a kind. List items carry no kind of their own.
fn list<T: serde::de::DeserializeOwned>(client: &mut Client, resource: &str, kind: &str) -> Result<Vec<T>> {
    let answer = client.get(&format!("{RBAC}/{resource}"))?;
    ensure!(answer.status == 200, "{answer:?}");
    let mut items: Vec<Value> = serde_json::from_value(answer.body["items"].clone())?;
    for item in &mut items {
        item["kind"] = json!(kind);
    }
    Ok(serde_json::from_value(items.into())?)
}

/// Roles and bindings as the server has them.
fn stored(client: &mut Client) -> Result<World> {
    let mut roles: Vec<RoleObject> = list(client, "clusterroles", "ClusterRole")?;
    roles.extend(list::<RoleObject>(client, "roles", "Role")?);
    let mut bindings: Vec<BindingObject> = list(client, "clusterrolebindings", "ClusterRoleBinding")?;
    bindings.extend(list::<BindingObject>(client, "rolebindings", "RoleBinding")?);
    Ok(World::new(roles.into_iter().map(Role::from), bindings.into_iter().map(Binding::from)))
}

/// Waits for Kubernetes' controller, which works in waves.
fn eventually(client: &mut Client, what: &str, holds: impl Fn(&World) -> bool) -> Result<World> {
    let start = Instant::now();
    loop {
        let world = stored(client)?;
        if holds(&world) {
            return Ok(world);
        }
        ensure!(start.elapsed() < Duration::from_mins(1), "{what} did not happen");
        sleep(Duration::from_millis(50));
    }
}

fn bootstrap_policy_is_what_the_server_has(client: &mut Client) -> Result<()> {
    let ours = bootstrap::world().aggregated();
    let theirs = eventually(client, "aggregation", |world| world.roles == ours.roles)?;
    assert_eq!(theirs.bindings, ours.bindings);
    Ok(())
}

fn caches() -> Role {
    let rules = [
        Rule::resources(["acme.io"], ["caches", "caches/status"], ["get", "create"]),
        Rule::resources(["acme.io"], ["caches"], ["delete"]).named(["old"]),
    ];
    Role::cluster("caches", rules).label("rbac.authorization.k8s.io/aggregate-to-edit", "true")
}

fn a_labelled_role_reaches_admins_and_leaves_them_again(client: &mut Client) -> Result<()> {
    let fresh = stored(client)?;
    let mut aggregation = Aggregation::from_roles(fresh.roles.values());
    assert_eq!(aggregation.drift().count(), 0, "a settled server leaves nothing to write");
    assert_eq!(aggregation.set(&caches()), ["admin", "edit"]);
    create(client, "clusterroles", &RoleObject::from(&caches()))?;
    let target = fresh.clone().with(World::new([caches()], [])).aggregated();
    let reached = eventually(client, "the way to admin", |world| world.roles == target.roles)?;
    for name in ["admin", "edit", "view"] {
        let ours: Vec<&Rule> = aggregation.rules(name).map(Iterator::collect).unwrap_or_default();
        let theirs: Vec<&Rule> = reached.roles[&RoleKey::cluster(name)].rules.iter().collect();
        assert_eq!(ours, theirs, "{name}, rule for rule");
    }
    assert_eq!(client.delete(&format!("{RBAC}/clusterroles/caches"))?.status, 200);
    assert_eq!(aggregation.remove("caches"), ["admin", "edit"]);
    eventually(client, "the way back", |world| world.roles == fresh.roles)?;
    create(client, "clusterroles", &RoleObject::from(&caches()))?;
    eventually(client, "the way to admin again", |world| world.roles == target.roles)?;
    Ok(())
}

fn create(client: &mut Client, resource: &str, object: &impl serde::Serialize) -> Result<()> {
    let answer = client.post(&format!("{RBAC}/{resource}"), object)?;
    ensure!(answer.status == 201, "{answer:?}");
    Ok(())
}

/// Where roles like this one are created.
fn roles_path(role: &Role) -> String {
    match role.key.namespace() {
        "" => "clusterroles".to_owned(),
        namespace => format!("namespaces/{namespace}/roles"),
    }
}

/// Where bindings like this one are created.
fn bindings_path(binding: &Binding) -> String {
    match binding.key.namespace() {
        "" => "clusterrolebindings".to_owned(),
        namespace => format!("namespaces/{namespace}/rolebindings"),
    }
}
