//! What is written when a union is too large.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use rolewright_core::aggregate::Aggregation;
use rolewright_core::aggregate::fit::{Fit, Fitter, Oversize};
use rolewright_core::aggregate::size::{self, Limits};
use rolewright_core::{LabelSelector, Name, Role, Rule, RuleSet};

/// What rules grant, as pairs of resource and verb.
fn atoms(rules: &[Rule]) -> BTreeSet<(Name, Name)> {
    let pairs =
        rules.iter().flat_map(|rule| rule.resources.iter().flat_map(|r| rule.verbs.iter().map(move |v| (r, v))));
    pairs.map(|(resource, verb)| (resource.clone(), verb.clone())).collect()
}

fn compact(rules: &[Rule]) -> Vec<Rule> {
    RuleSet::new(rules).to_rules()
}

fn covered(owner: &[Rule], rules: &[Rule]) -> Vec<bool> {
    let granted = atoms(owner);
    rules.iter().map(|rule| atoms(std::slice::from_ref(rule)).is_subset(&granted)).collect()
}

fn fitter(room: usize, oversize: Oversize) -> Fitter {
    Fitter { limits: Limits { stored: room, overhead: 0, ..Limits::default() }, oversize }
}

fn written(fit: &Fit, target: &[Rule]) -> Vec<Rule> {
    fit.rules(target).to_vec()
}

#[test]
fn revocations_reach_a_role_that_the_api_server_could_not_store() {
    let rule = |n: usize| Rule {
        resource_names: ["n".repeat(1_000).into(), n.to_string().into()].into(),
        ..Rule::resources([""], ["pods"], ["get"])
    };
    let source =
        |from: usize, to: usize| Role::cluster("source", (from..to).map(rule).collect::<Vec<_>>()).label("a", "1");
    let select = LabelSelector { match_labels: [("a".into(), "1".into())].into(), ..LabelSelector::default() };
    let union = |rules: Vec<Rule>| Role { rules, ..Role::aggregated("all", [select.clone()]) };
    let fitter = Fitter::default();
    let mut roles = Aggregation::from_roles(&[union(vec![]), source(0, 1_000)]);

    let Some(Fit::Whole) = roles.to_write("all", &fitter) else { panic!("1 MB fits") };
    roles.set(&union((0..1_000).map(rule).collect()));
    assert_eq!(roles.to_write("all", &fitter), None, "what is stored is what is wanted");

    // 2 MB do not fit, and the first 100 rules are revoked at the same time.
    roles.set(&source(100, 2_000));
    let Some(Fit::Partial { rules, withheld }) = roles.to_write("all", &fitter) else { panic!("2 MB do not fit") };
    assert!(fitter.limits.allow("all", &rules));
    assert_eq!(rules.first(), Some(&rule(100)), "the revoked rules are gone");
    assert!((100..1_000).all(|n| rules.contains(&rule(n))), "what was granted and still is stays");
    assert_eq!(rules.len() + withheld.len(), 1_900, "the rest is reported");

    roles.set(&union(rules));
    assert_eq!(roles.to_write("all", &fitter), None, "once written, nothing is written again");
    assert_eq!(roles.drift().count(), 1, "but it is known that the role is not what it should be");

    let compacting = Fitter { oversize: Oversize::Compact, ..fitter };
    let Some(Fit::Compacted(rules)) = roles.to_write("all", &compacting) else { panic!("it fits when compacted") };
    assert_eq!(rules.len(), 1, "all of it is one rule with many names");
}

#[test]
fn an_oversized_union_loses_what_is_revoked_and_keeps_what_is_granted() {
    let rule = |verb: &str| Rule::resources([""], ["pods"], [verb]);
    let [get, list, watch, long] = ["get", "list", "watch", "a-very-long-verb-indeed"].map(rule);
    let room = size::stored([&get, &list, &watch]);
    let report = fitter(room, Oversize::Report);

    let target = [get.clone(), long.clone(), list.clone()];
    let fit = report.fit("view", &target, &[list.clone(), watch]);
    let expected = Fit::Partial { rules: vec![get.clone(), list.clone()], withheld: vec![long.clone()] };
    assert_eq!(
        fit, expected,
        "`watch` is revoked, `list` stays, `get` is new and fits although `long` before it does not"
    );

    let fit = report.fit("view", &target, &[]);
    assert_eq!(written(&fit, &target), [get.clone(), list.clone()], "new rules go in the union's order");
    let fit = report.fit("view", &target, std::slice::from_ref(&long));
    assert_eq!(written(&fit, &target), std::slice::from_ref(&long), "what is granted goes before what is new");

    let compact = fitter(room, Oversize::Compact).fit("view", &target, &[]);
    assert_eq!(
        compact,
        Fit::Compacted(vec![Rule::resources([""], ["pods"], ["a-very-long-verb-indeed", "get", "list"])])
    );
    assert_eq!(report.fit("view", &[list.clone(), get.clone()], &[long]), Fit::Whole);
}

