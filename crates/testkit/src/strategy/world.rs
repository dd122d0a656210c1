//! Random roles, bindings and worlds.

use proptest::prelude::*;
use rolewright_core::selector::{LabelSelector, Requirement};
use rolewright_core::{Binding, Labels, Name, Role, RoleRef, Subject, World};

use super::rule::rules;
use super::words::{GROUPS, LABEL_KEYS, LABEL_VALUES, NAMESPACES, ROLES, USERS, some, word};

/// Roles and bindings whose names hit each other often and miss each other sometimes.
pub fn world() -> impl Strategy<Value = World> {
    let cluster_roles = prop::collection::vec(cluster_role(false), 1..8);
    let roles = prop::collection::vec(role(), 0..10);
    let bindings = prop::collection::vec(binding(), 1..12);
    (cluster_roles, roles, bindings)
        .prop_map(|(cluster_roles, roles, bindings)| World::new(cluster_roles.into_iter().chain(roles), bindings))
}

fn role() -> impl Strategy<Value = Role> {
    (word(NAMESPACES), word(ROLES), rules(3))
        .prop_map(|(namespace, name, rules)| Role::namespaced(namespace, name, rules))
}

/// A ClusterRole with labels; `aggregating` ones may also select others.
pub fn cluster_role(aggregating: bool) -> impl Strategy<Value = Role> {
    let selectors = prop::collection::vec(label_selector(), 1..3);
    (word(ROLES), rules(3), labels(), prop::option::of(selectors)).prop_map(move |(name, rules, labels, selectors)| {
        Role { labels, aggregation: selectors.filter(|_| aggregating), ..Role::cluster(name, rules) }
    })
}

/// ClusterRoles with distinct names, many of them aggregated, cycles included.
pub fn aggregation() -> impl Strategy<Value = Vec<Role>> {
    // More names than `ROLES` has, in an order unlike that of creation.
    let name = (0..12_u8).prop_map(|n| Name::from(format!("r{:02}", (u32::from(n) * 7) % 12)));
    prop::collection::vec((name, cluster_role(true), prop::bool::weighted(0.8)), 1..12).prop_map(|roles| {
        let named = roles.into_iter().map(|(name, role, pristine)| {
            let rules = if pristine && role.aggregation.is_some() { Vec::new() } else { role.rules };
            Role { labels: role.labels, aggregation: role.aggregation, ..Role::cluster(name, rules) }
        });
        World::new(named, []).roles.into_values().collect()
    })
}

/// Labels as ClusterRoles carry them.
pub fn labels() -> impl Strategy<Value = Labels> {
    prop::collection::btree_map(word(LABEL_KEYS), word(LABEL_VALUES), 0..3).prop_map(Labels::from_iter)
}

/// A valid label selector with any of the operators.
pub fn label_selector() -> impl Strategy<Value = LabelSelector> {
    let with_values = (word(LABEL_KEYS), prop_oneof![3 => Just("In"), 1 => Just("NotIn")], some(LABEL_VALUES, 2))
        .prop_map(|(key, operator, values)| Requirement { key, operator: Name::new_static(operator), values });
    let without = (word(LABEL_KEYS), prop_oneof![3 => Just("Exists"), 1 => Just("DoesNotExist")])
        .prop_map(|(key, operator)| Requirement { key, operator: Name::new_static(operator), values: Vec::new() });
    let expressions = prop::collection::vec(prop_oneof![with_values, without], 0..2);
    let match_labels =
        || prop::collection::btree_map(word(LABEL_KEYS), word(LABEL_VALUES), 0..2).prop_map(Labels::from_iter);
    prop_oneof![
        5 => match_labels().prop_map(|match_labels| LabelSelector { match_labels, ..LabelSelector::default() }),
        4 => (match_labels(), expressions)
            .prop_map(|(match_labels, match_expressions)| LabelSelector { match_labels, match_expressions }),
    ]
}

/// A binding of either kind, to any role name, existing or not.
pub fn binding() -> impl Strategy<Value = Binding> {
    let role_ref = prop_oneof![
        12 => word(ROLES).prop_map(RoleRef::cluster_role),
        8 => word(ROLES).prop_map(RoleRef::role),
        1 => word(ROLES).prop_map(|name| RoleRef { kind: "Widget".into(), ..RoleRef::role(name) }),
    ];
    let name = (0..6_u8).prop_map(|n| Name::from(format!("b{n}")));
    let subjects = prop_oneof![1 => Just(Vec::new()), 9 => prop::collection::vec(subject(), 1..4)];
    (prop::option::weighted(0.6, word(NAMESPACES)), name, role_ref, subjects).prop_map(
        |(namespace, name, role_ref, subjects)| match namespace {
            Some(namespace) => Binding::namespaced(namespace, name, role_ref, subjects),
            None => Binding::cluster(name, role_ref, subjects),
        },
    )
}

fn subject() -> impl Strategy<Value = Subject> {
    let namespace = prop_oneof![1 => Just(Name::default()), 2 => word(NAMESPACES)];
    let account = prop_oneof![Just(Name::new_static("ci")), Just(Name::new_static("web"))];
    prop_oneof![
        6 => word(USERS).prop_map(Subject::user),
        6 => word(GROUPS).prop_map(Subject::group),
        6 => (namespace, account).prop_map(|(namespace, name)| Subject::service_account(namespace, name)),
        1 => word(USERS).prop_map(|name| Subject { kind: "Robot".into(), ..Subject::user(name) }),
        1 => word(USERS).prop_map(|name| Subject { namespace: "team-a".into(), ..Subject::user(name) }),
    ]
}
