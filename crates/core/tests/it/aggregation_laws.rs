//! What holds for any roles and any changes.

mod model;
mod worlds;

use std::collections::{BTreeMap, BTreeSet};

use model::Unions;
use proptest::prelude::*;
use rolewright_core::aggregate::size::{self, Limits};
use rolewright_core::aggregate::{Aggregation, Cycles, Event, Stats};
use rolewright_core::{Name, Role, Rule};
use worlds::{World, batches, limited_batches, worlds};

fn unions(aggregation: &Aggregation) -> Unions {
    let rules = |name| aggregation.rules(name).unwrap().cloned().collect();
    aggregation.aggregated().map(|name| (name.clone(), rules(name))).collect()
}

/// Everything that can be asked, but for the cost of the last change.
fn answers(aggregation: &Aggregation) -> impl PartialEq + std::fmt::Debug + use<> {
    let provenance: Vec<_> = aggregation
        .aggregated()
        .flat_map(|name| {
            let of_rules = aggregation.rules(name).unwrap().map(|rule| aggregation.sources(name, rule));
            of_rules.chain([aggregation.contributors(name)]).collect::<Vec<_>>()
        })
        .collect();
    (
        unions(aggregation),
        aggregation.drift().cloned().collect::<Vec<_>>(),
        aggregation.invalid_selectors().cloned().collect::<Vec<_>>(),
        aggregation.cycles(),
        provenance,
        Stats { recomputed: 0, tested: 0, ..aggregation.stats() },
    )
}

/// The circle of every role that is part of one.
fn circles(aggregation: &Aggregation) -> BTreeMap<Name, Vec<Name>> {
    let circles = aggregation.cycles();
    circles.iter().flat_map(|members| members.iter().map(|name| (name.clone(), members.clone()))).collect()
}

fn differing(before: &Unions, after: &Unions) -> Vec<Name> {
    after.iter().filter(|(name, rules)| before.get(*name) != Some(rules)).map(|(name, _)| name.clone()).collect()
}

