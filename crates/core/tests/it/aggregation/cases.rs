//! Unions by example: what Kubernetes asserts about its own controller, and what it gets wrong.

use rolewright_core::aggregate::Aggregation;
use rolewright_core::{LabelSelector, Role};

use super::notation::{labelled, of, plain, rules, stored, union};

struct Case {
    says: &'static str,
    roles: Vec<Role>,
    /// Name and rules, in order.
    unions: Vec<(&'static str, &'static str)>,
}

fn case<const N: usize>(says: &'static str, roles: Vec<Role>, unions: [(&'static str, &'static str); N]) -> Case {
    Case { says, roles, unions: unions.into() }
}

fn check(cases: Vec<Case>) {
    for Case { says, roles, unions } in cases {
        let at_once = Aggregation::from_roles(&roles);
        let mut one_by_one = Aggregation::default();
        for role in roles.iter().rev() {
            one_by_one.set(role);
        }
        for (name, expected) in unions {
            assert_eq!(of(&at_once, name), expected, "{says}: {name}");
            assert_eq!(of(&one_by_one, name), expected, "{says}: {name}, one by one");
        }
    }
}

#[test]
fn order_and_equality_are_those_of_kubernetes() {
    check(vec![
        case(
            "stale rules are replaced by those of the source",
            vec![stored(union("t", "", ["a=1"]), "delete nodes"), plain("s", "a=1", "get pods")],
            [("t", "get pods")],
        ),
        case(
            "nothing matches: the union is empty, whatever is stored",
            vec![stored(union("t", "", ["a=1"]), "delete nodes"), plain("s", "a=2", "get pods")],
            [("t", "")],
        ),
        case(
            "sources by name, their rules in order",
            vec![
                union("t", "", ["a=1"]),
                plain("s-2", "a=1", "get b; get a"),
                plain("s-10", "a=1", "get d; get c"),
                plain("S", "a=1", "get e"),
            ],
            [("t", "get e; get d; get c; get b; get a")],
        ),
        case(
            "selectors in declared order, before names",
            vec![union("t", "", ["z=1", "a=1"]), plain("a", "a=1", "get a"), plain("z", "z=1", "get z")],
            [("t", "get z; get a")],
        ),
        case(
            "equal rules once, at their first place, also of a role that two selectors match",
            vec![
                union("t", "", ["z=1", "a=1"]),
                plain("a", "a=1 z=1", "get x; get a; get x"),
                plain("z", "z=1", "get z; get x"),
            ],
            [("t", "get x; get a; get z")],
        ),
        case(
            "rules with the verbs in another order are other rules, and a star covers nothing here",
            vec![union("t", "", ["a=1"]), plain("s", "a=1", "get,list x; list,get x; * x")],
            [("t", "get,list x; list,get x; * x")],
        ),
        case(
            "rules on URLs are rules like others",
            vec![union("t", "", ["a=1"]), plain("s", "a=1", "get /healthz")],
            [("t", "get /healthz")],
        ),
        case(
            "a role does not select itself, and what is written in it is no source",
            vec![stored(union("t", "a=1", ["a=1"]), "delete nodes"), plain("s", "a=1", "get pods")],
            [("t", "get pods")],
        ),
    ]);
}

#[test]
fn selectors_match_as_in_kubernetes() {
    check(vec![
        case(
            "the empty selector matches every ClusterRole",
            vec![union("t", "", [""]), plain("s", "", "get pods"), plain("cluster-admin", "a=1", "* *")],
            [("t", "* *; get pods")],
        ),
        case(
            "NotIn and DoesNotExist match roles without the label",
            vec![
                union("not-in", "t=1", ["a NotIn 1 2 & t DoesNotExist"]),
                union("absent", "t=1", ["a DoesNotExist & t DoesNotExist"]),
                plain("one", "a=1", "get one"),
                plain("three", "a=3", "get three"),
                plain("none", "", "get none"),
            ],
            [("not-in", "get none; get three"), ("absent", "get none")],
        ),
        case(
            "In and Exists need the label; labels and expressions must all hold",
            vec![
                union("in", "", ["a In 1 2"]),
                union("exists", "", ["a Exists"]),
                union("both", "", ["b=1 & a Exists"]),
                plain("one", "a=1 b=1", "get one"),
                plain("three", "a=3", "get three"),
                plain("two", "a=2", "get two"),
                plain("only-b", "b=1", "get only-b"),
            ],
            [("in", "get one; get two"), ("exists", "get one; get three; get two"), ("both", "get one")],
        ),
        case(
            "Roles of namespaces neither aggregate nor are aggregated",
            vec![
                union("t", "", [""]),
                labelled(Role::namespaced("ns", "s", rules("get pods")), "a=1"),
                Role { aggregation: Some(vec![LabelSelector::default()]), ..Role::namespaced("ns", "u", []) },
            ],
            [("t", ""), ("u", "not aggregated"), ("s", "not aggregated")],
        ),
        case("no selectors select nothing", vec![union("t", "", []), plain("s", "", "get a")], [("t", "")]),
    ]);
}

#[test]
fn chains_and_circles_hand_on_what_is_computed() {
    check(vec![
        case(
            "an aggregated source gives what is computed for it, not what is stored in it",
            vec![
                union("admin", "", ["to=admin"]),
                stored(union("edit", "to=admin", ["to=edit"]), "delete nodes"),
                stored(union("view", "to=edit", ["to=view"]), "delete secrets"),
                plain("own", "to=admin", "get own"),
                plain("leaf", "to=view", "get leaf"),
            ],
            [("admin", "get leaf; get own"), ("edit", "get leaf"), ("view", "get leaf")],
        ),
        case(
            "a circle of two: depth first, and hand-written rules count for nothing",
            vec![
                stored(union("a", "in=b", ["in=a"]), "delete nodes"),
                stored(union("b", "in=a", ["in=b"]), "delete nodes"),
                plain("c", "in=a", "get c"),
                plain("d", "in=b", "get d"),
            ],
            [("a", "get d; get c"), ("b", "get c; get d")],
        ),
        case(
            "a circle of three, and one outside that selects into it",
            vec![
                union("a", "in=c", ["in=a"]),
                union("b", "in=a", ["in=b"]),
                union("c", "in=b out=1", ["in=c"]),
                plain("x", "in=a", "get x"),
                plain("y", "in=b", "get y"),
                plain("z", "in=c", "get z"),
                union("outside", "", ["out=1"]),
            ],
            [
                ("a", "get z; get y; get x"),
                ("b", "get x; get z; get y"),
                ("c", "get y; get x; get z"),
                ("outside", "get y; get x; get z"),
            ],
        ),
    ]);
}
