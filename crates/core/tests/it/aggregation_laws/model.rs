//! Aggregation as one would say it, too slow and too simple to be wrong.

use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::selector::Requirement;
use rolewright_core::{LabelSelector, Name, Role, Rule};

use super::worlds::World;

pub(crate) type Unions = BTreeMap<Name, Vec<Rule>>;

pub(crate) fn aggregated(world: &World) -> impl Iterator<Item = &Role> {
    world.values().filter(|role| role.aggregation.is_some())
}

/// Whom a role selects and by which selector, in order; nobody if it is not aggregated.
pub(crate) fn sources<'a>(world: &'a World, target: &'a Role) -> impl Iterator<Item = (usize, &'a Role)> {
    target.aggregation.iter().flatten().enumerate().flat_map(move |(index, selector)| {
        let others = world.values().filter(move |role| role.key != target.key && matches(selector, role));
        others.map(move |role| (index, role))
    })
}

/// All that a role reaches, itself included, each with the length of a shortest way.
pub(crate) fn reach<'a>(world: &'a World, from: &'a Role) -> BTreeMap<&'a Name, usize> {
    let mut reached = BTreeMap::from([(from.key.name(), 0)]);
    let mut front = vec![from];
    for distance in 1..=world.len() {
        let mut next = Vec::new();
        for (_, source) in front.iter().flat_map(|role| sources(world, role)) {
            if !reached.contains_key(source.key.name()) {
                reached.insert(source.key.name(), distance);
                next.push(source);
            }
        }
        front = next;
    }
    reached
}

/// Roles that reach each other.
pub(crate) fn circle<'a>(world: &'a World, of: &'a Role) -> BTreeSet<&'a Name> {
    let back = |name: &Name| reach(world, &world[name]).contains_key(of.key.name());
    reach(world, of).into_keys().filter(|name| back(name)).collect()
}

/// The rules of the plain roles that a role reaches: what it must hold, in whatever order.
pub(crate) fn granted<'a>(world: &'a World, target: &'a Role) -> BTreeSet<&'a Rule> {
    let plain = reach(world, target).into_keys().map(|name| &world[name]).filter(|role| role.aggregation.is_none());
    plain.flat_map(|role| &role.rules).collect()
}

/// What Kubernetes' controller arrives at: every role copies what its sources hold, until nothing changes any more.
/// Without circles, that is; in a circle it may go on for ever.
pub(crate) fn kubernetes(world: &World) -> Unions {
    let mut held: Unions = world.iter().map(|(name, role)| (name.clone(), role.rules.clone())).collect();
    for _ in 0..=world.len() {
        for target in aggregated(world) {
            let mut union = Vec::new();
            for (_, source) in sources(world, target) {
                push_new(&mut union, &held[source.key.name()]);
            }
            held.insert(target.key.name().clone(), union);
        }
    }
    held.retain(|name, _| world[name].aggregation.is_some());
    held
}

/// What is left if some roles may gather no more than their ceiling: the least sets that hold each other up.
pub(crate) fn limited(world: &World, ceilings: &BTreeMap<Name, Vec<Rule>>) -> BTreeMap<Name, BTreeSet<Rule>> {
    let mut held: BTreeMap<Name, BTreeSet<Rule>> = BTreeMap::new();
    for (name, role) in world.iter().filter(|(_, role)| role.aggregation.is_none()) {
        held.insert(name.clone(), role.rules.iter().cloned().collect());
    }
    for _ in 0..=world.len() {
        for target in aggregated(world) {
            let name = target.key.name();
            let all = sources(world, target).filter_map(|(_, source)| held.get(source.key.name())).flatten();
            let admitted = all.filter(|rule| ceilings.get(name).is_none_or(|ceiling| ceiling.contains(rule)));
            let union: BTreeSet<Rule> = admitted.cloned().collect();
            held.insert(name.clone(), union);
        }
    }
    held.retain(|name, _| world[name].aggregation.is_some());
    held
}

/// The order that is promised for circles as well: depth first, each role of the circle once.
pub(crate) fn union(world: &World, target: &Role) -> Vec<Rule> {
    let mut union = Vec::new();
    let circle = circle(world, target);
    walk(world, target, &circle, &mut BTreeSet::from([target.key.name().clone()]), &mut union);
    union
}

fn walk(world: &World, at: &Role, circle: &BTreeSet<&Name>, visited: &mut BTreeSet<Name>, rules: &mut Vec<Rule>) {
    for (_, source) in sources(world, at) {
        let name = source.key.name();
        if source.aggregation.is_none() {
            push_new(rules, &source.rules);
        } else if !circle.contains(name) {
            push_new(rules, &union(world, source));
        } else if visited.insert(name.clone()) {
            walk(world, source, circle, visited, rules);
        }
    }
}

fn push_new(rules: &mut Vec<Rule>, more: &[Rule]) {
    for rule in more {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
}

pub(crate) fn usable(selector: &LabelSelector) -> bool {
    selector.match_expressions.iter().all(|requirement| match requirement.operator.as_str() {
        "In" | "NotIn" => !requirement.values.is_empty(),
        "Exists" | "DoesNotExist" => requirement.values.is_empty(),
        _ => false,
    })
}

pub(crate) fn matches(selector: &LabelSelector, role: &Role) -> bool {
    let holds = |requirement: &Requirement| {
        let value = role.labels.get(&requirement.key);
        let listed = value.is_some_and(|value| requirement.values.contains(value));
        match requirement.operator.as_str() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => value.is_some(),
            _ => value.is_none(),
        }
    };
    usable(selector)
        && selector.match_labels.iter().all(|(key, value)| role.labels.get(key) == Some(value))
        && selector.match_expressions.iter().all(holds)
}
