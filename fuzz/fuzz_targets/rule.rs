//! Reading, writing and applying a rule.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_core::{Request, ResourceRequest, Rule, Target};
use rolewright_fuzz::{Word, names};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    source: Source<'a>,
    verb: Word<'a>,
    target: On<'a>,
}

#[derive(Debug, Arbitrary)]
enum Source<'a> {
    /// Hostile text.
    Json(&'a [u8]),
    /// A rule as one would write it.
    Lists {
        api_groups: Vec<Word<'a>>,
        resources: Vec<Word<'a>>,
        resource_names: Vec<Word<'a>>,
        urls: Vec<Word<'a>>,
        verbs: Vec<Word<'a>>,
    },
}

#[derive(Debug, Arbitrary)]
enum On<'a> {
    Resource { group: Word<'a>, resource: Word<'a>, subresource: Word<'a>, namespace: Word<'a>, name: Word<'a> },
    Url(Word<'a>),
}

fuzz_target!(|input: Input<'_>| {
    let Some(rule) = rule(&input.source) else { return };

    let written = serde_json::to_vec(&rule).expect("a rule can always be written");
    let again: Rule = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(again, rule);

    let target = match &input.target {
        On::Resource { group, resource, subresource, namespace, name } => Target::Resource(ResourceRequest {
            group: group.text(),
            resource: resource.text(),
            subresource: subresource.text(),
            namespace: namespace.text(),
            name: name.text(),
        }),
        On::Url(path) => Target::Url(path.text()),
    };
    let request = Request { verb: input.verb.text(), target };
    assert_eq!(rule.allows(&request), as_documented(&rule, &request), "{rule:?} {request:?}");
});

fn rule(source: &Source<'_>) -> Option<Rule> {
    match source {
        Source::Json(bytes) => serde_json::from_slice(bytes).ok(),
        Source::Lists { api_groups, resources, resource_names, urls, verbs } => Some(Rule {
            api_groups: names(api_groups),
            resources: names(resources),
            resource_names: names(resource_names),
            non_resource_urls: names(urls),
            verbs: names(verbs),
        }),
    }
}

/// The rule as Kubernetes' documentation reads, with one owned text per comparison and no cleverness.
fn as_documented(rule: &Rule, request: &Request<'_>) -> bool {
    let has = |list: &[rolewright_core::Name], wanted: &str| list.iter().any(|item| item.as_str() == wanted);
    let any_or = |list: &[rolewright_core::Name], wanted: &str| has(list, "*") || has(list, wanted);
    if !any_or(&rule.verbs, request.verb) {
        return false;
    }
    match &request.target {
        Target::Resource(on) => {
            let resource_fits = if on.subresource.is_empty() {
                any_or(&rule.resources, on.resource)
            } else {
                any_or(&rule.resources, &format!("{}/{}", on.resource, on.subresource))
                    || has(&rule.resources, &format!("*/{}", on.subresource))
            };
            let name_fits = rule.resource_names.is_empty() || has(&rule.resource_names, on.name);
            any_or(&rule.api_groups, on.group) && resource_fits && name_fits
        }
        Target::Url(path) => rule.non_resource_urls.iter().any(|pattern| {
            let stem = pattern.trim_end_matches('*');
            pattern == path || (stem.len() < pattern.len() && path.starts_with(stem))
        }),
    }
}
