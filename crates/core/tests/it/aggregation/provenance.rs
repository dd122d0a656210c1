//! Where rules come from, and which roles go in circles.

use rolewright_core::aggregate::{Aggregation, Source};
use rolewright_core::{LabelSelector, Role, Rule};

fn rule(resource: &str) -> Rule {
    Rule::resources([""], [resource], ["get"])
}

fn selector(key: &str) -> LabelSelector {
    LabelSelector { match_labels: [(key.into(), "true".into())].into(), ..LabelSelector::default() }
}

fn shown(sources: &[Source]) -> Vec<String> {
    sources.iter().map(ToString::to_string).collect()
}

fn cluster() -> Aggregation {
    Aggregation::from_roles(&[
        Role::aggregated("admin", [selector("to-admin"), selector("to-edit")]),
        Role::aggregated("edit", [selector("to-edit")]).label("to-admin", "true"),
        Role::aggregated("view", [selector("unused"), selector("to-view")]).label("to-edit", "true"),
        Role::cluster("leaf-view", [rule("pods")]).label("to-view", "true"),
        Role::cluster("leaf-both", [rule("nodes"), rule("pods")]).label("to-view", "true").label("to-edit", "true"),
        Role::cluster("leaf-empty", []).label("to-edit", "true"),
        Role::cluster("stranger", [rule("pods")]),
    ])
}

#[test]
fn every_leaf_with_the_rule_is_a_source_by_a_shortest_way() {
    let roles = cluster();
    assert_eq!(
        shown(&roles.sources("admin", &rule("pods"))),
        ["admin[1] > leaf-both", "admin[1] > view[1] > leaf-view"]
    );
    assert_eq!(shown(&roles.sources("view", &rule("nodes"))), ["view[1] > leaf-both"]);
    let path = roles.sources("edit", &rule("pods")).pop().unwrap();
    assert!(path.names().eq(["edit", "view", "leaf-view"]));
    assert!(roles.sources("view", &rule("secrets")).is_empty(), "a rule that nobody has");
    assert!(roles.sources("ghost", &rule("pods")).is_empty(), "a role that does not exist");
    assert_eq!(shown(&roles.sources("stranger", &rule("pods"))), ["stranger"]);
}

#[test]
fn contributors_are_all_leaves_also_those_without_rules() {
    assert_eq!(
        shown(&cluster().contributors("admin")),
        ["admin[1] > leaf-both", "admin[1] > leaf-empty", "admin[1] > view[1] > leaf-view"]
    );
}

#[test]
fn circles_are_listed_and_do_not_catch_the_search() {
    let circle = |name: &'static str, next| Role::aggregated(name, [selector(name)]).label(next, "true");
    let mut roles = Aggregation::from_roles(&[
        circle("z", "y"),
        circle("y", "z"),
        circle("a", "c"),
        circle("c", "b"),
        circle("b", "a"),
        Role::aggregated("all", [LabelSelector::default()]),
        Role::cluster("leaf", [rule("pods")]).label("c", "true"),
    ]);
    assert_eq!(roles.cycles(), [vec!["a", "b", "c"], vec!["y", "z"]]);
    assert_eq!(shown(&roles.sources("b", &rule("pods"))), ["b[0] > c[0] > leaf"]);

    roles.remove("b");
    assert_eq!(roles.cycles(), [["y", "z"]]);
    roles.set(&Role::aggregated("all", [LabelSelector::default()]).label("z", "true"));
    assert_eq!(roles.cycles(), [["all", "y", "z"]]);
}
