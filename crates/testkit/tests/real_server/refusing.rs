//! What the server refuses to store, and how it says so.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use rolewright_core::escalation::{RoleWrite, check_binding, check_role};
use rolewright_core::{Authorizer, Binding, LabelSelector, Role, RoleRef, Rule, Subject, User, World, validate};
use rolewright_testkit::apiserver::Client;
use rolewright_testkit::wire::{BindingObject, RoleObject};

use super::{RBAC, bindings_path, create, roles_path};

pub(crate) fn refusals_are_the_servers(client: &mut Client, world: &World) -> Result<()> {
    // rae may write roles and bindings, and holds what `view` gives in `default`.
    let writer = Role::cluster("writer", [Rule::resources(["rbac.authorization.k8s.io"], ["*"], ["create"])]);
    let rae = User::new("rae", ["devs", "system:authenticated"]);
    let bindings = [
        Binding::cluster("writer", RoleRef::cluster_role("writer"), [Subject::user("rae")]),
        Binding::namespaced("default", "rae-views", RoleRef::cluster_role("view"), [Subject::user("rae")]),
    ];
    create(client, "clusterroles", &RoleObject::from(&writer))?;
    for binding in &bindings {
        create(client, &bindings_path(binding), &BindingObject::from(binding))?;
    }
    let devs = Binding::namespaced("default", "devs", RoleRef::cluster_role("edit"), [Subject::group("devs")]);
    let world = world.clone().with(World::new([writer], bindings.into_iter().chain([devs])));
    let authorizer = Authorizer::new(&world);

    let read = || [Rule::resources([""], ["pods", "nodes"], ["get", "list"]), Rule::urls(["/metrics"], ["get"])];
    let selector = LabelSelector { match_labels: [("a".into(), "b".into())].into(), ..LabelSelector::default() };
    let roles = [
        Role::namespaced("default", "fits", [Rule::resources([""], ["pods"], ["get"])]),
        Role::namespaced(
            "default",
            "too-much",
            [Rule::resources(["apps"], ["deployments/status"], ["patch", "update"])],
        ),
        Role::namespaced("kube-system", "elsewhere", [Rule::resources([""], ["pods"], ["get"])]),
        Role::cluster("everywhere", read()),
        Role::cluster("nothing", []),
        Role::aggregated("gathers", [selector]),
    ];
    for role in &roles {
        let ours = check_role(&authorizer, &rae, &RoleWrite { role, old: None, request_name: "" });
        same_refusal(
            client,
            &rae,
            &roles_path(role),
            &RoleObject::from(role),
            role.key.name(),
            ours.map_err(|e| e.to_string()),
        )?;
    }
    let edit = || RoleRef::cluster_role("edit");
    let bind = [
        Binding::namespaced("default", "may", edit(), [Subject::user("x")]),
        Binding::namespaced("default", "may-not", RoleRef::cluster_role("system:monitoring"), [Subject::user("x")]),
        Binding::namespaced("kube-system", "not-there", edit(), [Subject::user("x")]),
        Binding::cluster("not-all", RoleRef::cluster_role("system:basic-user"), [Subject::user("x")]),
    ];
    for binding in &bind {
        let ours = check_binding(&authorizer, &rae, binding).map_err(|e| e.to_string());
        same_refusal(client, &rae, &bindings_path(binding), &BindingObject::from(binding), binding.key.name(), ours)?;
    }
    Ok(())
}

fn same_refusal(
    client: &mut Client,
    user: &User,
    path: &str,
    object: &impl serde::Serialize,
    name: &str,
    ours: Result<(), String>,
) -> Result<()> {
    let start = Instant::now();
    let answer = loop {
        let answer = client.post_as(user, &format!("{RBAC}/{path}"), object)?;
        // The right to write at all arrives through an informer.
        let cannot = answer.body["message"].as_str().is_some_and(|text| text.contains("cannot create resource"));
        if !cannot || start.elapsed() > Duration::from_secs(5) {
            break answer;
        }
        sleep(Duration::from_millis(50));
    };
    let message = answer.body["message"].as_str().unwrap_or_default();
    match ours {
        Ok(()) => assert_eq!(answer.status, 201, "{name}: {message}"),
        Err(text) => {
            assert_eq!(answer.status, 403, "{name}: {message}");
            let theirs = message.split_once("is forbidden: ").map_or(message, |(_, text)| text);
            assert_eq!(theirs, text, "{name}");
        }
    }
    Ok(())
}

pub(crate) fn validation_is_the_servers(client: &mut Client) -> Result<()> {
    let bad = [
        Role::cluster("a/b", [Rule::default()]),
        Role::cluster("x", [Rule { non_resource_urls: vec!["/x".into()], ..Rule::resources([""], ["pods"], ["get"]) }]),
        Role::aggregated("x", []),
        Role::cluster("x", []).label("-bad-", "also bad"),
        Role::namespaced("default", "x", [Rule::urls(["/x"], ["get"]), Rule::resources([], ["pods"], ["get"])]),
    ];
    for role in &bad {
        let answer = client.post(&format!("{RBAC}/{}", roles_path(role)), &RoleObject::from(role))?;
        let ours = validate::summary(&validate::role(role));
        let message = answer.body["message"].as_str().unwrap_or_default();
        assert_eq!(answer.status, 422, "{message}");
        assert!(message.ends_with(&format!("is invalid: {ours}")), "the server says `{message}`, we say `{ours}`");
    }
    Ok(())
}
