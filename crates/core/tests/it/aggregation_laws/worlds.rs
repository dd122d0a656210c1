//! Random roles and random changes: few names, labels and rules, so that everything meets everything. About every
//! third world has a circle.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use rolewright_core::aggregate::Event;
use rolewright_core::selector::Requirement;
use rolewright_core::{LabelSelector, Labels, Name, Role, Rule};

/// ClusterRoles by name.
pub(crate) type World = BTreeMap<Name, Role>;

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Set(Role),
    Limit(Role, Vec<Rule>),
    Remove(Name),
}

impl Change {
    pub(crate) fn event(&self) -> Event<'_> {
        match self {
            Self::Set(role) => Event::Set(role),
            Self::Limit(role, ceiling) => Event::Limited(role, ceiling),
            Self::Remove(name) => Event::Remove(name),
        }
    }

    pub(crate) fn apply(&self, world: &mut World) {
        match self {
            Self::Set(role) | Self::Limit(role, _) => world.insert(role.key.name().clone(), role.clone()),
            Self::Remove(name) => world.remove(name),
        };
    }
}

/// A whole history, in portions that are taken in at once.
pub(crate) fn batches() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let change = prop_oneof![5 => role().prop_map(Change::Set), 1 => name().prop_map(Change::Remove)];
    vec(vec(change, 1..5), 1..12)
}

/// The same with roles that may not gather everything.
pub(crate) fn limited_batches() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let change = prop_oneof![
        3 => role().prop_map(Change::Set),
        3 => (role(), rules()).prop_map(|(role, ceiling)| Change::Limit(role, ceiling)),
        1 => name().prop_map(Change::Remove),
    ];
    vec(vec(change, 1..5), 1..12)
}

pub(crate) fn worlds() -> impl Strategy<Value = World> {
    vec(role(), 0..20).prop_map(|roles| roles.into_iter().map(|role| (role.key.name().clone(), role)).collect())
}

fn role() -> impl Strategy<Value = Role> {
    let aggregation = prop_oneof![2 => Just(None), 3 => vec(selector(), 0..4).prop_map(Some)];
    (name(), btree_map(key(), value(), 0..4).prop_map(Labels::from_iter), rules(), aggregation)
        .prop_map(|(name, labels, rules, aggregation)| Role { labels, aggregation, ..Role::cluster(name, rules) })
}

/// Mostly usable, mostly narrow.
fn selector() -> impl Strategy<Value = LabelSelector> {
    let valued = (key(), select(vec!["In", "In", "NotIn"]), vec(value(), 1..3));
    let bare = (key(), select(vec!["Exists", "DoesNotExist"]), Just(Vec::new()));
    let wild = (key(), select(vec!["In", "NotIn", "Exists", "DoesNotExist", "Gt"]), vec(value(), 0..2));
    let requirement = prop_oneof![4 => valued, 2 => bare, 1 => wild].prop_map(|(key, operator, values)| Requirement {
        key,
        operator: operator.into(),
        values,
    });
    let labels =
        prop_oneof![3 => btree_map(key(), value(), 1..3).prop_map(Labels::from_iter), 1 => Just(Labels::new())];
    let expressions = prop_oneof![3 => Just(Vec::new()), 1 => vec(requirement, 1..3)];
    (labels, expressions)
        .prop_map(|(match_labels, match_expressions)| LabelSelector { match_labels, match_expressions })
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    vec(select(vec!["u", "v", "w", "x", "y"]).prop_map(|resource| Rule::resources([""], [resource], ["get"])), 0..4)
}

fn name() -> impl Strategy<Value = Name> {
    select(vec!["a", "b", "c", "d", "e", "f", "g", "h"]).prop_map(Name::from)
}

fn key() -> impl Strategy<Value = Name> {
    select(vec!["k", "l", "m"]).prop_map(Name::from)
}

fn value() -> impl Strategy<Value = Name> {
    select(vec!["1", "1", "1", "2"]).prop_map(Name::from)
}
