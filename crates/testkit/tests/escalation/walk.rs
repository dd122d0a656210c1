//! Somebody who may write roles and bindings, but holds little else, writes at random. At the end nobody holds what
//! neither they nor the writer held at the start.

use std::cell::Cell;
use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use rolewright_core::{Authorizer, Binding, Name, RBAC_GROUP, Request, Role, RoleRef, Rule, Subject, User, World};
use rolewright_server::Guard;
use rolewright_testkit::strategy;
use rolewright_testkit::strategy::words::{GROUPS, NAMESPACES, USERS};
use rolewright_testkit::wire::{BindingObject, RoleObject};
use serde_json::{Value, json};

use crate::RBAC;
use crate::rights::{gained, held, world};
use crate::servers::{Ask, Target, Who};

/// Who writes, with their groups.
const WRITER: &str = "alice";
const WRITERS_GROUP: &str = "devs";

/// One write.
#[derive(Clone, Debug)]
struct Step {
    way: usize,
    object: Written,
    /// A ceiling that the writer would like.
    ceiling: Option<Vec<Rule>>,
}

#[derive(Clone, Debug)]
enum Written {
    Role(Role),
    Binding(Binding),
}

#[derive(Clone, Debug)]
struct Walk {
    start: World,
    steps: Vec<Step>,
}

fn walks() -> impl Strategy<Value = Walk> {
    let aggregated = prop::collection::vec(strategy::cluster_role(true), 0..4);
    let start = (strategy::world(), aggregated).prop_map(|(world, aggregated)| {
        let roles = world.roles.into_values().chain(aggregated).map(harmless);
        World::new(roles, world.bindings.into_values().map(tame))
    });
    let role = prop_oneof![
        2 => strategy::cluster_role(true),
        1 => (strategy::words::word(NAMESPACES), strategy::cluster_role(false)).prop_map(|(namespace, role)| Role {
            labels: role.labels.clone(),
            ..Role::namespaced(namespace, role.key.name().clone(), role.rules)
        }),
    ];
    // Purely random rules are nearly always refused; half of the roles hold what the writer may give.
    let given = prop_oneof![1 => Just(None), 1 => prop::sample::subsequence(own(), 0..3).prop_map(Some)];
    let role = (role, given).prop_map(|(role, given)| Role { rules: given.unwrap_or(role.rules.clone()), ..role });
    let object = prop_oneof![
        3 => role.prop_map(|role| Written::Role(renamed(role))),
        2 => strategy::binding().prop_map(|binding| Written::Binding(tame(binding))),
    ];
    let ceiling = prop::option::weighted(0.2, strategy::rules(2));
    let step = (0..WAYS, object, ceiling).prop_map(|(way, object, ceiling)| Step { way, object, ceiling });
    (start, prop::collection::vec(step, 1..24)).prop_map(|(start, steps)| Walk { start, steps })
}

/// What the writer holds everywhere besides the right to write.
fn own() -> Vec<Rule> {
    vec![
        Rule::resources([""], ["pods"], ["get", "list"]),
        Rule::resources([""], ["secrets"], ["get"]).named(["web"]),
        Rule::resources(["apps"], ["deployments"], ["get"]),
        Rule::urls(["/healthz"], ["get"]),
    ]
}

/// Without the verbs that lead around the guards: who holds one of them may hand out more than they hold.
fn harmless(role: Role) -> Role {
    let mut role = renamed(role);
    for rule in &mut role.rules {
        let harmless = |verb: &Name| match verb.as_str() {
            "*" => "list".into(),
            "escalate" | "bind" | "impersonate" => "watch".into(),
            _ => verb.clone(),
        };
        rule.verbs = rule.verbs.iter().map(harmless).collect();
    }
    role
}

/// Every cluster has an `admin` of its own.
fn renamed(mut role: Role) -> Role {
    let name = |name: &Name| if name == "admin" { Name::from("chief") } else { name.clone() };
    role.key = match &role.key {
        rolewright_core::RoleKey::Cluster(old) => rolewright_core::RoleKey::Cluster(name(old)),
        rolewright_core::RoleKey::Namespaced { namespace, name: old } => {
            rolewright_core::RoleKey::namespaced(namespace.clone(), name(old))
        }
    };
    role
}

fn tame(mut binding: Binding) -> Binding {
    if binding.role_ref.name == "admin" {
        binding.role_ref.name = "chief".into();
    }
    binding
}

const WAYS: usize = 8;

