//! Random rules.

use proptest::prelude::*;
use rolewright_core::{Name, NameList, Rule};

use super::words::{API_GROUPS, OBJECTS, RESOURCES, URLS, VERBS, some};

/// A rule: mostly on resources, some on URLs, a few that mix or leave out parts, as careless authors do.
pub fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        12 => tidy_rule(),
        1 => (odd_list(API_GROUPS), odd_list(RESOURCES), odd_list(OBJECTS), odd_list(URLS), odd_list(VERBS)).prop_map(
            |(api_groups, resources, resource_names, non_resource_urls, verbs)| Rule {
                api_groups: api_groups.into(),
                resources: resources.into(),
                resource_names: resource_names.into(),
                non_resource_urls: non_resource_urls.into(),
                verbs: verbs.into(),
            }
        ),
    ]
}

/// A rule that Kubernetes' validation accepts in a ClusterRole.
pub fn tidy_rule() -> impl Strategy<Value = Rule> {
    let names = prop_oneof![3 => Just(Vec::new()), 1 => some(OBJECTS, 2)];
    prop_oneof![
        5 => (some(API_GROUPS, 2), some(RESOURCES, 3), some(VERBS, 3), names).prop_map(
            |(api_groups, resources, verbs, resource_names)| Rule {
                api_groups: api_groups.into(),
                resources: resources.into(),
                resource_names: resource_names.into(),
                non_resource_urls: NameList::default(),
                verbs: verbs.into(),
            }
        ),
        1 => (some(URLS, 2), some(VERBS, 2)).prop_map(|(non_resource_urls, verbs)| Rule {
            non_resource_urls: non_resource_urls.into(),
            verbs: verbs.into(),
            ..Rule::default()
        }),
    ]
}

/// Up to `most` rules.
pub fn rules(most: usize) -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(), 0..=most)
}

fn odd_list(words: &'static [&'static str]) -> impl Strategy<Value = Vec<Name>> {
    prop_oneof![1 => Just(Vec::new()), 2 => some(words, 2)]
}
