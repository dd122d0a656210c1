//! One access decision, from 100 to 100,000 bindings, and what the index weighs.

use anyhow::Result;
use rolewright_core::{Authorizer, Binding, Name, Role, RoleRef, Rule, Subject, World};
use rolewright_testkit::ask::Ask;
use rolewright_testkit::bench::{Budget, Row, nanoseconds_per_call, wanted};
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::wire::Objects;
use serde::Deserialize;
use serde_json::{Value, json};

/// `n` ClusterRoles, `n` ClusterRoleBindings and `n` RoleBindings in `n / 10` namespaces.
pub(crate) fn world(n: usize) -> World {
    let roles = (0..n).map(|i| {
        let group = format!("g{}.acme.io", i % 97);
        let rule = |resource: String, verbs: [&'static str; 3]| Rule {
            api_groups: [Name::from(group.as_str())].into(),
            resources: [Name::from(resource)].into(),
            ..Rule::resources([""], [""], verbs)
        };
        let rules = [
            rule(format!("r{i}"), ["get", "list", "watch"]),
            rule(format!("r{i}/status"), ["get", "update", "patch"]),
            Rule::resources([""], ["pods", "configmaps"], ["get", "list", "watch"]),
        ];
        Role::cluster(format!("role-{i}"), rules)
    });
    let cluster = (0..n).map(|i| {
        let subjects = [Subject::user(format!("user-{i}")), Subject::group(format!("team-{}", i % 500))];
        Binding::cluster(format!("cluster-{i}"), RoleRef::cluster_role(format!("role-{i}")), subjects)
    });
    let local = (0..n).map(|i| {
        let subjects = [Subject::user(format!("user-{}", (i * 7) % n)), Subject::service_account("", "ci")];
        let namespace = format!("ns-{}", i % (n / 10));
        Binding::namespaced(namespace, format!("local-{i}"), RoleRef::cluster_role(format!("role-{i}")), subjects)
    });
    World::new(roles, cluster.chain(local))
}

/// Half of the questions are allowed: by a cluster binding, by a group, in a namespace; half are denied.
fn asks(n: usize) -> Vec<Ask> {
    let ask = |i: usize, resource: usize, namespace: usize, verb: &str| Ask {
        user: format!("user-{i}").into(),
        groups: vec![format!("team-{}", i % 500).into(), "system:authenticated".into()],
        verb: verb.into(),
        group: format!("g{}.acme.io", resource % 97).into(),
        resource: format!("r{resource}").into(),
        namespace: format!("ns-{namespace}").into(),
        name: "thing".into(),
        ..Ask::default()
    };
    let spread = |k: usize| (k * 7919) % n;
    (0..64)
        .map(|k| match k % 4 {
            0 => ask(spread(k), spread(k), k % (n / 10), "get"),
            1 => ask((spread(k) * 7) % n, spread(k), spread(k) % (n / 10), "list"),
            2 => ask(spread(k), spread(k), k % (n / 10), "delete"),
            _ => ask(spread(k), (spread(k) + 1) % n, k % (n / 10), "get"),
        })
        .collect()
}

/// One user with `n` roles in one place, as platforms make them that bind per project; the questions are denied, so that
/// nobody can stop early.
fn busy_user(n: usize) -> (World, Vec<Ask>) {
    let role = |i: usize| Role::cluster(format!("role-{i}"), [Rule::resources([""], ["pods", "secrets"], ["get"])]);
    let bind = |i: usize| {
        Binding::cluster(format!("b{i}"), RoleRef::cluster_role(format!("role-{i}")), [Subject::user("busy")])
    };
    let ask = |resource: &str| Ask {
        user: "busy".into(),
        verb: "delete".into(),
        resource: resource.into(),
        namespace: "dev".into(),
        ..Ask::default()
    };
    (World::new((0..n).map(role), (0..n).map(bind)), vec![ask("pods"), ask("configmaps")])
}

#[derive(Deserialize)]
struct Timed {
    ns_per_op: f64,
    allowed: usize,
}

pub(crate) fn run(mut oracle: Option<&mut Oracle>) -> Result<()> {
    if !wanted("decide:") {
        return Ok(());
    }
    let mut ours = Vec::new();
    for (n, label) in
        [(100, "100 roles, 200"), (1_000, "1k roles, 2k"), (10_000, "10k roles, 20k"), (100_000, "100k roles, 200k")]
    {
        let world = world(n);
        let mut authorizer = Authorizer::default();
        let roles = allocation_counter::measure(|| world.roles.values().for_each(|r| authorizer.set_role(r.clone())));
        let bindings =
            allocation_counter::measure(|| world.bindings.values().for_each(|b| authorizer.set_binding(b.clone())));
        // The walk over 300,000 objects would take the peer minutes, and the trend is plain by then.
        let peer = oracle.as_deref_mut().filter(|_| n <= 10_000);
        let (nanoseconds, peer) = compare(peer, &world, &authorizer, &asks(n), (40_000 / n).max(4))?;
        ours.push(nanoseconds);
        let budget = if n == 10_000 { Budget::TimesBetter(1000.0) } else { Budget::Told };
        Row::new(format!("decide: {label} bindings"), "ns", nanoseconds, peer, budget).report()?;
        if n == 10_000 {
            let bytes = |counted: allocation_counter::AllocationInfo, n: usize| float(counted.bytes_current) / count(n);
            Row::new("decide: index per role of 3 rules", "B", bytes(roles, n), None, Budget::Told).report()?;
            let per_binding = bytes(bindings, 2 * n);
            Row::new("decide: index per binding to 2", "B", per_binding, None, Budget::Told).report()?;
        }
    }
    if let (Some(first), Some(last)) = (ours.first(), ours.last()) {
        Row::new("decide: growth from 100 to 100k", "x", last / first, None, Budget::AtMost(5.0)).report()?;
    }
    let (world, asks) = busy_user(4_000);
    let (nanoseconds, peer) = compare(oracle, &world, &Authorizer::new(&world), &asks, 100)?;
    Row::new("decide: user with 4,000 bindings", "ns", nanoseconds, peer, Budget::Told).report()
}

/// Nanoseconds of one decision, ours and the peer's, which must agree.
fn compare(
    peer: Option<&mut Oracle>,
    world: &World,
    authorizer: &Authorizer,
    asks: &[Ask],
    passes: usize,
) -> Result<(f64, Option<f64>)> {
    let asked: Vec<_> = asks.iter().map(|ask| (ask.user(), ask.request())).collect();
    let decide = || asked.iter().filter(|(user, request)| authorizer.allows(user, request)).count();
    let allowed = decide();
    let ours = nanoseconds_per_call(decide) / count(asked.len());
    let Some(oracle) = peer else { return Ok((ours, None)) };
    let _: Value = oracle.ask("load", json!({"world": Objects::from(world)}))?;
    let timed: Timed = oracle.ask("bench_authorize", json!({"requests": asks, "iterations": passes}))?;
    anyhow::ensure!(timed.allowed == allowed, "the peer allows {}, we allow {allowed}", timed.allowed);
    Ok((ours, Some(timed.ns_per_op)))
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).expect("bench sizes are small"))
}

fn float(bytes: i64) -> f64 {
    f64::from(i32::try_from(bytes).expect("an index of bench size is below 2 GiB"))
}
