//! What an object says of all that we would say, and what it is on the way from one to the other.

use rolewright_core::rule::ANY;
use rolewright_core::{Labels, Rule, RuleSet};
use rustc_hash::FxHashSet;

use crate::Name;
use crate::intent::{Content, Shape};
use crate::object::{Live, Managed, Meta, Owner};
use crate::rbac::{BindingBody, RoleBody};

/// Whether a live object says what is wanted: whether [`seen`] of it is that, without making it. Most objects do.
pub(super) fn says(live: &Live, wanted: &Shape) -> bool {
    let Meta { labels, annotations, owners, ours, inherited, .. } = &live.meta;
    let managed = || ours.iter().chain(inherited.as_deref().map(|inherited| &inherited.fields));
    let same = |labels: &Labels, wanted: &Labels, ours: fn(&Managed) -> &[Name]| {
        let is_ours = |key: &Name| managed().any(|managed| ours(managed).contains(key));
        wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
            && !labels.iter().any(|(key, _)| !wanted.contains_key(key) && is_ours(key))
    };
    let is_ours =
        |owner: &&Owner| has(&wanted.owners, owner) || managed().any(|managed| managed.owners.contains(&owner.uid));
    let rules_are_ours = managed().any(|managed| managed.rules);
    let says = same(labels, &wanted.labels, |managed| &managed.labels)
        && same(annotations, &wanted.annotations, |managed| &managed.annotations)
        && wanted.owners.iter().all(|owner| owners.contains(owner))
        && owners.iter().filter(is_ours).count() == wanted.owners.len()
        && holds(live, &wanted.content, rules_are_ours);
    debug_assert_eq!(says, seen(live, wanted) == *wanted, "{live:?} {wanted:?}");
    says
}

fn holds(live: &Live, wanted: &Content, rules_are_ours: bool) -> bool {
    match wanted {
        Content::Bare => true,
        Content::Role { rules, aggregation } => live.body::<RoleBody>().is_some_and(|role| {
            let seen = (rules.is_some() || rules_are_ours).then_some(&role.rules);
            seen == rules.as_ref() && role.aggregation == *aggregation
        }),
        Content::Binding { role_ref, subjects } => live
            .body::<BindingBody>()
            .is_some_and(|binding| binding.role_ref == *role_ref && binding.subjects == *subjects),
    }
}

/// The part of a live object that is ours: what we want to say, and what we said before.
pub(super) fn seen(live: &Live, wanted: &Shape) -> Shape {
    let ours = live.meta.all_ours();
    let of = |labels: &Labels, wanted: &Labels, ours: &[Name]| {
        labels
            .iter()
            .filter(|(key, _)| wanted.contains_key(key) || ours.contains(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let is_ours = |owner: &&Owner| ours.owners.contains(&owner.uid) || has(&wanted.owners, owner);
    let mut owners: Vec<Owner> = live.meta.owners.iter().filter(is_ours).cloned().collect();
    // Their order says nothing, so it makes no difference.
    owners.sort_by_key(|owner| wanted.owners.iter().position(|wanted| wanted.uid == owner.uid).unwrap_or(usize::MAX));
    Shape {
        labels: of(&live.meta.labels, &wanted.labels, &ours.labels),
        annotations: of(&live.meta.annotations, &wanted.annotations, &ours.annotations),
        owners,
        content: content(live, &wanted.content, ours.rules),
    }
}

fn content(live: &Live, wanted: &Content, rules_are_ours: bool) -> Content {
    match wanted {
        Content::Bare => Content::Bare,
        Content::Role { rules, .. } => live.body::<RoleBody>().map_or(Content::Bare, |role| Content::Role {
            rules: (rules.is_some() || rules_are_ours).then(|| role.rules.clone()),
            aggregation: role.aggregation.clone(),
        }),
        Content::Binding { .. } => live.body::<BindingBody>().map_or(Content::Bare, |binding| Content::Binding {
            role_ref: binding.role_ref.clone(),
            subjects: binding.subjects.clone(),
        }),
    }
}

/// What grants all that the one grants and all that the other grants. Where both cannot be said, the wanted is.
pub(super) fn both(seen: &Shape, wanted: &Shape) -> Shape {
    let mut owners = wanted.owners.clone();
    owners.extend(seen.owners.iter().filter(|owner| !has(&wanted.owners, owner)).cloned());
    let united = |old: &Labels, new: &Labels| {
        let mut labels = old.clone();
        labels.extend(new.iter().map(|(key, value)| (key.clone(), value.clone())));
        labels
    };
    Shape {
        labels: united(&seen.labels, &wanted.labels),
        annotations: united(&seen.annotations, &wanted.annotations),
        owners,
        content: both_contents(&seen.content, &wanted.content),
    }
}

fn both_contents(seen: &Content, wanted: &Content) -> Content {
    match (seen, wanted) {
        (Content::Role { rules: old, aggregation: selected }, Content::Role { rules: new, aggregation: selecting }) => {
            Content::Role {
                rules: match (old, new) {
                    (Some(old), Some(new)) => Some(both_rules(old, new)),
                    (_, new) => new.clone(),
                },
                aggregation: match (selected, selecting) {
                    (Some(old), Some(new)) => Some(both_lists(old, new)),
                    (_, new) => new.clone(),
                },
            }
        }
        (Content::Binding { role_ref: old, subjects: held }, Content::Binding { role_ref, subjects })
            if old == role_ref =>
        {
            Content::Binding { role_ref: role_ref.clone(), subjects: both_lists(held, subjects) }
        }
        (_, wanted) => wanted.clone(),
    }
}

fn both_rules(old: &[Rule], new: &[Rule]) -> Vec<Rule> {
    let (gone, come) = apart(old, new);
    if covers(new, &gone) {
        new.to_vec()
    } else if covers(old, &come) {
        old.to_vec()
    } else {
        both_lists(old, new)
    }
}

/// The rules that only the one list has, and those that only the other has; some that both have may be among them.
fn apart<'a>(one: &'a [Rule], other: &'a [Rule]) -> (Vec<&'a Rule>, Vec<&'a Rule>) {
    // Mostly few rules of many differ, so that nothing but these is looked at closely.
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
    let only = |one: &'a [Rule], other: &'a [Rule]| {
        let other: FxHashSet<&Rule> = other.iter().collect();
        one.iter().filter(|rule| !other.contains(rule)).collect()
    };
    (only(one, other), only(other, one))
}

/// Whether rules give everything that some others give. What is about other groups cannot help.
fn covers(wide: &[Rule], rules: &[&Rule]) -> bool {
    let groups: FxHashSet<&str> =
        rules.iter().flat_map(|rule| &rule.api_groups).map(Name::as_str).chain([ANY]).collect();
    let helps = |rule: &&Rule| {
        !rule.non_resource_urls.is_empty() || rule.api_groups.iter().any(|group| groups.contains(group.as_str()))
    };
    let held = RuleSet::new(wide.iter().filter(helps));
    rules.iter().all(|rule| held.covers(rule))
}

fn both_lists<T: Clone + PartialEq>(old: &[T], new: &[T]) -> Vec<T> {
    if old.iter().all(|item| new.contains(item)) {
        return new.to_vec();
    }
    let mut all = old.to_vec();
    all.extend(new.iter().filter(|item| !old.contains(item)).cloned());
    all
}

fn has(owners: &[Owner], owner: &Owner) -> bool {
    owners.iter().any(|other| other.uid == owner.uid)
}
