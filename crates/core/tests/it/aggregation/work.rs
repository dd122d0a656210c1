//! A change costs what it touches. Counted, not timed: the time is measured in `benches`.

use rolewright_core::aggregate::{Aggregation, Cycles, Event, Stats};
use rolewright_core::selector::Requirement;
use rolewright_core::{LabelSelector, Role, Rule};

const COMPONENTS: usize = 2_000;
const NAMESPACES: usize = 500;

fn rule(resource: &str, verb: &str) -> Rule {
    Rule::resources(["example.org"], [resource], [verb])
}

fn selector<const N: usize>(labels: [(&str, &str); N]) -> LabelSelector {
    LabelSelector {
        match_labels: labels.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
        ..LabelSelector::default()
    }
}

fn component(number: usize, verb: &str) -> Role {
    let resource = format!("things{number}");
    let rules = [rule(&resource, verb), rule(&format!("{resource}/status"), "get"), rule(&resource, "watch")];
    Role::cluster(format!("component-{number}"), rules).label("xrd", resource).label("to-all", "true")
}

/// 500 roles that select a base and three components each, and one that selects all components.
fn cluster() -> Vec<Role> {
    let mut roles: Vec<Role> = (0..COMPONENTS).map(|number| component(number, "get")).collect();
    roles.push(Role::cluster("base", [rule("base", "get")]).label("base", "true"));
    for namespace in 0..NAMESPACES {
        let xrds = (0..3).map(|n| selector([("xrd", format!("things{}", namespace * 3 + n).as_str())]));
        let selectors: Vec<_> = [selector([("base", "true")])].into_iter().chain(xrds).collect();
        roles.push(Role::aggregated(format!("ns-{namespace}"), selectors));
    }
    roles.push(Role::aggregated("all", [selector([("to-all", "true")])]));
    roles
}

#[test]
fn a_change_recomputes_only_what_selects_the_role() {
    let mut roles = Aggregation::from_roles(&cluster());
    let start = roles.stats();
    assert_eq!((start.roles, start.aggregated, start.links), (2_502, 501, 4 * NAMESPACES + COMPONENTS));
    assert_eq!(start.recomputed, 501, "a cold start computes each union once");
    assert_eq!(roles.rules("all").unwrap().count(), 3 * COMPONENTS);

    assert_eq!(roles.set(&component(7, "list")), ["all", "ns-2"]);
    assert_eq!((roles.stats().recomputed, roles.stats().tested), (2, 0));

    assert_eq!(roles.set(&component(1_999, "list")), ["all"], "no namespace has it");
    assert_eq!(roles.stats().recomputed, 1);

    assert_eq!(roles.set(&Role::cluster("base", [rule("base", "list")]).label("base", "true")).len(), NAMESPACES);
    assert_eq!(roles.stats().recomputed, NAMESPACES, "all but one select the base");

    assert!(roles.set(&component(7, "list")).is_empty(), "the same again");
    assert_eq!((roles.stats().recomputed, roles.stats().tested), (0, 0));

    assert_eq!(roles.set(&component(7, "list").label("xrd", "things9")), ["ns-2", "ns-3"]);
    let relabelled = roles.stats();
    assert_eq!((relabelled.recomputed, relabelled.tested), (2, 2), "of 2,001 selectors two have these labels");

    roles.set(&component(7, "get"));
    roles.set(&component(1_999, "get"));
    roles.set(&Role::cluster("base", [rule("base", "get")]).label("base", "true"));
    assert_eq!(Stats { recomputed: 0, tested: 0, ..roles.stats() }, Stats { recomputed: 0, tested: 0, ..start });
}

#[test]
fn a_batch_computes_each_union_once() {
    let mut roles = Aggregation::from_roles(&cluster());
    let changed: Vec<Role> = (0..30).map(|number| component(number, "list")).collect();
    assert_eq!(roles.update(changed.iter().map(Event::Set)).len(), 11);
    assert_eq!(roles.stats().recomputed, 11);
}

#[test]
fn an_unchanged_union_stops_the_wave() {
    let pods = rule("pods", "get");
    let mut roles = Aggregation::from_roles(&[
        Role::aggregated("edit", [selector([("to-edit", "true")])]),
        Role::aggregated("view", [selector([("to-view", "true")])]).label("to-edit", "true"),
        Role::cluster("leaf-1", [pods.clone()]).label("to-view", "true"),
    ]);
    assert!(roles.set(&Role::cluster("leaf-2", [pods]).label("to-view", "true")).is_empty());
    assert_eq!(roles.stats().recomputed, 1, "`view` is the same, so `edit` is not looked at");
}

