//! Where the rules of a ClusterRole come from.

use std::collections::BTreeMap;
use std::io::Write;

use anstyle::Style;
use anyhow::{Result, anyhow};
use rolewright_core::aggregate::{Aggregation, Source};
use rolewright_core::{Name, Role, RoleKey, Rule, World};
use rolewright_plan::rbac::CLUSTER_ROLE;
use serde_json::{Value, json};

use super::cluster_roles;
use crate::exit::Answer;
use crate::output::{self, CHANGE, HEADING, NO, QUIET, YES};
use crate::render;
use crate::world::{Place, Written};

/// The rules that some roles bring, in the order of the union.
struct Brought {
    sources: Vec<Source>,
    rules: Vec<Rule>,
}

struct Explanation<'a> {
    role: &'a Role,
    aggregation: Aggregation,
    roles: BTreeMap<&'a Name, &'a Role>,
    /// Rules with the same origin.
    brought: Vec<Brought>,
    /// What the stored rules lack, and what they have beyond.
    missing: Vec<Rule>,
    extra: Vec<Rule>,
    /// Whether our manager gathers it, and not Kubernetes.
    by_us: bool,
    /// Whether anybody has ever stored what is computed.
    settled: bool,
    /// The circle that the role is part of.
    cycle: Vec<Name>,
    /// The aggregated roles that it reaches.
    reaches: Vec<Name>,
    /// Lines break there; nothing is left out.
    width: usize,
}

pub(super) fn explain(place: &Place, name: &str, json: bool, out: &mut impl Write) -> Result<()> {
    let (world, gathered) = cluster_roles::of(place);
    let role = world
        .roles
        .get(&RoleKey::cluster(name))
        .ok_or_else(|| anyhow!("there is no ClusterRole `{name}`; hint: {}", near(&world, name)))?;
    let by_us = gathered.contains(name);
    let explanation = Explanation::of(&world, role, by_us, is_settled(place, role));
    if json {
        let page = explanation.json(&place.missing);
        serde_json::to_writer_pretty(&mut *out, &page)?;
        writeln!(out)?;
    } else {
        for missing in &place.missing {
            writeln!(out, "{NO}INCOMPLETE{NO:#} {missing}")?;
        }
        explanation.print(out)?;
    }
    match () {
        () if !place.missing.is_empty() => Err(Answer::Unknown.into()),
        () if explanation.has_findings() => Err(Answer::No.into()),
        () => Ok(()),
    }
}

/// Whether the role's rules are what some controller left there, and not what waits for one.
fn is_settled(place: &Place, role: &Role) -> bool {
    let written =
        place.files.iter().find(|file| *file.object.kind == CLUSTER_ROLE && file.object.name == *role.key.name());
    written.map_or(!place.has_files, Written::states_rules)
}

fn near(world: &World, name: &str) -> String {
    let near =
        world.roles.keys().map(RoleKey::name).find(|known| known.contains(name) || name.contains(known.as_str()));
    near.map_or_else(|| "-f PATH or --context say where to look".to_owned(), |near| format!("did you mean `{near}`"))
}

impl<'a> Explanation<'a> {
    fn of(world: &'a World, role: &'a Role, by_us: bool, settled: bool) -> Self {
        let aggregation = Aggregation::from_roles(world.roles.values());
        let name = role.key.name();
        let union: Vec<Rule> = aggregation.rules(name).into_iter().flatten().cloned().collect();
        let is_aggregated = role.aggregation.is_some();
        let mut brought: Vec<Brought> = Vec::new();
        for rule in &union {
            let sources = aggregation.sources(name, rule);
            match brought.iter_mut().find(|known| known.sources == sources) {
                Some(known) => known.rules.push(rule.clone()),
                None => brought.push(Brought { sources, rules: vec![rule.clone()] }),
            }
        }
        let only = |these: &[Rule], those: &[Rule]| -> Vec<Rule> {
            these.iter().filter(|rule| is_aggregated && !those.contains(rule)).cloned().collect()
        };
        let cycle = aggregation.cycles().into_iter().find(|members| members.contains(name)).unwrap_or_default();
        let reaches = aggregation
            .aggregated()
            .filter(|target| *target != name)
            .filter(|target| reached_from(&aggregation, target, name))
            .cloned()
            .collect();
        Self {
            missing: only(&union, &role.rules),
            extra: only(&role.rules, &union),
            by_us,
            settled,
            roles: world.roles.values().map(|role| (role.key.name(), role)).collect(),
            role,
            aggregation,
            brought,
            cycle,
            reaches,
            width: output::width(),
        }
    }

