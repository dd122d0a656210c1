//! What holds whatever is installed, in whatever order.

mod choices;

use proptest::prelude::*;
use rolewright_core::{Access, Principal, RuleSet, Scope, World};
use rolewright_plan::crossplane::{FamilyRoles, InactiveRevisions, Manage, Settings, UserRoles};

use super::cluster::{Cluster, words};
use choices::{Step, accounts, bindings, settings, steps};

/// The world that steps lead to, seen at once.
fn at_once(settings: Settings, steps: &[Step]) -> Cluster {
    Cluster::new(settings, bindings().into_iter().chain(choices::objects(steps)))
}

/// The same world, step by step, with all plans followed after some of them.
fn in_steps(settings: Settings, steps: &[Step], mut settled: impl FnMut(&mut Cluster)) -> Cluster {
    let mut cluster = Cluster::new(settings, bindings());
    for step in steps {
        step.apply(&mut cluster);
        if step.settles {
            settled(&mut cluster);
        }
    }
    settled(&mut cluster);
    cluster
}

fn rights(cluster: &Cluster, who: &str) -> RuleSet {
    cluster.rights(&Principal::User(who.into()))
}

/// Rights that both give.
fn common(one: &RuleSet, other: &RuleSet) -> RuleSet {
    let mut both = one.within(other);
    both.extend(&other.within(one));
    both
}

/// Nobody who has a right before and after lacks it after any single write.
fn settle_without_a_gap(cluster: &mut Cluster) {
    // What was taken from the cluster by others is not ours to keep.
    let before = Access::of(&cluster.world());
    let mut between: Vec<(String, World)> = Vec::new();
    cluster.settle_watched(|op, world| between.push((op.to_string(), world.clone())));
    let after = cluster.access();
    for (op, world) in between {
        let now = Access::of(&world);
        for (who, scope, _) in before.iter() {
            let kept = common(&before.effective(who, scope), &after.effective(who, scope));
            let lost = kept.beyond(&now.effective(who, scope));
            assert!(lost.is_empty(), "after `{op}` {who:?} lacks {:?} in {scope}", lost.to_rules());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn order_makes_no_difference(settings in settings(), steps in steps()) {
        let one = in_steps(settings.clone(), &steps, |cluster| drop(cluster.settle()));
        let other = at_once(settings, &steps);
        prop_assert_eq!(one.page(""), other.page(""));
        prop_assert_eq!(one.told(), other.told());
        prop_assert!(one.access().equivalent(&other.access()));
    }

    #[test]
    fn nobody_loses_a_right_on_the_way_to_keeping_it(settings in settings(), steps in steps()) {
        in_steps(settings, &steps, settle_without_a_gap);
    }

    #[test]
    fn who_views_views_less_than_who_edits_and_that_is_less_than_who_administers(settings in settings(), steps in steps()) {
        let cluster = at_once(settings, &steps);
        let [browse, view, edit, admin] = ["browse", "view", "edit", "admin"].map(|who| rights(&cluster, who));
        prop_assert!(browse.implies(&view), "browse has {:?}", browse.beyond(&view).to_rules());
        prop_assert!(view.implies(&edit), "view has {:?}", view.beyond(&edit).to_rules());
        prop_assert!(edit.implies(&admin), "edit has {:?}", edit.beyond(&admin).to_rules());
        let access = cluster.access();
        for namespace in choices::NAMESPACES {
            let scope = Scope::Namespace(namespace.into());
            let [view, edit] = ["view", "edit"].map(|role| access.effective(&Principal::User(format!("{namespace}-{role}").into()), &scope));
            prop_assert!(view.implies(&edit));
        }
    }

    #[test]
    fn who_gathers_makes_no_difference_to_anybody(settings in settings(), steps in steps()) {
        let [aggregated, materialized] = [UserRoles::Aggregated, UserRoles::Materialized]
            .map(|user_roles| at_once(Settings { user_roles, ..settings.clone() }, &steps));
        prop_assert!(aggregated.access().equivalent(&materialized.access()));
        for (from, to, expected) in [
            (&aggregated, UserRoles::Materialized, &materialized),
            (&materialized, UserRoles::Aggregated, &aggregated),
        ] {
            let mut moved = from.restarted(Settings { user_roles: to, ..settings.clone() });
            settle_without_a_gap(&mut moved);
            prop_assert_eq!(moved.page(""), expected.page(""));
        }
    }

    #[test]
    fn how_families_share_makes_no_difference_to_anybody(settings in settings(), steps in steps()) {
        let [replicated, shared] = [FamilyRoles::Replicated, FamilyRoles::Shared]
            .map(|family_roles| at_once(Settings { family_roles, ..settings.clone() }, &steps));
        for account in accounts().chain(["browse", "view", "edit", "admin"].map(str::to_owned)) {
            let [one, other] = [&replicated, &shared].map(|cluster| rights(cluster, &account));
            prop_assert!(one.equivalent(&other), "{} {:?} {:?}", account, one.beyond(&other).to_rules(), other.beyond(&one).to_rules());
        }
        for (from, to, expected) in
            [(&replicated, FamilyRoles::Shared, &shared), (&shared, FamilyRoles::Replicated, &replicated)]
        {
            let mut moved = from.restarted(Settings { family_roles: to, ..settings.clone() });
            settle_without_a_gap(&mut moved);
            prop_assert_eq!(moved.page(""), expected.page(""));
        }
    }

    #[test]
    fn levels_and_ways_are_left_and_come_back_to(settings in settings(), other in settings(), steps in steps()) {
        let cluster = at_once(settings.clone(), &steps);
        let mut moved = cluster.restarted(other.clone());
        moved.settle();
        prop_assert_eq!(moved.page(""), at_once(other, &steps).page(""));
        let mut back = moved.restarted(settings);
        back.settle();
        prop_assert_eq!(back.page(""), cluster.page(""));
    }

    #[test]
    fn levels_hold_what_the_lower_ones_hold(settings in settings(), steps in steps()) {
        let [software, basic, all] = [Manage::ServiceAccounts, Manage::Basic, Manage::All]
            .map(|manage| at_once(Settings { manage, inactive: InactiveRevisions::Keep, ..settings.clone() }, &steps));
        for (lower, higher) in [(&software, &basic), (&basic, &all)] {
            let changes = lower.access().changes(&higher.access());
            prop_assert!(changes.iter().all(|change| change.lost.is_empty()), "{:?}", changes);
        }
    }

    #[test]
    fn what_is_gone_leaves_nothing_behind(settings in settings(), steps in steps()) {
        let mut cluster = at_once(settings.clone(), &steps);
        choices::remove_all(&mut cluster);
        cluster.settle();
        prop_assert_eq!(cluster.page(""), Cluster::new(settings, bindings()).page(""));
        prop_assert_eq!(cluster.told(), Vec::<&str>::new());
        prop_assert!(words(&cluster.settle()).is_empty());
    }
}