#[test]
fn what_a_compact_list_granted_stays_when_the_union_outgrows_even_that() {
    let rule = |resource: &str, verb: &str| Rule::resources([""], [resource], [verb]);
    let granted: Vec<Rule> = ["create", "delete", "get", "list"].map(|verb| rule("pods", verb)).into();
    let stored = compact(&granted);
    let target: Vec<Rule> = granted.iter().cloned().chain([rule("secrets", "get")]).collect();
    let fit = fitter(size::stored(&stored), Oversize::Compact).fit("view", &target, &stored);
    assert_eq!(fit, Fit::Partial { rules: stored, withheld: vec![rule("secrets", "get")] });
}

#[test]
fn compacting_what_is_added_makes_room_for_more() {
    let rule = |verb: &str| Rule::resources([""], ["a-rather-long-resource"], [verb]);
    let target =
        ["create", "delete", "get", "list", "watch", "a-verb-that-needs-more-room-than-all-the-others"].map(rule);
    let (short, long) = target.split_at(5);
    let room = size::stored(&compact(&short[..4])) + size::stored(&short[4..]);
    assert!(size::stored(&short[..3]) > room, "not even three rules fit as they are");
    let fit = fitter(room, Oversize::Compact).fit("edit", &target, &short[..1]);
    assert_eq!(fit, Fit::Partial { rules: compact(short), withheld: long.into() });
}

fn rule() -> impl Strategy<Value = Rule> {
    let verbs = subsequence(vec!["get", "list", "watch", "a-long-verb"], 1..3).prop_shuffle();
    (select(vec!["a", "b", "c", "long-resource"]), verbs).prop_map(|(resource, verbs)| Rule {
        verbs: verbs.into_iter().map(Name::from).collect(),
        ..Rule::resources([""], [resource], [])
    })
}

fn union() -> impl Strategy<Value = Vec<Rule>> {
    vec(rule(), 0..12).prop_map(|rules| {
        let mut seen = BTreeSet::new();
        rules.into_iter().filter(|rule| seen.insert(rule.clone())).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_fits_never_widens_and_stays(
        (target, before, stored, room) in (union(), union(), vec(rule(), 0..6), 0_usize..220),
        oversize in select(vec![Oversize::Report, Oversize::Compact]),
        grown: bool,
    ) {
        let fitter = fitter(room, oversize);
        // Either anything is stored, or what an earlier union left.
        let stored = if grown { written(&fitter.fit("role", &before, &stored), &before) } else { stored };
        let fit = fitter.fit("role", &target, &stored);
        let rules = written(&fit, &target);

        prop_assert!(fitter.limits.allow("role", &rules));
        prop_assert_eq!(&fitter.fit("role", &target, &rules), &fit, "a second time changes nothing");
        prop_assert!(atoms(&rules).is_subset(&atoms(&target)), "nothing but the union is granted");
        match &fit {
            Fit::Whole | Fit::Compacted(_) => prop_assert_eq!(atoms(&rules), atoms(&target)),
            Fit::Partial { withheld, .. } => prop_assert_eq!(
                atoms(&[rules.as_slice(), withheld].concat()), atoms(&target), "all is written or withheld"
            ),
        }
    }

    #[test]
    fn reporting_keeps_every_stored_rule_of_the_union_and_fills_the_room(
        (target, stored, room) in (union(), vec(rule(), 0..6), 0_usize..220)
    ) {
        let fitter = fitter(room, Oversize::Report);
        if let Fit::Partial { rules, withheld } = fitter.fit("role", &target, &stored) {
            let kept = |rule: &&Rule| rules.contains(rule);
            prop_assert!(target.iter().filter(kept).eq(&rules), "rules of the union in its order");
            prop_assert!(target.iter().filter(|rule| !kept(rule)).eq(&withheld));
            if fitter.limits.allow("role", &stored) {
                prop_assert!(target.iter().filter(|rule| stored.contains(rule)).all(|rule| rules.contains(rule)));
            }
            // Some other rule may still fit, but not the next one: neither beside the others nor compacted with them.
            let next = withheld.iter().find(|rule| fitter.limits.allow("role", rules.iter().chain([*rule])));
            if let Some(next) = next {
                let all: Vec<Rule> = rules.iter().chain([next]).cloned().collect();
                prop_assert!(!fitter.limits.allow("role", &compact(&all)), "there was room for {:?}", next);
            }
        }
    }

    #[test]
    fn compacting_keeps_all_that_was_granted_and_fills_the_room(
        (target, stored, room) in (union(), vec(rule(), 0..6), 0_usize..220)
    ) {
        let fitter = fitter(room, Oversize::Compact);
        if let Fit::Partial { rules, withheld } = fitter.fit("role", &target, &stored) {
            let held = target.iter().zip(covered(&stored, &target)).filter(|(_, held)| *held);
            let held: Vec<Rule> = held.map(|(rule, _)| rule.clone()).collect();
            if fitter.limits.allow("role", &compact(&held)) {
                prop_assert!(atoms(&held).is_subset(&atoms(&rules)));
            }
            // Some other rule may still fit, but not the next one: neither beside the others nor compacted with them.
            let next = withheld.iter().find(|rule| fitter.limits.allow("role", rules.iter().chain([*rule])));
            if let Some(next) = next {
                let all: Vec<Rule> = rules.iter().chain([next]).cloned().collect();
                prop_assert!(!fitter.limits.allow("role", &compact(&all)), "there was room for {:?}", next);
            }
        }
    }
}
