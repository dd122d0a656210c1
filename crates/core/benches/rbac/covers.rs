//! The escalation check of a large role against a user with many rules.

use anyhow::Result;
use rolewright_core::{Rule, covers};
use rolewright_testkit::bench::{Budget, Row, nanoseconds_per_call, wanted};
use rolewright_testkit::oracle::Oracle;
use serde::Deserialize;
use serde_json::json;

fn rules(n: usize) -> Vec<Rule> {
    let rule = |i: usize| Rule {
        api_groups: [format!("g{}.acme.io", i % 50).into()].into(),
        resources: [format!("r{i}").into(), format!("r{i}/status").into()].into(),
        ..Rule::resources([""], [""], ["get", "list", "watch", "update"])
    };
    (0..n).map(rule).collect()
}

#[derive(Deserialize)]
struct Timed {
    ns_per_op: f64,
}

pub(crate) fn run(oracle: Option<&mut Oracle>) -> Result<()> {
    let name = "covers: 500 rules by 5,000";
    if !wanted(name) {
        return Ok(());
    }
    let owner = rules(5_000);
    let servant: Vec<Rule> = rules(5_000).into_iter().step_by(10).collect();
    anyhow::ensure!(covers(&owner, &servant).is_empty(), "the owner holds all of it");
    let ours = nanoseconds_per_call(|| covers(&owner, &servant).len());
    let peer = match oracle {
        None => None,
        Some(oracle) => {
            let fields = json!({"owner": owner, "servant": servant, "iterations": 1});
            Some(oracle.ask::<Timed>("bench_covers", fields)?.ns_per_op)
        }
    };
    Row::new(name, "ns", ours, peer, Budget::TimesBetter(50.0)).report()
}
