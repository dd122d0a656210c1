//! Aggregation against Kubernetes' own controller: equal where that one is right, and each place where it is wrong by
//! name (section 1.6 of the Kubernetes facts).

use std::cell::Cell;
use std::collections::BTreeMap;

use rolewright_core::aggregate::Aggregation;
use rolewright_core::selector::Requirement;
use rolewright_core::{LabelSelector, Name, Role, Rule};
use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::aggregation;
use rolewright_testkit::wire::RoleObject;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Answer {
    roles: BTreeMap<Name, Option<Vec<Rule>>>,
    converged: bool,
    writes: u64,
}

fn theirs(oracle: &mut Oracle, roles: &[Role]) -> anyhow::Result<Answer> {
    let objects: Vec<RoleObject> = roles.iter().map(Into::into).collect();
    oracle.ask("aggregate", json!({"clusterRoles": objects, "max_rounds": 50}))
}

fn ours(aggregation: &Aggregation, name: &str) -> Vec<Rule> {
    aggregation.rules(name).map(|rules| rules.cloned().collect()).unwrap_or_default()
}

/// Difference A, modelled: a union that is empty leaves hand-written rules where they are, as if they were base rules.
fn with_stuck_rules(roles: &[Role]) -> Vec<Role> {
    let mut roles = roles.to_vec();
    loop {
        let aggregation = Aggregation::from_roles(&roles);
        let stuck = |role: &Role| {
            role.aggregation.is_some() && !role.rules.is_empty() && ours(&aggregation, role.key.name()).is_empty()
        };
        // Sources first: what is stuck in them may fill the union of those that select them.
        let first = |role: &Role| {
            stuck(role) && !reached(&roles, role).iter().any(|source| source.key != role.key && stuck(source))
        };
        match roles.iter().position(first).and_then(|place| roles.get_mut(place)) {
            Some(role) => role.aggregation = None,
            None => return roles,
        }
    }
}

/// All roles that `role` selects, directly or through others.
fn reached<'a>(roles: &'a [Role], role: &'a Role) -> Vec<&'a Role> {
    let mut found: Vec<&Role> = vec![role];
    let mut next = 0;
    while let Some(role) = found.get(next).copied() {
        next += 1;
        for selector in role.aggregation.iter().flatten().filter_map(|selector| selector.compile().ok()) {
            let new = roles.iter().filter(|source| selector.matches(&source.labels));
            let new: Vec<&Role> = new.filter(|source| found.iter().all(|known| known.key != source.key)).collect();
            found.extend(new);
        }
    }
    found
}

#[test]
fn unions_equal_kubernetes_in_content_and_order() {
    let (compared, all) = (Cell::new(0_u32), Cell::new(0_u32));
    compare("aggregate", decisions() / 25, aggregation_objects(), |oracle, objects| {
        all.set(all.get() + 1);
        let roles: Vec<Role> = objects.iter().cloned().map(Into::into).collect();
        if !Aggregation::from_roles(&roles).cycles().is_empty() {
            // Differences B and C: cycles have tests of their own below.
            return Ok(None);
        }
        let aggregation = Aggregation::from_roles(&with_stuck_rules(&roles));
        compared.set(compared.get() + 1);
        let answer = theirs(oracle, &roles)?;
        anyhow::ensure!(answer.converged, "Kubernetes does not converge without a cycle");
        for name in aggregation.aggregated() {
            let theirs = answer.roles.get(name).cloned().flatten().unwrap_or_default();
            let ours = ours(&aggregation, name);
            if ours != theirs {
                return Ok(Some(format!("{name}: ours {ours:?}, Kubernetes {theirs:?}")));
            }
        }
        Ok(None)
    });
    println!("{} of {} worlds without a cycle", compared.get(), all.get());
    assert!(compared.get() * 2 >= all.get(), "most worlds must be comparable");
}

fn aggregation_objects() -> impl proptest::strategy::Strategy<Value = Vec<RoleObject>> {
    use proptest::strategy::Strategy;
    aggregation().prop_map(|roles| roles.iter().map(Into::into).collect())
}

fn selects(label: &str) -> LabelSelector {
    LabelSelector { match_labels: [(Name::from(label), "true".into())].into(), ..LabelSelector::default() }
}

fn reads(resource: &str) -> Rule {
    Rule { resources: [resource.into()].into(), ..Rule::resources([""], [""], ["get"]) }
}

/// Asks both about the same roles, the oracle's first.
fn both(suite: &str, roles: &[Role], name: &str) -> Option<(Vec<Rule>, Vec<Rule>)> {
    let mut oracle = Oracle::start(suite).expect("the oracle starts")?;
    let answer = theirs(&mut oracle, roles).expect("the oracle answers");
    let theirs = answer.roles.get(name).cloned().flatten().unwrap_or_default();
    Some((theirs, ours(&Aggregation::from_roles(roles), name)))
}