    fn has_findings(&self) -> bool {
        let drifts = self.settled && !(self.missing.is_empty() && self.extra.is_empty());
        drifts || !self.cycle.is_empty() || !self.aggregation.invalid_selectors_of(self.role.key.name()).is_empty()
    }

    /// The selector by which a step of a way finds the next role.
    fn selector(&self, role: &Name, index: usize) -> String {
        let selectors = self.roles.get(role).and_then(|role| role.aggregation.as_ref());
        selectors.and_then(|selectors| selectors.get(index)).map(render::selector).unwrap_or_default()
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        let name = self.role.key.name();
        let heading = |out: &mut dyn Write, words: &str| writeln!(out, "\n{HEADING}{words}{HEADING:#}");
        if let Some(selectors) = &self.role.aggregation {
            let rules: usize = self.brought.iter().map(|brought| brought.rules.len()).sum();
            let given = self.aggregation.contributors(name).len();
            let (rules, given) = (render::count(rules, "rule"), render::count(given, "role"));
            let who = if self.by_us { "gathered by rolewright" } else { "aggregated" };
            writeln!(out, "{HEADING}ClusterRole {name}{HEADING:#} is {who}: {rules} out of {given}")?;
            heading(out, "Selects")?;
            let invalid = self.aggregation.invalid_selectors_of(name);
            for (index, selector) in selectors.iter().enumerate() {
                let words = render::selector(selector);
                write!(out, "  {index}  {words}")?;
                let Some(invalid) = invalid.iter().find(|invalid| invalid.index == index) else {
                    writeln!(out)?;
                    continue;
                };
                let reason = format!("RW0103 selects nothing: {}", invalid.reason);
                if 7 + words.chars().count() + reason.chars().count() <= self.width {
                    writeln!(out, "  {NO}{reason}{NO:#}")?;
                } else {
                    writeln!(out)?;
                    self.print_words(out, 5, &reason, NO)?;
                }
            }
            self.print_rules(out)?;
            self.print_faults(out)?;
        } else {
            let rules = render::count(self.role.rules.len(), "rule");
            writeln!(out, "{HEADING}ClusterRole {name}{HEADING:#} is not aggregated: {rules} of its own")?;
            for rule in &self.role.rules {
                self.print_rule(out, rule)?;
            }
        }
        if !self.reaches.is_empty() {
            heading(out, "Is part of")?;
            for target in &self.reaches {
                writeln!(out, "  {target}")?;
            }
        }
        Ok(())
    }

    fn print_rules(&self, out: &mut impl Write) -> Result<()> {
        for Brought { sources, rules } in &self.brought {
            writeln!(out)?;
            for source in sources {
                writeln!(out, "{HEADING}from {}{HEADING:#}", source.role)?;
                for (hop, next) in source.path.iter().zip(source.names().skip(1)) {
                    let selector = self.selector(&hop.role, hop.selector);
                    let words = format!("{} selects {next} by {selector}", hop.role);
                    self.print_words(out, 2, &words, QUIET)?;
                }
            }
            for rule in rules {
                self.print_rule(out, rule)?;
            }
        }
        Ok(())
    }

