//! What the server refuses to store, and how it says so.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use rolewright_core::escalation::{Refusal, RoleWrite, check_binding, check_role};
use rolewright_core::{Authorizer, Binding, LabelSelector, Role, RoleRef, Rule, Subject, User, World, validate};
use rolewright_testkit::apiserver::{Answer, Client};
use rolewright_testkit::wire::{BindingObject, RoleObject};

use super::{RBAC, bindings_path, create, roles_path};

pub(crate) fn refusals_are_the_servers(client: &mut Client, world: &World) -> Result<()> {
    let world = world.clone().with(writers());
    for role in writers().roles.values() {
        create(client, &roles_path(role), &RoleObject::from(role))?;
    }
    for binding in writers().bindings.values() {
        create(client, &bindings_path(binding), &BindingObject::from(binding))?;
    }
    // A binding of the step before.
    let devs = Binding::namespaced("default", "devs", RoleRef::cluster_role("edit"), [Subject::group("devs")]);
    let authorizer = Authorizer::new(&world.with(World::new([], [devs])));
    let mut outcomes = BTreeSet::new();
    for name in USERS {
        let user = User::new(name, ["devs", "system:authenticated"]);
        for role in roles(name) {
            for request_name in ["", role.key.name().as_str()] {
                let ours = check_role(&authorizer, &user, &RoleWrite { role: &role, old: None, request_name });
                outcomes.insert(kind_of(&ours));
                let path = roles_path(&role);
                let object = RoleObject::from(&role);
                same_outcome(client, &user, &ours, &format!("{path} {request_name}"), |client| match request_name {
                    "" => client.post_as(&user, &format!("{RBAC}/{path}"), &object),
                    name => client.put_as(&user, &format!("{RBAC}/{path}/{name}"), &object),
                })?;
                if ours.is_ok() {
                    // The other way of writing it starts from nothing again.
                    client.delete(&format!("{RBAC}/{path}/{}", role.key.name()))?;
                }
            }
        }
        for binding in bindings(name) {
            let ours = check_binding(&authorizer, &user, &binding);
            outcomes.insert(kind_of(&ours));
            let path = bindings_path(&binding);
            let object = BindingObject::from(&binding);
            same_outcome(client, &user, &ours, &path, |client| {
                client.post_as(&user, &format!("{RBAC}/{path}"), &object)
            })?;
        }
    }
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), ["aggregation", "not held", "ok", "unresolved"]);
    Ok(())
}

/// All may write roles and bindings. rae holds no more than that and what her group has; esa may escalate ClusterRoles, esx
/// only the one called `named-esx`, and bea may bind two roles, one of which does not exist.
const USERS: [&str; 4] = ["rae", "esa", "esx", "bea"];

fn writers() -> World {
    let rbac = |resource, verb| Rule::resources(["rbac.authorization.k8s.io"], [resource], [verb]);
    let roles = [
        Role::cluster("writer", [rbac("*", "create"), rbac("*", "update")]),
        Role::cluster("escalates", [rbac("clusterroles", "escalate")]),
        Role::cluster("escalates-one", [rbac("clusterroles", "escalate").named(["named-esx"])]),
        Role::cluster("binds-two", [rbac("clusterroles", "bind").named(["system:monitoring", "ghost"])]),
    ];
    let bind = |role: &str, users: &[&str]| {
        let subjects: Vec<Subject> = users.iter().map(|user| Subject::user(*user)).collect();
        Binding::cluster(role, RoleRef::cluster_role(role), subjects)
    };
    let bindings = [
        bind("writer", &USERS),
        bind("escalates", &["esa"]),
        bind("escalates-one", &["esx"]),
        bind("binds-two", &["bea"]),
    ];
    World::new(roles, bindings)
}

fn roles(user: &str) -> [Role; 7] {
    let named = |kind: &str| format!("{kind}-{user}");
    let read = || [Rule::resources([""], ["pods", "nodes"], ["get", "list"]), Rule::urls(["/metrics"], ["get"])];
    let status = Rule::resources(["apps"], ["deployments/status"], ["patch", "update"]);
    let selector = LabelSelector { match_labels: [("a".into(), "b".into())].into(), ..LabelSelector::default() };
    [
        Role::namespaced("default", named("fits"), [Rule::resources([""], ["pods"], ["get"])]),
        Role::namespaced("default", named("too-much"), [status]),
        Role::namespaced("kube-system", named("elsewhere"), [Rule::resources([""], ["pods"], ["get"])]),
        Role::cluster(named("everywhere"), read()),
        Role::cluster(named("named"), read()),
        Role::cluster(named("nothing"), []),
        Role::aggregated(named("gathers"), [selector]),
    ]
}

fn bindings(user: &str) -> [Binding; 6] {
    let named = |kind: &str| format!("{kind}-{user}");
    let role = RoleRef::cluster_role;
    let whom = || [Subject::user("x")];
    [
        Binding::namespaced("default", named("held"), role("edit"), whom()),
        Binding::namespaced("default", named("monitoring"), role("system:monitoring"), whom()),
        Binding::namespaced("kube-system", named("elsewhere"), role("edit"), whom()),
        Binding::cluster(named("monitoring"), role("system:monitoring"), whom()),
        Binding::cluster(named("ghost"), role("ghost"), whom()),
        Binding::namespaced("default", named("no-role"), RoleRef::role("ghost"), whom()),
    ]
}

fn kind_of(outcome: &Result<(), Refusal>) -> &'static str {
    match outcome {
        Ok(()) => "ok",
        Err(Refusal::NotHeld { .. }) => "not held",
        Err(Refusal::AggregationNeedsAdmin) => "aggregation",
        Err(Refusal::Unresolved(_)) => "unresolved",
    }
}

/// Writes as `user` and compares. Rights arrive through informers, so a write that should pass is tried for a while.
fn same_outcome(
    client: &mut Client,
    user: &User,
    ours: &Result<(), Refusal>,
    what: &str,
    write: impl Fn(&mut Client) -> Result<Answer>,
) -> Result<()> {
    let start = Instant::now();
    let answer = loop {
        let answer = write(client)?;
        let message = answer.body["message"].as_str().unwrap_or_default();
        let early = message.contains("cannot create resource") || message.contains("cannot update resource");
        let settled = answer.status == 201 || (ours.is_err() && !early);
        if settled || start.elapsed() > Duration::from_secs(5) {
            break answer;
        }
        sleep(Duration::from_millis(50));
    };
    let message = answer.body["message"].as_str().unwrap_or_default();
    let what = format!("{} writes {what}: {message}", user.name);
    match ours {
        Ok(()) => assert_eq!(answer.status, 201, "{what}"),
        // The server names the kind of the binding here; what counts is that the role is not there.
        Err(Refusal::Unresolved(_)) => {
            assert!(answer.status == 404 && message.ends_with("\"ghost\" not found"), "{what}");
        }
        Err(refusal) => {
            assert_eq!(answer.status, 403, "{what}");
            let theirs = message.split_once("is forbidden: ").map_or(message, |(_, text)| text);
            assert_eq!(theirs, refusal.to_string(), "{what}");
        }
    }
    Ok(())
}

pub(crate) fn validation_is_the_servers(client: &mut Client) -> Result<()> {
    let bad = [
        Role::cluster("a/b", [Rule::default()]),
        Role::cluster(
            "x",
            [Rule { non_resource_urls: ["/x".into()].into(), ..Rule::resources([""], ["pods"], ["get"]) }],
        ),
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
