//! Random objects for validation: mostly right, often wrong in one place.

use proptest::prelude::*;
use rolewright_core::selector::{LabelSelector, Requirement};
use rolewright_core::{Binding, BindingKey, Labels, Name, Role, RoleKey, RoleRef, Rule, Subject};

use super::words::{NAMESPACES, ROLES, word};
use super::{binding, label_selector, rule, tidy_rule};

const NAMES: &[&str] =
    &["view", "a:b", "with space", "Upper", "", ".", "..", "a/b", "a%b", "-x", "x-", "a.b", "a..b", "ünï", "system:x"];
const LABEL_KEYS: &[&str] = &[
    "ok",
    "acme.io/ok",
    "",
    "/",
    "a/",
    "/b",
    "UPPER/x",
    "acme.io/-x",
    "acme..io/x",
    "a/b/c",
    "x_y.z",
    "-x",
    "ünï",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
const LABEL_VALUES: &[&str] = &[
    "",
    "true",
    "a.b-c_d",
    "-a",
    "a-",
    "with space",
    "ünï",
    "a/b",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
const OPERATORS: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "in", ""];

/// A Role or ClusterRole, good or bad.
pub fn any_role() -> impl Strategy<Value = Role> {
    let key = prop_oneof![
        3 => word(ROLES).prop_map(RoleKey::cluster),
        1 => word(NAMES).prop_map(RoleKey::cluster),
        3 => (word(NAMESPACES), word(ROLES)).prop_map(|(ns, name)| RoleKey::namespaced(ns, name)),
        1 => (prop_oneof![word(NAMESPACES), word(NAMES)], word(NAMES)).prop_map(|(ns, name)| RoleKey::namespaced(ns, name)),
    ];
    let rules = prop::collection::vec(prop_oneof![1 => tidy_rule(), 1 => rule(), 1 => Just(Rule::default())], 0..3);
    let selectors = prop::collection::vec(any_label_selector(), 0..3);
    (key, rules, any_labels(), prop::option::weighted(0.4, selectors)).prop_map(|(key, rules, labels, aggregation)| {
        // Namespaced roles have no such field at all.
        let aggregation = aggregation.filter(|_| matches!(key, RoleKey::Cluster(_)));
        Role { key, labels, rules, aggregation }
    })
}

/// A RoleBinding or ClusterRoleBinding, good or bad.
pub fn any_binding() -> impl Strategy<Value = Binding> {
    let api_group = prop_oneof![
        4 => Just("rbac.authorization.k8s.io"),
        2 => Just(""),
        1 => Just("apps"),
    ]
    .prop_map(Name::new_static);
    let kind = prop_oneof![Just("ClusterRole"), Just("Role"), Just(""), Just("Widget"), Just("clusterrole")];
    let role_ref = (api_group.clone(), kind.prop_map(Name::new_static), prop_oneof![word(ROLES), word(NAMES)])
        .prop_map(|(api_group, kind, name)| RoleRef { api_group, kind, name });
    let subject_kind = prop_oneof![Just("User"), Just("Group"), Just("ServiceAccount"), Just(""), Just("Robot")];
    let subject = (
        subject_kind.prop_map(Name::new_static),
        api_group,
        prop_oneof![word(ROLES), word(NAMES)],
        prop_oneof![Just(Name::default()), word(NAMESPACES), word(NAMES)],
    )
        .prop_map(|(kind, api_group, name, namespace)| Subject { kind, api_group, name, namespace });
    let key = prop_oneof![
        2 => (prop_oneof![word(NAMESPACES), word(NAMES)], word(NAMES)).prop_map(|(ns, name)| BindingKey::namespaced(ns, name)),
        2 => word(NAMES).prop_map(BindingKey::cluster),
        1 => (word(NAMESPACES), word(ROLES)).prop_map(|(ns, name)| BindingKey::namespaced(ns, name)),
        1 => word(ROLES).prop_map(BindingKey::cluster),
    ];
    let made = (key, role_ref, prop::collection::vec(subject, 0..3)).prop_map(|(key, role_ref, subjects)| Binding {
        key,
        role_ref,
        subjects,
    });
    prop_oneof![1 => binding(), 4 => made]
}

fn any_labels() -> impl Strategy<Value = Labels> {
    prop_oneof![
        2 => Just(Labels::new()),
        1 => prop::collection::btree_map(word(LABEL_KEYS), word(LABEL_VALUES), 0..3).prop_map(Labels::from_iter),
    ]
}

/// A label selector, good or bad.
pub fn any_label_selector() -> impl Strategy<Value = LabelSelector> {
    let requirement = (word(LABEL_KEYS), word(OPERATORS), prop::collection::vec(word(LABEL_VALUES), 0..3))
        .prop_map(|(key, operator, values)| Requirement { key, operator, values });
    let made = (any_labels(), prop::collection::vec(requirement, 0..2))
        .prop_map(|(match_labels, match_expressions)| LabelSelector { match_labels, match_expressions });
    prop_oneof![label_selector(), made]
}