#[test]
fn selectors_that_share_a_label_are_told_apart_by_another() {
    let both = |n: usize| selector([("a-shared", "true"), ("z-own", &n.to_string())]);
    let roles: Vec<Role> = (0..100).map(|n| Role::aggregated(format!("t-{n:03}"), [both(n)])).collect();
    let mut roles = Aggregation::from_roles(&roles);
    roles.set(&Role::cluster("s", [rule("pods", "get")]).label("a-shared", "true").label("z-own", "50"));
    assert!(roles.stats().tested <= 2, "{:?}", roles.stats());
    assert_eq!(roles.stats().recomputed, 1);

    let has_key = Requirement { key: "a-shared".into(), operator: "Exists".into(), values: Vec::new() };
    let both =
        |n: usize| LabelSelector { match_expressions: vec![has_key.clone()], ..selector([("z-own", &n.to_string())]) };
    let roles: Vec<Role> = (0..100).map(|n| Role::aggregated(format!("t-{n:03}"), [both(n)])).collect();
    let mut roles = Aggregation::from_roles(&roles);
    roles.set(&Role::cluster("s", [rule("pods", "get")]).label("a-shared", "true").label("z-own", "50"));
    assert_eq!((roles.stats().tested, roles.stats().recomputed), (1, 1), "a value tells more than a key");
}

#[test]
fn ten_thousand_roles_start_without_looking_at_each_pair() {
    let roles: Vec<Role> = (0..10_000)
        .map(|n| Role::cluster(format!("r-{n}"), [rule(&format!("x{n}"), "get")]).label("group", (n % 100).to_string()))
        .chain((0..100).map(|n| Role::aggregated(format!("t-{n}"), [selector([("group", &n.to_string())])])))
        .collect();
    let started = Aggregation::from_roles(&roles);
    let stats = started.stats();
    assert_eq!((stats.links, stats.recomputed, stats.tested), (10_000, 100, 0));
    assert_eq!(started.rules("t-42").unwrap().count(), 100);
}

#[test]
fn circles_are_looked_for_only_where_they_can_be() {
    // Beside 500 aggregated roles, and a circle of 100, which does not matter: a chain of four that closes and opens.
    let link = |name: &str, to: &str| Role::aggregated(name, [selector([("in", to)])]).label("in", name);
    let name = |n: usize| format!("ring-{:03}", n % 100);
    let ring: Vec<Role> = (0..100).map(|n| link(&name(n), &name(n + 1))).collect();
    let chain = [link("a", "b"), link("b", "c"), link("c", "d"), link("d", "e")];
    let roles: Vec<Role> = cluster().into_iter().chain(ring).chain(chain).collect();
    let mut aggregation = Aggregation::from_roles(&roles);
    let mut cycles = Cycles::default();
    let everybody = roles.iter().filter(|role| role.aggregation.is_some()).map(|role| role.key.name());
    assert_eq!(cycles.follow(&aggregation, everybody).len(), 100);
    assert_eq!(cycles.walked(), NAMESPACES + 1 + 100 + 4);

    let mut set = |role: &Role| {
        aggregation.set(role);
        (cycles.follow(&aggregation, [role.key.name()]).len(), cycles.walked())
    };
    assert_eq!(set(&link("d", "a")), (4, 4), "closed");
    assert_eq!(set(&link("c", "d").label("more", "true")), (0, 4), "as it was");
    assert_eq!(set(&link("d", "e")), (4, 4), "open");
    assert_eq!(set(&link("a", "c")), (0, 1), "nobody selects the first");
    assert_eq!(set(&Role::aggregated("ns-7", [selector([("xrd", "things9")])])), (0, 1));
    assert_eq!(set(&link("d", "ring-007")), (0, 4), "the ring is before it, not further on");
}

#[test]
fn churn_leaves_nothing_behind() {
    let base = cluster();
    let mut roles = Aggregation::from_roles(&base);
    let start = roles.stats();
    for round in 0..5 {
        let extra: Vec<Role> = (0..50)
            .map(|n| component(COMPONENTS + n, &format!("verb-{round}")).label("base", "true"))
            .chain([Role::aggregated("all", [selector([("base", "true")])]).label("base", "true")])
            .collect();
        roles.update(extra.iter().map(Event::Set));
        assert!(roles.stats().rules > start.rules);
        roles.update(extra.iter().map(|role| Event::Remove(role.key.name())));
        roles.update(base.iter().map(Event::Set));
    }
    assert_eq!(Stats { recomputed: 0, tested: 0, ..roles.stats() }, Stats { recomputed: 0, tested: 0, ..start });
    roles.update(base.iter().map(|role| Event::Remove(role.key.name())));
    assert_eq!(Stats { recomputed: 0, ..roles.stats() }, Stats::default());
}
