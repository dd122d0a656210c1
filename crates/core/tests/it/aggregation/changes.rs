//! What changes bring about: revocation, relabelling, drift.

use rolewright_core::aggregate::{Aggregation, Event};

use super::notation::{of, plain, shown, stored, union};

#[test]
fn revocation_goes_through_chains_and_circles() {
    let chain = [union("a", "", ["to=a"]), union("b", "to=a", ["to=b"]), union("c", "to=b", ["to=c"])];
    let circle = [union("a", "to=c", ["to=a"]), union("b", "to=a", ["to=b"]), union("c", "to=b", ["to=c"])];
    for shape in [chain, circle] {
        let mut roles = Aggregation::from_roles(&shape);
        assert_eq!(roles.set(&plain("leaf", "to=c", "get x; get y")), ["a", "b", "c"]);
        assert_eq!(roles.set(&plain("leaf", "to=c", "get y")), ["a", "b", "c"]);
        assert_eq!(of(&roles, "a"), "get y");
        assert_eq!(roles.remove("leaf"), ["a", "b", "c"]);
        assert_eq!([of(&roles, "a"), of(&roles, "b"), of(&roles, "c")], ["", "", ""]);
        assert_eq!(roles.stats().rules, 0);
    }
}

#[test]
fn labels_and_selectors_take_effect_when_they_change() {
    let mut roles = Aggregation::from_roles(&[union("t", "", ["a=1"]), union("u", "", ["a=2"])]);
    assert!(roles.set(&plain("s", "", "get pods")).is_empty(), "without labels nobody selects it");
    assert_eq!(roles.set(&plain("s", "a=1", "get pods")), ["t"], "label added");
    assert_eq!(roles.set(&plain("s", "a=2", "get pods")), ["t", "u"], "label changed");
    assert_eq!((of(&roles, "t"), of(&roles, "u")), (String::new(), "get pods".into()));
    assert_eq!(roles.set(&union("t", "", ["a=1", "a=2"])), ["t"], "selector added");
    assert!(roles.set(&union("t", "", ["a In 1 2"])).is_empty(), "other selectors, same union");
    assert_eq!(roles.set(&plain("s", "b=1", "get pods")), ["t", "u"], "label removed");
    assert_eq!(roles.update([Event::Remove("t"), Event::Remove("s"), Event::Remove("ghost")]), [""; 0], "gone");
    assert_eq!(of(&roles, "t"), "not aggregated");
}

#[test]
fn a_role_that_is_no_longer_aggregated_keeps_its_rules_as_its_own() {
    let mut roles = Aggregation::from_roles(&[
        union("t", "", ["a=1"]),
        stored(union("s", "a=1", ["b=1"]), "get old"),
        plain("leaf", "b=1", "get leaf"),
    ]);
    assert_eq!(of(&roles, "t"), "get leaf");
    assert_eq!(roles.set(&plain("s", "a=1", "get old")), ["t"]);
    assert_eq!((of(&roles, "t"), of(&roles, "s")), ("get old".into(), "not aggregated".into()));
    assert_eq!(roles.set(&stored(union("s", "a=1", ["b=1"]), "get old")), ["s", "t"]);
    assert_eq!(of(&roles, "t"), "get leaf");
}

#[test]
fn drift_is_the_list_of_writes() {
    let drift = |roles: &Aggregation| roles.drift().map(ToString::to_string).collect::<Vec<_>>();
    let leaf = plain("leaf", "to=view", "get pods");
    let edit = union("edit", "", ["to=edit"]);
    let view = union("view", "to=edit", ["to=view"]);
    let mut roles = Aggregation::from_roles([&leaf, &edit, &view]);
    assert_eq!(drift(&roles), ["edit", "view"], "computed, not yet written");

    roles.set(&stored(edit.clone(), "get pods"));
    roles.set(&stored(view.clone(), "get pods"));
    assert_eq!(drift(&roles), [""; 0], "converged");

    assert!(roles.set(&stored(edit.clone(), "get pods; * *")).is_empty(), "an edit by hand changes no union");
    assert_eq!(drift(&roles), ["edit"], "but is to be stomped");
    assert_eq!(shown(roles.stored("edit").unwrap()), "get pods; * *");

    roles.remove("leaf");
    assert_eq!(drift(&roles), ["edit", "view"], "an empty union is written too");
    roles.update([Event::Set(&edit), Event::Set(&plain("view", "to=edit", "get pods"))]);
    assert_eq!(drift(&roles), ["edit"], "a role that is not aggregated never drifts");
    roles.update([Event::Remove("view")]);
    assert_eq!(drift(&roles), [""; 0], "stored nothing is the empty union");
}

#[test]
fn a_bad_selector_selects_nothing_and_is_reported_while_the_others_work() {
    let bad = union("t", "", ["a=1", "b Gt 1", "a In", "a Exists 1", "b=1 & c NotIn", "b=1"]);
    let mut roles = Aggregation::from_roles(&[bad, plain("s", "a=1", "get s"), plain("r", "b=1", "get r")]);
    assert_eq!(of(&roles, "t"), "get s; get r");
    let reported: Vec<_> =
        roles.invalid_selectors().map(|bad| format!("{} {} {}", bad.role, bad.index, bad.reason)).collect();
    assert_eq!(
        reported,
        [
            "t 1 \"Gt\" is not a valid label selector operator",
            "t 2 values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            "t 3 values: Invalid value: [\"1\"]: values set must be empty for exists and does not exist",
            "t 4 values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ]
    );
    roles.set(&union("t", "", ["a=1"]));
    assert_eq!(roles.invalid_selectors().count(), 0);
}

#[test]
fn of_several_events_on_one_role_the_last_counts() {
    let mut roles = Aggregation::from_roles(&[union("t", "", ["a=1"])]);
    let (one, two) = (plain("s", "a=1", "get one"), plain("s", "a=1", "get two"));
    assert_eq!(roles.update([Event::Set(&one), Event::Remove("s"), Event::Set(&two)]), ["t"]);
    assert_eq!(of(&roles, "t"), "get two");
    assert!(roles.update([Event::Remove("s"), Event::Set(&one), Event::Set(&two)]).is_empty());
}

#[test]
fn a_rule_that_replaces_another_in_one_change_is_not_taken_for_it() {
    let mut roles = Aggregation::from_roles(&[union("t", "", ["a=1"]), plain("s", "a=1", "get old")]);
    let (without, with) = (plain("s", "a=1", ""), plain("z", "a=1", "get new"));
    assert_eq!(roles.update([Event::Set(&without), Event::Set(&with)]), ["t"]);
    assert_eq!(of(&roles, "t"), "get new");
}
