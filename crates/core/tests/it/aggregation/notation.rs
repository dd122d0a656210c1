//! Roles, selectors and rules in short words.

use rolewright_core::aggregate::Aggregation;
use rolewright_core::selector::Requirement;
use rolewright_core::{LabelSelector, Role, Rule};

/// `get,list pods; get /healthz`
pub(crate) fn rules(text: &str) -> Vec<Rule> {
    let rule = |part: &str| {
        let (verbs, what) = part.trim().split_once(' ').unwrap();
        let verbs = verbs.split(',').map(Into::into).collect();
        if what.starts_with('/') {
            Rule { verbs, non_resource_urls: [what.into()].into(), ..Rule::default() }
        } else {
            Rule { verbs, api_groups: ["".into()].into(), resources: [what.into()].into(), ..Rule::default() }
        }
    };
    text.split(';').filter(|part| !part.trim().is_empty()).map(rule).collect()
}

pub(crate) fn shown<'a>(rules: impl Iterator<Item = &'a Rule>) -> String {
    rules
        .map(|r| format!("{} {}", r.verbs.join(","), r.resources.iter().chain(&r.non_resource_urls).next().unwrap()))
        .collect::<Vec<_>>()
        .join("; ")
}

/// `a=1 b=2`
pub(crate) fn labelled(role: Role, labels: &str) -> Role {
    labels.split_whitespace().fold(role, |role, label| {
        let (key, value) = label.split_once('=').unwrap();
        role.label(key, value)
    })
}

/// `a=1 & b In x y & c Exists`
pub(crate) fn selector(text: &str) -> LabelSelector {
    let mut selector = LabelSelector::default();
    for part in text.split('&').map(str::trim).filter(|part| !part.is_empty()) {
        if let Some((key, value)) = part.split_once('=') {
            selector.match_labels.insert(key.into(), value.into());
        } else {
            let mut words = part.split_whitespace();
            selector.match_expressions.push(Requirement {
                key: words.next().unwrap().into(),
                operator: words.next().unwrap().into(),
                values: words.map(Into::into).collect(),
            });
        }
    }
    selector
}

pub(crate) fn plain(name: &str, labels: &str, own: &str) -> Role {
    labelled(Role::cluster(name, rules(own)), labels)
}

pub(crate) fn union<const N: usize>(name: &str, labels: &str, selectors: [&str; N]) -> Role {
    labelled(Role::aggregated(name, selectors.map(selector)), labels)
}

pub(crate) fn stored(role: Role, text: &str) -> Role {
    Role { rules: rules(text), ..role }
}

pub(crate) fn of(aggregation: &Aggregation, name: &str) -> String {
    aggregation.rules(name).map_or_else(|| "not aggregated".to_owned(), shown)
}