    fn print_faults(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out)?;
        if !self.cycle.is_empty() {
            let names: Vec<&str> = self.cycle.iter().map(Name::as_str).collect();
            writeln!(out, "{CHANGE}RW0102{CHANGE:#} a circle of roles that select each other: {}", names.join(", "))?;
        }
        match (self.settled, self.missing.is_empty() && self.extra.is_empty()) {
            (false, _) => Ok(writeln!(out, "{QUIET}no controller has stored these rules yet{QUIET:#}")?),
            (true, true) => Ok(writeln!(out, "{YES}the stored rules are these{YES:#}")?),
            (true, false) => {
                writeln!(out, "{CHANGE}RW0104{CHANGE:#} the stored rules are others:")?;
                for (sign, style, rules) in [("lacks", NO, &self.missing), ("beyond", CHANGE, &self.extra)] {
                    for rule in rules {
                        write!(out, "  {style}{sign:<6}{style:#}  ")?;
                        self.print_right(out, 10, rule)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn print_rule(&self, out: &mut impl Write, rule: &Rule) -> Result<()> {
        write!(out, "    ")?;
        self.print_right(out, 4, rule)
    }

    /// What a rule gives, after so many columns: the verbs have a line of their own where they do not fit.
    fn print_right(&self, out: &mut impl Write, margin: usize, rule: &Rule) -> Result<()> {
        let (on, verbs) = render::rule(rule);
        if margin + on.chars().count() + 2 + verbs.chars().count() <= self.width {
            return Ok(writeln!(out, "{on}  {verbs}")?);
        }
        Ok(writeln!(out, "{on}\n{:margin$}  {verbs}", "")?)
    }

    /// A text in as many lines as it takes.
    fn print_words(&self, out: &mut impl Write, margin: usize, words: &str, style: Style) -> Result<()> {
        for (index, line) in render::wrapped(words, self.width - margin - 2).iter().enumerate() {
            let margin = if index == 0 { margin } else { margin + 2 };
            writeln!(out, "{:margin$}{style}{line}{style:#}", "")?;
        }
        Ok(())
    }

    fn json(&self, missing: &[String]) -> Value {
        let name = self.role.key.name();
        let invalid = self.aggregation.invalid_selectors_of(name);
        let selectors = self.role.aggregation.iter().flatten().enumerate().map(|(index, selector)| {
            let problem =
                invalid.iter().find(|invalid| invalid.index == index).map(|invalid| invalid.reason.to_string());
            json!({ "selector": selector, "problem": problem })
        });
        let source = |source: &Source| {
            let steps = source.path.iter().zip(source.names().skip(1)).map(|(hop, next)| {
                let selector = self.roles.get(&hop.role).and_then(|role| role.aggregation.as_ref()?.get(hop.selector));
                json!({ "role": hop.role, "selects": next, "selectorIndex": hop.selector, "selector": selector })
            });
            json!({ "role": source.role, "path": steps.collect::<Vec<_>>() })
        };
        let rules = self.brought.iter().flat_map(|brought| {
            let sources: Vec<Value> = brought.sources.iter().map(source).collect();
            brought.rules.iter().map(move |rule| json!({ "rule": rule, "sources": sources }))
        });
        json!({
            "incomplete": missing,
            "name": name,
            "aggregated": self.role.aggregation.is_some() && !self.by_us,
            "gatheredByRolewright": self.by_us,
            "selectors": selectors.collect::<Vec<_>>(),
            "rules": rules.collect::<Vec<_>>(),
            "stored": self.role.rules,
            "settled": self.settled,
            "lacks": self.missing,
            "beyond": self.extra,
            "cycle": self.cycle,
            "partOf": self.reaches,
        })
    }
}

/// Whether `target` selects `name` over any number of aggregated roles.
fn reached_from(aggregation: &Aggregation, target: &str, name: &Name) -> bool {
    aggregation.contributors(target).iter().any(|source| source.names().skip(1).any(|other| other == name))
}