fn plain_holders<'a>(world: &'a World, target: &'a Role, rule: &Rule) -> BTreeSet<&'a Name> {
    let holds = |name: &&Name| world[*name].aggregation.is_none() && world[*name].rules.contains(rule);
    model::reach(world, target).into_keys().filter(holds).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn taking_in_changes_is_the_same_as_starting_afresh(batches in batches()) {
        let (mut world, mut aggregation) = (World::new(), Aggregation::default());
        for batch in &batches {
            let before = unions(&aggregation);
            let changed = aggregation.update(batch.iter().map(worlds::Change::event));
            for change in batch {
                change.apply(&mut world);
            }

            prop_assert_eq!(answers(&aggregation), answers(&Aggregation::from_roles(world.values())));
            prop_assert_eq!(changed, differing(&before, &unions(&aggregation)));

            prop_assert!(aggregation.update(batch.iter().map(worlds::Change::event)).is_empty(), "the same again");
            prop_assert_eq!(aggregation.stats().recomputed, 0);
        }
    }

    #[test]
    fn computing_once_for_many_changes_is_the_same_as_after_each(batches in batches(), settled in 0..4usize) {
        let (mut world, mut aggregation) = (World::new(), Aggregation::default());
        let (mut before, mut concerned) = (Unions::default(), BTreeSet::new());
        for (place, batch) in batches.iter().enumerate() {
            concerned.extend(aggregation.defer(batch.iter().map(worlds::Change::event)));
            for change in batch {
                change.apply(&mut world);
            }
            if place % 4 <= settled {
                continue;
            }
            aggregation.settle();
            prop_assert_eq!(answers(&aggregation), answers(&Aggregation::from_roles(world.values())));
            let after = unions(&aggregation);
            for name in differing(&before, &after) {
                prop_assert!(concerned.contains(&name), "{} was not said to be concerned", name);
            }
            (before, concerned) = (after, BTreeSet::new());
        }
        aggregation.settle();
        prop_assert_eq!(answers(&aggregation), answers(&Aggregation::from_roles(world.values())));
    }

    #[test]
    fn what_a_ceiling_keeps_out_goes_nowhere(batches in limited_batches()) {
        let (mut world, mut ceilings, mut aggregation) = (World::new(), BTreeMap::new(), Aggregation::default());
        for batch in &batches {
            aggregation.update(batch.iter().map(worlds::Change::event));
            for change in batch {
                change.apply(&mut world);
                match change {
                    worlds::Change::Limit(role, ceiling) => ceilings.insert(role.key.name().clone(), ceiling.clone()),
                    worlds::Change::Set(role) => ceilings.remove(role.key.name()),
                    worlds::Change::Remove(name) => ceilings.remove(name),
                };
            }
            let as_sets: BTreeMap<Name, BTreeSet<Rule>> =
                unions(&aggregation).into_iter().map(|(name, rules)| (name, rules.into_iter().collect())).collect();
            prop_assert_eq!(&as_sets, &model::limited(&world, &ceilings));

            let again = world.values().map(|role| match ceilings.get(role.key.name()) {
                Some(ceiling) => Event::Limited(role, ceiling),
                None => Event::Set(role),
            });
            let mut afresh = Aggregation::default();
            afresh.update(again);
            prop_assert_eq!(answers(&aggregation), answers(&afresh), "whatever came before");
            for (name, rule) in as_sets.iter().flat_map(|(name, rules)| rules.iter().map(move |rule| (name, rule))) {
                prop_assert!(!aggregation.sources(name, rule).is_empty(), "{} comes from somewhere", name);
            }
        }
    }

    #[test]
    fn the_order_of_events_does_not_matter(
        (world, order) in worlds().prop_flat_map(|world| {
            let order = Just(world.values().cloned().collect::<Vec<_>>()).prop_shuffle();
            (Just(world), order)
        })
    ) {
        let mut aggregation = Aggregation::default();
        for role in &order {
            aggregation.set(role);
        }
        prop_assert_eq!(answers(&aggregation), answers(&Aggregation::from_roles(world.values())));
        for role in &order {
            aggregation.remove(role.key.name());
        }
        prop_assert_eq!(answers(&aggregation), answers(&Aggregation::default()));
    }

    #[test]
    fn a_union_holds_the_base_rules_within_reach_in_the_promised_order(world in worlds()) {
        let aggregation = Aggregation::from_roles(world.values());
        for target in model::aggregated(&world) {
            let rules: Vec<Rule> = aggregation.rules(target.key.name()).unwrap().cloned().collect();
            prop_assert_eq!(rules.iter().collect::<BTreeSet<_>>(), model::granted(&world, target));
            prop_assert_eq!(&rules, &model::union(&world, target));
            prop_assert_eq!(
                aggregation.drift().any(|name| name == target.key.name()), rules != target.rules, "drift of {}", target.key
            );
            let only = |these: &[Rule], those: &[Rule]| -> Vec<Rule> {
                these.iter().filter(|rule| !those.contains(rule)).cloned().collect()
            };
            let (new, old) = aggregation.news(target.key.name());
            prop_assert!(new.into_iter().eq(&only(&rules, &target.rules)));
            prop_assert!(old.into_iter().eq(&only(&target.rules, &rules)));
            let body = size::body(target.key.name(), &rules);
            for limits in [Limits { body, ..Limits::default() }, Limits { body: body - 1, ..Limits::default() }] {
                let name = target.key.name();
                prop_assert_eq!(aggregation.fits(name, &limits), limits.allow(name, &rules));
            }
        }
    }

    #[test]
    fn without_circles_the_union_is_what_kubernetes_arrives_at(world in worlds()) {
        let aggregation = Aggregation::from_roles(world.values());
        let circular = model::aggregated(&world).any(|role| model::circle(&world, role).len() > 1);
        prop_assert_eq!(!aggregation.cycles().is_empty(), circular);
        if !circular {
            prop_assert_eq!(unions(&aggregation), model::kubernetes(&world));
        }
    }

    #[test]
    fn circles_are_the_roles_that_reach_each_other(world in worlds()) {
        let circles: BTreeSet<Vec<Name>> = model::aggregated(&world)
            .map(|role| model::circle(&world, role).into_iter().cloned().collect::<Vec<_>>())
            .filter(|members| members.len() > 1)
            .collect();
        prop_assert_eq!(Aggregation::from_roles(world.values()).cycles(), circles.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn following_circles_is_the_same_as_looking_everywhere(batches in batches()) {
        let (mut world, mut aggregation, mut cycles) = (World::new(), Aggregation::default(), Cycles::default());
        for batch in &batches {
            let before = (world.clone(), circles(&aggregation));
            aggregation.update(batch.iter().map(worlds::Change::event));
            for change in batch {
                change.apply(&mut world);
            }
            let shape = |world: &World, name: &Name| {
                world.get(name).filter(|role| role.aggregation.is_some()).map(|role| (role.labels.clone(), role.aggregation.clone()))
            };
            let reshaped = before.0.keys().chain(world.keys()).filter(|name| shape(&before.0, name) != shape(&world, name));
            let concerned = cycles.follow(&aggregation, reshaped);

            let now = circles(&aggregation);
            for name in before.0.keys().chain(world.keys()) {
                prop_assert_eq!(cycles.of(name), now.get(name).map(Vec::as_slice), "the circle of {}", name);
                prop_assert_eq!(concerned.contains(name), before.1.get(name) != now.get(name), "news of {}", name);
            }
        }
    }

    #[test]
    fn sources_are_all_holders_within_reach_by_real_and_shortest_ways(world in worlds()) {
        let aggregation = Aggregation::from_roles(world.values());
        for target in model::aggregated(&world) {
            let distances = model::reach(&world, target);
            for rule in aggregation.rules(target.key.name()).unwrap() {
                let sources = aggregation.sources(target.key.name(), rule);
                let holders: BTreeSet<&Name> = sources.iter().map(|source| &source.role).collect();
                prop_assert_eq!(holders.len(), sources.len(), "each once");
                prop_assert_eq!(holders, plain_holders(&world, target, rule));
                for source in &sources {
                    prop_assert_eq!(source.path.len(), distances[&source.role]);
                    for (hop, next) in source.path.iter().zip(source.names().skip(1)) {
                        let selectors = world[&hop.role].aggregation.as_ref().unwrap();
                        prop_assert!(model::matches(&selectors[hop.selector], &world[next]), "{}", source);
                    }
                }
            }
        }
    }

    #[test]
    fn every_selector_that_cannot_be_used_is_reported(world in worlds()) {
        let aggregation = Aggregation::from_roles(world.values());
        let reported: Vec<_> = aggregation.invalid_selectors().map(|bad| (bad.role.clone(), bad.index)).collect();
        let unusable = model::aggregated(&world).flat_map(|role| {
            let selectors = role.aggregation.iter().flatten().enumerate();
            selectors.filter(|(_, selector)| !model::usable(selector)).map(|(index, _)| (role.key.name().clone(), index))
        });
        prop_assert_eq!(reported, unusable.collect::<Vec<_>>());
    }
}
