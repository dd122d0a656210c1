//! Laws that hold for all rules and worlds.

use proptest::prelude::*;
use rolewright_core::{Access, Authorizer, Binding, Request, Role, Rule, RuleSet, World, covers, diff};
use rolewright_testkit::ask::Ask;
use rolewright_testkit::strategy::{ask_seed, binding, cluster_role, rules, tidy_rule, world};

fn tidy_rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(tidy_rule(), 0..5)
}

/// A rule list with questions that some of its rules were made for.
fn asked() -> impl Strategy<Value = (World, Vec<Ask>)> {
    (world(), prop::collection::vec(ask_seed(), 1..30)).prop_map(|(world, seeds)| {
        let asks = seeds.iter().map(|seed| seed.resolve(&world)).collect();
        (world, asks)
    })
}

/// Every atom of a rule, by itself.
fn atoms(rules: &[Rule]) -> Vec<Rule> {
    RuleSet::default().uncovered(rules)
}

fn all_rules(world: &World) -> Vec<Rule> {
    world.roles.values().flat_map(|role| role.rules.clone()).collect()
}

/// A resource with a slash exists in access reviews only, where covers and matching part ways in Kubernetes as well:
/// `*/log` covers `pods/log`, yet does not match the resource `pods/log` without subresource.
fn is_on_the_wire(ask: &Ask) -> bool {
    !ask.resource.contains('/')
}