#[test]
fn difference_a_an_empty_union_clears() {
    let view = Role { rules: vec![reads("pods")], ..Role::aggregated("view", [selects("to-view")]) };
    let roles = [view.label("to-edit", "true"), Role::aggregated("edit", [selects("to-edit")])];
    for name in ["view", "edit"] {
        let Some((theirs, ours)) = both("difference A", &roles, name) else { return };
        assert_eq!(
            (theirs, ours),
            (vec![reads("pods")], vec![]),
            "Kubernetes keeps hand-written rules and hands them on"
        );
    }
}

#[test]
fn difference_b_a_cycle_does_not_keep_what_was_revoked() {
    // As the controller left them after a leaf that gave `pods` was deleted: each has the rule from the other.
    let a = Role { rules: vec![reads("pods")], ..Role::aggregated("a", [selects("to-a")]) };
    let b = Role { rules: vec![reads("pods")], ..Role::aggregated("b", [selects("to-b")]) };
    let roles = [a.label("to-b", "true"), b.label("to-a", "true")];
    let Some((theirs, ours)) = both("difference B", &roles, "a") else { return };
    assert_eq!((theirs, ours), (vec![reads("pods")], vec![]), "Kubernetes latches the revoked rule");
}

#[test]
fn difference_c_a_cycle_settles() {
    let Some(mut oracle) = Oracle::start("difference C").expect("the oracle starts") else { return };
    let leaf = |name: &str, resource, label: &str| {
        Role::cluster(name.to_owned(), [reads(resource)]).label(label.to_owned(), "true")
    };
    let roles = [
        Role::aggregated("a", [selects("to-a")]).label("to-b", "true"),
        Role::aggregated("b", [selects("to-b")]).label("to-a", "true"),
        leaf("c", "pods", "to-a"),
        leaf("d", "secrets", "to-b"),
    ];
    let answer = theirs(&mut oracle, &roles).expect("the oracle answers");
    let mut aggregation = Aggregation::from_roles(&roles);
    assert_eq!(aggregation.cycles(), [["a", "b"]]);
    for name in ["a", "b"] {
        let mut both = [answer.roles[name].clone().unwrap_or_default(), ours(&aggregation, name)];
        for rules in &mut both {
            rules.sort();
        }
        assert_eq!(both[0], both[1], "{name} has the same rules, in whatever order");
    }
    // Written back, nothing is left to write: no second wave, whatever the number of workers.
    for role in &roles[..2] {
        let rules = ours(&aggregation, role.key.name());
        assert!(aggregation.set(&Role { rules, ..role.clone() }).is_empty(), "writing changes no union");
    }
    assert_eq!(aggregation.drift().count(), 0);
}

#[test]
fn difference_d_a_chain_needs_one_step() {
    let Some(mut oracle) = Oracle::start("difference D").expect("the oracle starts") else { return };
    // The order of visits is the worst for the controller: each role before its source.
    let link = |n: usize| {
        Role::aggregated(format!("r{n}"), [selects(&format!("to-{n}"))])
            .label(format!("to-{}", n.wrapping_sub(1)), "true")
    };
    let mut roles: Vec<Role> = (0..8).map(link).collect();
    roles.push(Role::cluster("leaf", [reads("pods")]).label("to-7", "true"));
    let answer = theirs(&mut oracle, &roles).expect("the oracle answers");
    assert_eq!(answer.roles["r0"], Some(vec![reads("pods")]));
    assert_eq!(answer.writes, 8, "Kubernetes: one wave after another");
    let mut aggregation = Aggregation::from_roles(&roles[..8]);
    assert_eq!(aggregation.set(&roles[8]).len(), 8, "ours: all in the step that brings the leaf");
    assert_eq!(ours(&aggregation, "r0"), [reads("pods")]);
}

#[test]
fn difference_of_one_bad_selector() {
    let bad = LabelSelector {
        match_expressions: vec![Requirement { key: "x".into(), operator: "Near".into(), values: vec![] }],
        ..LabelSelector::default()
    };
    let roles = [
        Role::aggregated("view", [bad, selects("to-view")]),
        Role::cluster("leaf", [reads("pods")]).label("to-view", "true"),
    ];
    let Some((theirs, ours)) = both("a bad selector", &roles, "view") else { return };
    assert_eq!((theirs, ours), (vec![], vec![reads("pods")]), "Kubernetes gives up on the whole role");
    let aggregation = Aggregation::from_roles(&roles);
    assert_eq!(aggregation.invalid_selectors().count(), 1);
}
