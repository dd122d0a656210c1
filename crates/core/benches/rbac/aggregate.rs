//! One changed role among many aggregated ones, and a cold start.

use std::fmt::Write;

use anyhow::Result;
use rolewright_core::aggregate::{Aggregation, Cycles};
use rolewright_core::{LabelSelector, Name, Role, Rule};
use rolewright_testkit::bench::{Budget, Row, nanoseconds_per_call, wanted};
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::wire::RoleObject;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

const COMPONENTS: usize = 2_000;
const NAMESPACES: usize = 500;

fn label(key: &str, value: &str) -> LabelSelector {
    LabelSelector { match_labels: [(Name::from(key), Name::from(value))].into(), ..LabelSelector::default() }
}

/// A role for each XRD, as Crossplane's manager writes them.
fn component(i: usize, verbs: [&'static str; 3]) -> Role {
    let rule = |resources: [String; 2], verbs: [&'static str; 3]| Rule {
        api_groups: [format!("g{}.acme.io", i % 40).into()].into(),
        resources: resources.map(Name::from).into(),
        ..Rule::resources([""], [""], verbs)
    };
    let status = [format!("xr{i}/status"), format!("claim{i}/status")];
    let rules = [rule([format!("xr{i}"), format!("claim{i}")], verbs), rule(status, ["get", "list", "watch"])];
    Role::cluster(format!("component-{i:04}"), rules).label("aggregate-to-all", "true").label("xrd", i.to_string())
}

/// 2,000 components, a base role, 500 namespace roles that select the base and three components each, and one role that
/// selects everything.
fn roles() -> Vec<Role> {
    let base = Role::cluster("base", [Rule::resources([""], ["configmaps", "events"], ["get", "list", "watch"])]);
    let namespace = |i: usize| {
        let xrd = |k: usize| label("xrd", &((i * 3 + k) % COMPONENTS).to_string());
        Role::aggregated(format!("ns-{i:03}-edit"), [label("base", "true"), xrd(0), xrd(1), xrd(2)])
    };
    (0..COMPONENTS)
        .map(|i| component(i, ["get", "list", "watch"]))
        .chain([base.label("base", "true"), Role::aggregated("all", [label("aggregate-to-all", "true")])])
        .chain((0..NAMESPACES).map(namespace))
        .collect()
}

/// The same roles, with what was computed stored in them.
fn converged(roles: &[Role]) -> (Vec<Role>, Aggregation) {
    let aggregation = Aggregation::from_roles(roles);
    let settle = |role: &Role| match aggregation.rules(role.key.name()) {
        Some(rules) => Role { rules: rules.cloned().collect(), ..role.clone() },
        None => role.clone(),
    };
    let settled: Vec<Role> = roles.iter().map(settle).collect();
    let aggregation = Aggregation::from_roles(&settled);
    (settled, aggregation)
}

#[derive(Deserialize)]
struct Timed {
    cpu_ns: f64,
    digest: String,
}

pub(crate) fn run(oracle: Option<&mut Oracle>) -> Result<()> {
    change_one(oracle)?;
    circles()?;
    cold_start()
}

fn change_one(oracle: Option<&mut Oracle>) -> Result<()> {
    let name = "aggregate: one of 2,000 roles, CPU";
    if !wanted(name) {
        return Ok(());
    }
    let (roles, mut aggregation) = converged(&roles());
    anyhow::ensure!(aggregation.drift().count() == 0, "a converged world has nothing to write");
    let versions = [component(7, ["get", "list", "create"]), component(7, ["get", "list", "watch"])];
    let mut turn = 0;
    let ours = nanoseconds_per_call(|| {
        turn += 1;
        versions.get(turn % 2).map(|role| aggregation.set(role).len())
    });
    let changed = &versions[0];
    aggregation.set(changed);
    let peer = match oracle {
        None => None,
        Some(oracle) => {
            let objects: Vec<RoleObject> = roles.iter().map(Into::into).collect();
            let fields = json!({"clusterRoles": objects, "change": RoleObject::from(changed)});
            let timed: Timed = oracle.ask("bench_aggregate", fields)?;
            anyhow::ensure!(timed.digest == digest(&aggregation)?, "both arrive at the same rules");
            Some(timed.cpu_ns)
        }
    };
    Row::new(name, "ns", ours, peer, Budget::TimesBetter(1000.0)).report()
}

/// Names and rules of all aggregated roles, as `testbed oracle` digests them.
fn digest(aggregation: &Aggregation) -> Result<String> {
    let mut hash = Sha256::new();
    for name in aggregation.aggregated() {
        let rules: Vec<&Rule> = aggregation.rules(name).map(Iterator::collect).unwrap_or_default();
        // Through a value, because that sorts the members.
        let text = serde_json::to_value(&rules)?.to_string();
        hash.update(format!("{name}\n{text}\n"));
    }
    let mut hex = String::new();
    for byte in hash.finalize() {
        write!(hex, "{byte:02x}")?;
    }
    Ok(hex)
}

/// A role that closes and opens a circle, beside more and more that have nothing to do with it.
fn circles() -> Result<()> {
    let name = "aggregate: one circle";
    if !wanted(name) {
        return Ok(());
    }
    let link = |name: &str, to: &str| Role::aggregated(name, [label("in", to)]).label("in", name);
    let versions = [link("b", "a"), link("b", "c")];
    let per_change = |others: usize| {
        let others = (0..others).map(|i| link(&format!("r{i}"), &format!("r{}", i / 2)));
        let roles: Vec<Role> = others.chain([link("a", "b"), link("b", "c")]).collect();
        let (mut aggregation, mut cycles) = (Aggregation::from_roles(&roles), Cycles::default());
        cycles.follow(&aggregation, roles.iter().map(|role| role.key.name()));
        let mut turn = 0;
        nanoseconds_per_call(|| {
            turn += 1;
            let role = versions.get(turn % 2)?;
            aggregation.set(role);
            Some(cycles.follow(&aggregation, [role.key.name()]).len())
        })
    };
    let (some, many) = (per_change(500), per_change(8_000));
    Row::new(format!("{name} among 500 roles"), "ns", some, None, Budget::Told).report()?;
    Row::new(format!("{name}, 500 to 8k"), "x", many / some, None, Budget::AtMost(2.0)).report()
}

fn cold_start() -> Result<()> {
    let name = "aggregate: cold start";
    if !wanted(name) {
        return Ok(());
    }
    let world = |n: usize| -> Vec<Role> {
        let selecting = (0..n / 10).map(|i| Role::aggregated(format!("t{i}"), [label("xrd", &i.to_string())]));
        (0..n).map(|i| component(i, ["get", "list", "watch"])).chain(selecting).collect()
    };
    let per_role = |n: u32| {
        let roles = world(n as usize);
        nanoseconds_per_call(|| Aggregation::from_roles(&roles)) / f64::from(n)
    };
    // Below 10,000 roles everything fits into the processor's cache, which says nothing about the algorithm.
    let (some, many) = (per_role(10_000), per_role(80_000));
    Row::new(format!("{name}, per role of 10k"), "ns", some, None, Budget::Told).report()?;
    Row::new(format!("{name}, 10k to 80k"), "x", many / some, None, Budget::AtMost(2.0)).report()
}