impl Step {
    fn ask(&self) -> Ask {
        let (collection, object) = match &self.object {
            Written::Role(role) => (roles_path(role), json!(RoleObject::from(role))),
            Written::Binding(binding) => (bindings_path(binding), json!(BindingObject::from(binding))),
        };
        let mut object = object;
        if let Some(ceiling) = &self.ceiling {
            object["metadata"]["annotations"] = json!({"rbac.rolewright.io/ceiling": json!(ceiling).to_string()});
        }
        let path = format!("{collection}/{}", object["metadata"]["name"].as_str().unwrap_or_default());
        let members = |object: &Value| object.as_object().cloned().unwrap_or_default();
        let mut change = members(&object);
        change.retain(|member, _| !["apiVersion", "kind", "metadata"].contains(&member.as_str()));
        match self.way {
            0 | 1 => Ask::new("POST", collection, &object),
            2 => Ask::new("PUT", path, &object),
            3 => {
                change.insert(
                    "metadata".into(),
                    json!({"labels": object["metadata"]["labels"], "annotations": object["metadata"]["annotations"]}),
                );
                Ask::new("PATCH", path, &Value::Object(change)).typed("application/merge-patch+json")
            }
            4 => Ask::new("PATCH", path, &Value::Object(change)).typed("application/strategic-merge-patch+json"),
            5 => {
                let steps = change
                    .into_iter()
                    .map(|(member, value)| json!({"op": "add", "path": format!("/{member}"), "value": value}));
                Ask::new("PATCH", path, &steps.collect()).typed("application/json-patch+json")
            }
            6 => Ask::new("PATCH", format!("{path}?fieldManager=walk&force=true"), &object)
                .typed("application/apply-patch+yaml"),
            _ => Ask::new("DELETE", path, &Value::Null),
        }
    }
}

fn roles_path(role: &Role) -> String {
    match role.key.namespace() {
        "" => format!("{RBAC}/clusterroles"),
        namespace => format!("{RBAC}/namespaces/{namespace}/roles"),
    }
}

fn bindings_path(binding: &Binding) -> String {
    match binding.key.namespace() {
        "" => format!("{RBAC}/clusterrolebindings"),
        namespace => format!("{RBAC}/namespaces/{namespace}/rolebindings"),
    }
}