fn allows(rules: &[Rule], request: &Request<'_>) -> bool {
    rules.iter().any(|rule| rule.allows(request))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn covers_is_reflexive(a in tidy_rules()) {
        prop_assert!(covers(&a, &a).is_empty());
    }

    #[test]
    fn covers_is_transitive(a in tidy_rules(), b in tidy_rules(), c in tidy_rules()) {
        // Random lists rarely cover each other: widen them into a chain, then drop the links.
        let b: Vec<Rule> = a.iter().chain(&b).cloned().collect();
        let c: Vec<Rule> = RuleSet::new(b.iter().chain(&c)).to_rules();
        prop_assert!(covers(&b, &a).is_empty() && covers(&c, &b).is_empty());
        prop_assert!(covers(&c, &a).is_empty());
    }

    #[test]
    fn what_is_missing_added_covers(owner in rules(4), servant in rules(4)) {
        let missing = covers(&owner, &servant);
        let all: Vec<Rule> = owner.iter().chain(&missing).cloned().collect();
        prop_assert!(covers(&all, &servant).is_empty());
        for atom in &missing {
            prop_assert_eq!(covers(&owner, std::slice::from_ref(atom)), std::slice::from_ref(atom));
        }
    }

    #[test]
    fn covered_rules_allow_nothing_more((world, asks) in asked(), more in rules(4)) {
        let owner = all_rules(&world);
        let held = RuleSet::new(&owner);
        let covered: Vec<Rule> = atoms(&more).into_iter().chain(more).filter(|rule| held.covers(rule)).collect();
        for ask in asks.iter().filter(|ask| is_on_the_wire(ask)) {
            prop_assert!(!allows(&covered, &ask.request()) || allows(&owner, &ask.request()), "{:?}", ask);
        }
    }

    #[test]
    fn compaction_preserves_meaning_and_is_canonical((world, asks) in asked(), turn in 0..6_usize) {
        let list = all_rules(&world);
        let compact = RuleSet::new(&list).to_rules();
        for ask in asks.iter().filter(|ask| is_on_the_wire(ask)) {
            prop_assert_eq!(allows(&list, &ask.request()), allows(&compact, &ask.request()), "{:?}: {:?}", ask, compact);
        }
        prop_assert!(RuleSet::new(&list).equivalent(&RuleSet::new(&compact)));
        prop_assert_eq!(&RuleSet::new(&compact).to_rules(), &compact, "idempotent");
        let mut turned = list.clone();
        turned.rotate_left(turn.min(list.len()));
        prop_assert_eq!(&RuleSet::new(&turned).to_rules(), &compact, "order does not matter");
        prop_assert_eq!(&RuleSet::new(&atoms(&list)).to_rules(), &compact, "grouping does not matter");
    }

    #[test]
    fn compaction_of_tidy_rules_never_grows(list in tidy_rules()) {
        let compact = RuleSet::new(&list).to_rules();
        let texts = |rules: &[Rule]| atoms(rules).len();
        prop_assert!(texts(&compact) <= texts(&list));
    }

    #[test]
    fn relations_agree(a in tidy_rules(), b in tidy_rules(), (_, asks) in asked()) {
        let (left, right) = (RuleSet::new(&a), RuleSet::new(&b));
        prop_assert_eq!(left.implies(&right), covers(&b, &a).is_empty());
        prop_assert_eq!(left.equivalent(&right), left.implies(&right) && right.implies(&left));
        prop_assert_eq!(left.disjoint(&right), right.disjoint(&left));
        if left.disjoint(&right) {
            for ask in asks.iter().filter(|ask| is_on_the_wire(ask)) {
                prop_assert!(!(allows(&a, &ask.request()) && allows(&b, &ask.request())), "{:?}", ask);
            }
        }
        if !left.is_empty() && left.implies(&right) {
            prop_assert!(!left.disjoint(&right));
        }
    }

    #[test]
    fn the_index_equals_the_rules_and_the_expanded_atoms((world, asks) in asked()) {
        let authorizer = Authorizer::new(&world);
        let mut expanded = world.clone();
        for role in expanded.roles.values_mut() {
            role.rules = atoms(&role.rules);
        }
        let by_atoms = Authorizer::new(&expanded);
        for ask in &asks {
            let (user, request) = (ask.user(), ask.request());
            let allowed = authorizer.allows(&user, &request);
            prop_assert_eq!(allowed, authorizer.explain(&user, &request).allowed, "{:?}", ask);
            prop_assert_eq!(allowed, by_atoms.allows(&user, &request), "{:?}", ask);
        }
    }

    #[test]
    fn following_changes_equals_starting_anew(
        changes in prop::collection::vec(change(), 1..40),
        (_, asks) in asked(),
    ) {
        let mut world = World::default();
        let mut following = Authorizer::default();
        let empty = following.index_sizes();
        for change in &changes {
            match change {
                Change::SetRole(role) => {
                    world.roles.insert(role.key.clone(), role.clone());
                    following.set_role(role.clone());
                }
                Change::SetBinding(binding) => {
                    world.bindings.insert(binding.key.clone(), binding.clone());
                    following.set_binding(binding.clone());
                }
                Change::RemoveRole(role) => {
                    world.roles.remove(&role.key);
                    following.remove_role(&role.key);
                }
                Change::RemoveBinding(binding) => {
                    world.bindings.remove(&binding.key);
                    following.remove_binding(&binding.key);
                }
            }
        }
        let anew = Authorizer::new(&world);
        prop_assert_eq!(following.index_sizes(), anew.index_sizes());
        for ask in &asks {
            let (user, request) = (ask.user(), ask.request());
            prop_assert_eq!(following.allows(&user, &request), anew.allows(&user, &request));
            prop_assert_eq!(following.explain(&user, &request), anew.explain(&user, &request));
        }
        for key in world.roles.keys() {
            following.remove_role(key);
        }
        for key in world.bindings.keys() {
            following.remove_binding(key);
        }
        prop_assert_eq!(following.index_sizes(), empty, "nothing is left behind");
    }

    #[test]
    fn a_diff_applied_gives_the_target(before in world(), after in world()) {
        let changes = diff(&before, &after);
        let reached = Access::of(&before).apply(&changes);
        let target = Access::of(&after);
        prop_assert!(reached.equivalent(&target), "{:?}", changes);
        prop_assert_eq!(changes.is_empty(), Access::of(&before).equivalent(&target));
        prop_assert_eq!(&changes, &Access::of(&before).changes(&target), "untouched principals have no changes");
        prop_assert!(diff(&before, &before).is_empty());
    }

    #[test]
    fn a_diff_says_what_decisions_change(before in world(), after in world(), (_, asks) in asked()) {
        // If nobody gains and nobody loses, no question is answered otherwise.
        let changes = diff(&before, &after);
        let (old, new) = (Authorizer::new(&before), Authorizer::new(&after));
        for ask in asks.iter().filter(|ask| is_on_the_wire(ask)) {
            let (was, is) = (old.allows(&ask.user(), &ask.request()), new.allows(&ask.user(), &ask.request()));
            let told = |pick: fn(&diff::Change) -> &Vec<Rule>| {
                changes.iter().any(|change| allows(pick(change), &ask.request()))
            };
            prop_assert!(was || !is || told(|change| &change.gained), "gained {:?} {:?}", ask, changes);
            prop_assert!(!was || is || told(|change| &change.lost), "lost {:?} {:?}", ask, changes);
        }
    }
}

#[derive(Clone, Debug)]
enum Change {
    SetRole(Role),
    SetBinding(Binding),
    RemoveRole(Role),
    RemoveBinding(Binding),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => cluster_role(false).prop_map(Change::SetRole),
        3 => binding().prop_map(Change::SetBinding),
        1 => cluster_role(false).prop_map(Change::RemoveRole),
        1 => binding().prop_map(Change::RemoveBinding),
    ]
}
