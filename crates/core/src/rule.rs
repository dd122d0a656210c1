//! The policy rule, and when it allows a request.

use crate::request::{Request, ResourceRequest, Target};
use crate::{Name, NameList};

/// The text that stands for "any" in verbs, groups, resources and URLs.
pub const ANY: &str = "*";

/// One policy rule, with Kubernetes' fields and Kubernetes' meaning.
///
/// Two rules are equal when all five lists hold the same texts in the same order; that is also how Kubernetes tells
/// rules apart when it aggregates them. Meaning is compared by [`RuleSet`](crate::RuleSet).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default))]
pub struct Rule {
    /// API groups, `""` for the core group; versions never matter.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "<[Name]>::is_empty"))]
    pub api_groups: NameList,
    /// Resources as `pods`, `pods/log`, `*/scale` or `*`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "<[Name]>::is_empty"))]
    pub resources: NameList,
    /// Objects by name; empty means every object.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "<[Name]>::is_empty"))]
    pub resource_names: NameList,
    /// Paths outside the resource API, exact or with a trailing `*`.
    #[cfg_attr(feature = "serde", serde(rename = "nonResourceURLs", skip_serializing_if = "<[Name]>::is_empty"))]
    pub non_resource_urls: NameList,
    /// Verbs; free text, `*` for all.
    pub verbs: NameList,
}

impl Rule {
    /// A rule on resources.
    pub fn resources<const G: usize, const R: usize, const V: usize>(
        api_groups: [&str; G],
        resources: [&str; R],
        verbs: [&str; V],
    ) -> Self {
        Self { api_groups: names(api_groups), resources: names(resources), verbs: names(verbs), ..Self::default() }
    }

    /// A rule on URLs outside the resource API.
    pub fn urls<const U: usize, const V: usize>(urls: [&str; U], verbs: [&str; V]) -> Self {
        Self { non_resource_urls: names(urls), verbs: names(verbs), ..Self::default() }
    }

    /// The same rule, narrowed to objects of these names.
    pub fn named<const N: usize>(mut self, resource_names: [&str; N]) -> Self {
        self.resource_names = names(resource_names);
        self
    }

    /// Whether this rule alone allows `request`, as Kubernetes' authorizer decides it.
    ///
    /// This is the plain reading of the rule; [`Authorizer`](crate::Authorizer) answers the same from an index.
    pub fn allows(&self, request: &Request<'_>) -> bool {
        self.allows_verb(request.verb)
            && match &request.target {
                Target::Resource(on) => {
                    self.allows_group(on.group) && self.allows_resource(on) && self.allows_name(on.name)
                }
                Target::Url(path) => self.allows_url(path),
            }
    }

    /// Whether the verb list names `verb` or everything.
    pub fn allows_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|v| v == ANY || v == verb)
    }

    /// Whether the group list names `group` or everything.
    pub fn allows_group(&self, group: &str) -> bool {
        self.api_groups.iter().any(|g| g == ANY || g == group)
    }

    /// Whether the resource list covers the resource and subresource asked for.
    pub fn allows_resource(&self, on: &ResourceRequest<'_>) -> bool {
        self.resources.iter().any(|pattern| resource_matches(pattern, on.resource, on.subresource))
    }

    /// Whether the rule is free of names or lists this one; a request without a name has the name `""`.
    pub fn allows_name(&self, name: &str) -> bool {
        self.resource_names.is_empty() || self.resource_names.iter().any(|n| n == name)
    }

    /// Whether one of the URL patterns matches `path`.
    pub fn allows_url(&self, path: &str) -> bool {
        self.non_resource_urls.iter().any(|pattern| url_matches(pattern, path))
    }
}

/// `*` matches all; `a/b` matches by its full text; `*/b` matches subresource `b` of anything.
///
/// `pods/*` has no special meaning: it matches only a subresource that is literally called `*`.
pub fn resource_matches(pattern: &str, resource: &str, subresource: &str) -> bool {
    if pattern == ANY {
        return true;
    }
    if subresource.is_empty() {
        return pattern == resource;
    }
    let names_it = pattern.strip_suffix(subresource).and_then(|rest| rest.strip_suffix('/')) == Some(resource);
    names_it || pattern.strip_prefix("*/") == Some(subresource)
}

/// A pattern that ends in `*` matches by prefix, all trailing stars removed; any other pattern by equality.
pub fn url_matches(pattern: &str, path: &str) -> bool {
    pattern == path || url_prefix(pattern).is_some_and(|prefix| path.starts_with(prefix))
}

/// The prefix that a URL pattern with a trailing `*` stands for.
pub fn url_prefix(pattern: &str) -> Option<&str> {
    pattern.ends_with('*').then(|| pattern.trim_end_matches('*'))
}

pub(crate) fn names<const N: usize>(texts: [&str; N]) -> NameList {
    texts.into_iter().map(Name::from).collect()
}
