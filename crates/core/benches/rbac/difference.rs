//! What one changed role means, in a large world.

use anyhow::Result;
use rolewright_core::{RoleKey, Rule, diff};
use rolewright_testkit::bench::{Budget, Row, nanoseconds_per_call, wanted};

use crate::decide::world;

pub(crate) fn run() -> Result<()> {
    let name = "diff: one of 10k roles, 20k bindings";
    if !wanted(name) {
        return Ok(());
    }
    let before = world(10_000);
    let mut after = before.clone();
    if let Some(role) = after.roles.get_mut(&RoleKey::cluster("role-7")) {
        role.rules.push(Rule::resources([""], ["secrets"], ["get"]));
    }
    anyhow::ensure!(!diff(&before, &after).is_empty(), "somebody gains secrets");
    let ours = nanoseconds_per_call(|| diff(&before, &after).len());
    Row::new(name, "ns", ours, None, Budget::Told).report()
}