/// Lets the superuser write what there is at the start. What is invalid is left out.
async fn begin(target: &Target, start: &World) -> Result<()> {
    for namespace in NAMESPACES {
        let namespace = json!({"metadata": {"name": namespace}});
        target.send(&Who::Root, &Ask::new("POST", "/api/v1/namespaces", &namespace)).await?;
    }
    let writes = ["create", "update", "patch", "get", "list", "delete"];
    let all = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"];
    let writer = Role::cluster("writer", [vec![Rule::resources([RBAC_GROUP], all, writes)], own()].concat());
    let bound = Binding::cluster("writer", RoleRef::cluster_role("writer"), [Subject::user(WRITER)]);
    for role in start.roles.values().chain([&writer]) {
        target.send(&Who::Root, &Ask::new("POST", roles_path(role), &json!(RoleObject::from(role)))).await?;
    }
    for binding in start.bindings.values().chain([&bound]) {
        target
            .send(&Who::Root, &Ask::new("POST", bindings_path(binding), &json!(BindingObject::from(binding))))
            .await?;
    }
    let review = json!({"spec": {"resourceAttributes": {"verb": "patch", "group": RBAC_GROUP, "resource": "roles"}}});
    let review = Ask::new("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review);
    target.until(&Who::user(WRITER), &review, |answer| answer.body["status"]["allowed"] == true).await?;
    Ok(())
}

/// Removes what a walk may have left.
async fn clear(target: &Target) -> Result<()> {
    for (plural, kind) in [("clusterrolebindings", ""), ("rolebindings", "ns"), ("clusterroles", ""), ("roles", "ns")] {
        let all = target.must(&Ask::get(format!("{RBAC}/{plural}"))).await?;
        for item in all["items"].as_array().into_iter().flatten() {
            let bootstrap = item["metadata"]["labels"].get("kubernetes.io/bootstrapping").is_some();
            let [name, namespace] =
                ["name", "namespace"].map(|part| item["metadata"][part].as_str().unwrap_or_default());
            if bootstrap || kind == "ns" && !NAMESPACES.contains(&namespace) {
                continue;
            }
            let place = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
            target
                .send(&Who::Root, &Ask::new("DELETE", format!("{RBAC}/{place}{plural}/{name}"), &Value::Null))
                .await?;
        }
    }
    Ok(())
}

type Holdings = BTreeMap<String, BTreeMap<String, Vec<Rule>>>;

/// What everybody holds, in every place.
fn everybody(world: &World) -> Holdings {
    let places = [&[""], NAMESPACES].concat();
    let users = USERS.iter().map(|name| {
        let groups: &[&str] = if *name == WRITER { &[WRITERS_GROUP] } else { &[] };
        User::authenticated(*name, groups.iter().copied())
    });
    let members = GROUPS.iter().map(|group| User::new(format!("member of {group}"), [*group]));
    users.chain(members).map(|user| (user.name.to_string(), held(world, &user, &places))).collect()
}

/// Whether the writer holds a verb that leads around the guards, so that no promise is made of them.
fn trusted(world: &World) -> bool {
    let authorizer = Authorizer::new(world);
    let user = User::authenticated(WRITER, [WRITERS_GROUP]);
    [&[""], NAMESPACES].concat().iter().any(|namespace| {
        let rules: Vec<Rule> = authorizer.rules_for(&user, namespace).rules().cloned().collect();
        let verbs = ["escalate", "bind", "impersonate"];
        rules.iter().flat_map(|rule| &rule.verbs).any(|verb| verb == "*" || verbs.contains(&verb.as_str()))
            || verbs.iter().any(|verb| authorizer.allows(&user, &Request::resource(verb, RBAC_GROUP, "clusterroles")))
    })
}

/// How a walk went: writes that were taken and writes that were refused, or nothing if the writer was trusted.
async fn play(target: &Target, walk: &Walk) -> Result<Option<(usize, usize)>> {
    begin(target, &walk.start).await?;
    let start = settled(target).await?;
    if trusted(&start) {
        return Ok(None);
    }
    let before = everybody(&start);
    let who = Who::User(WRITER.to_owned(), vec![WRITERS_GROUP.to_owned()]);
    let (mut taken, mut refused) = (0, 0);
    for step in &walk.steps {
        let answer = target.send(&who, &step.ask()).await?;
        let odd =
            answer.body["message"].as_str().is_some_and(|text| text.starts_with("unsupported role reference kind"));
        ensure!(answer.status < 500 || odd, "{step:?}: {answer:?}");
        *if answer.status < 300 { &mut taken } else { &mut refused } += 1;
    }
    let own = &before[WRITER];
    for (name, after) in everybody(&settled(target).await?) {
        let allowed =
            before[&name].iter().map(|(place, rules)| (place.clone(), [rules.as_slice(), &own[place]].concat()));
        let more = gained(&allowed.collect(), &after);
        if !more.is_empty() {
            bail!("{name} holds what neither they nor {WRITER} held: {more:?}");
        }
    }
    Ok(Some((taken, refused)))
}

/// The objects once the controllers are done with them.
async fn settled(target: &Target) -> Result<World> {
    let start = std::time::Instant::now();
    loop {
        let now = world(target).await?;
        // WHY: a ceiling keeps roles from what they would gather; and beside a real controller some states last.
        let done = now.clone().aggregated() == now;
        if done || start.elapsed() > std::time::Duration::from_secs(3) || target.is_settled() {
            return Ok(now);
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Walks on our server.
pub(crate) fn on_ours(guard: Guard, cases: u32) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (counts, skipped) = (Cell::new((0, 0)), Cell::new(0));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let (server, target) = runtime.block_on(async { Target::in_process(guard) })?;
    let done = runner.run(&walks(), |walk| {
        let played = runtime.block_on(async {
            clear(&target).await?;
            play(&target, &walk).await
        });
        match played {
            Ok(Some((taken, refused))) => counts.set((counts.get().0 + taken, counts.get().1 + refused)),
            Ok(None) => skipped.set(skipped.get() + 1),
            Err(error) => return Err(TestCaseError::fail(format!("{error:#}"))),
        }
        Ok(())
    });
    println!(
        "{cases} walks under {guard:?}: {:?} writes taken and refused, {} walks by somebody trusted",
        counts.get(),
        skipped.get()
    );
    server.end();
    done?;
    let (taken, refused) = counts.get();
    ensure!(taken > 0 && refused > 0, "a walk is both");
    Ok(())
}

/// Walks on the real server, one after the other.
pub(crate) async fn on_real(target: &Target, cases: usize) -> Result<()> {
    let mut runner = TestRunner::deterministic();
    let mut total = (0, 0);
    for _ in 0..cases {
        let walk = walks().new_tree(&mut runner).map_err(|reason| anyhow::anyhow!("{reason}"))?.current();
        let (taken, refused) = play(target, &walk).await?.unwrap_or_default();
        total = (total.0 + taken, total.1 + refused);
        clear(target).await?;
    }
    println!("{cases} walks on the real server: {total:?} writes taken and refused");
    Ok(())
}
