//! A world that changes, and what each change means.

use std::io::Write;

use anyhow::Result;
use rolewright_core::aggregate::{Aggregation, Source};
use rolewright_core::authorize::{Decision, Reason};
use rolewright_core::diff::Change;
use rolewright_core::{Authorizer, Name, Principal, Request, Role, RoleKey, Rule, Target, User, World, diff};

use crate::output::{NO, QUIET, YES};

/// The world with its aggregation and its authorizer, kept in step.
pub(super) struct Story {
    world: World,
    aggregation: Aggregation,
    authorizer: Authorizer,
}

impl Story {
    pub(super) fn new(world: World) -> Self {
        let world = world.aggregated();
        let aggregation = Aggregation::from_roles(world.roles.values());
        let authorizer = Authorizer::new(&world);
        Self { world, aggregation, authorizer }
    }

    pub(super) fn inventory(&self) -> String {
        let aggregated = self.aggregation.aggregated().count();
        let (roles, bindings) = (self.world.roles.len(), self.world.bindings.len());
        format!("{roles} roles, {aggregated} of them aggregated, {bindings} bindings")
    }

    /// Adds or replaces a ClusterRole and tells who gains and who loses.
    pub(super) fn set(&mut self, out: &mut impl Write, role: Role) -> Result<()> {
        let sign = if self.world.roles.contains_key(&role.key) { '~' } else { '+' };
        writeln!(out, "  {sign} {}", super::title(&role))?;
        let followed = self.aggregation.set(&role);
        let before = self.world.clone();
        self.store(role);
        self.tell(out, &before, &followed)
    }

    /// Removes a ClusterRole and tells who loses.
    pub(super) fn remove(&mut self, out: &mut impl Write, key: &RoleKey) -> Result<()> {
        writeln!(out, "  - {} {}", key.kind(), key.name())?;
        let followed = self.aggregation.remove(key.name());
        let before = self.world.clone();
        self.world.roles.remove(key);
        self.authorizer.remove_role(key);
        self.tell(out, &before, &followed)
    }

    /// Answers one question, with the reason or what comes close.
    pub(super) fn ask(&self, out: &mut impl Write, user: &User, request: &Request<'_>) -> Result<()> {
        let decision = self.authorizer.explain(user, request).trace(&self.aggregation);
        let (style, answer) = if decision.allowed { (YES, "yes") } else { (NO, "no ") };
        let who = Principal::User(user.name.clone());
        writeln!(out, "  {style}{answer}{style:#} {who} {}{}", question(request), why(&decision))?;
        Ok(())
    }

    fn tell(&mut self, out: &mut impl Write, before: &World, followed: &[Name]) -> Result<()> {
        for name in followed {
            let rules = self.aggregation.rules(name).map(|rules| rules.cloned().collect()).unwrap_or_default();
            if let Some(role) = self.world.roles.get(&RoleKey::Cluster(name.clone())) {
                self.store(Role { rules, ..role.clone() });
            }
        }
        let followed: Vec<&str> = followed.iter().map(Name::as_str).collect();
        writeln!(out, "    {QUIET}followed in the same step: {}{QUIET:#}", followed.join(", "))?;
        for change in diff(before, &self.world) {
            tell_rights(out, &change, ("+", YES), &change.gained)?;
            tell_rights(out, &change, ("-", NO), &change.lost)?;
        }
        Ok(())
    }

    fn store(&mut self, role: Role) {
        self.authorizer.set_role(role.clone());
        self.world.roles.insert(role.key.clone(), role);
    }
}

fn tell_rights(
    out: &mut impl Write,
    change: &Change,
    (sign, style): (&str, anstyle::Style),
    rules: &[Rule],
) -> Result<()> {
    for rule in rules {
        let texts = |names: &[Name]| names.iter().map(Name::as_str).collect::<Vec<_>>().join(",");
        let (who, place) = (change.principal.to_string(), change.scope.to_string());
        let on = format!("{}.{}", texts(&rule.resources), texts(&rule.api_groups));
        writeln!(out, "    {style}{sign}{style:#} {who:<22} {place:<6} {on:<15} {}", texts(&rule.verbs))?;
    }
    Ok(())
}

fn question(request: &Request<'_>) -> String {
    match request.target {
        Target::Resource(on) => format!("{} {}.{} in {}", request.verb, on.resource, on.group, on.namespace),
        Target::Url(path) => format!("{} {path}", request.verb),
    }
}

fn why(decision: &Decision) -> String {
    let line = |text: &str| format!("\n      {QUIET}{text}{QUIET:#}");
    if let Some(Reason { binding, role, sources, .. }) = decision.reasons.first() {
        let through = sources.first().map(path).unwrap_or_default();
        return line(&format!("{binding} gives {role}{through}"));
    }
    let near = decision.near_misses.first();
    near.map(|miss| line(&format!("nearly: {} ({}) {}", miss.binding, miss.role.name(), miss.obstacle)))
        .unwrap_or_default()
}

/// The way of a rule from the role that wrote it, behind the role that was asked.
fn path(source: &Source) -> String {
    let names: Vec<&str> = source.names().skip(1).map(Name::as_str).collect();
    format!(", aggregated from {}", names.join(", from "))
}
