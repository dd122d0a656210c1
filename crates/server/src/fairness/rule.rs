//! Whether a rule of a flow schema is about a request. As in Kubernetes, `*` stands for all where it is the only word.

use rolewright_core::User;
use serde::Deserialize;

use crate::http::request::RequestInfo;

const ALL: &str = "*";

/// Requests by who asks, and for what.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule {
    #[serde(default)]
    subjects: Vec<Subject>,
    #[serde(default)]
    resource_rules: Vec<Targets>,
    #[serde(default)]
    non_resource_rules: Vec<Urls>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind")]
enum Subject {
    User {
        user: Named,
    },
    Group {
        group: Named,
    },
    #[serde(rename_all = "camelCase")]
    ServiceAccount {
        service_account: Account,
    },
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Account {
    namespace: String,
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Targets {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    #[serde(default)]
    cluster_scope: bool,
    #[serde(default)]
    namespaces: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Urls {
    verbs: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    urls: Vec<String>,
}

impl Rule {
    pub(super) fn matches(&self, user: &User, info: &RequestInfo) -> bool {
        self.subjects.iter().any(|subject| subject.is(user))
            && if info.is_resource {
                self.resource_rules.iter().any(|rule| rule.matches(info))
            } else {
                self.non_resource_rules.iter().any(|rule| rule.matches(info))
            }
    }
}

impl Subject {
    fn is(&self, user: &User) -> bool {
        match self {
            Self::User { user: Named { name } } => name == ALL || *name == user.name,
            Self::Group { group: Named { name } } => name == ALL || user.groups.iter().any(|group| group == name),
            Self::ServiceAccount { service_account: Account { namespace, name } } => {
                let account = user.name.strip_prefix("system:serviceaccount:");
                let account = account.and_then(|rest| rest.strip_prefix(namespace.as_str())?.strip_prefix(':'));
                account.is_some_and(|account| name == ALL || name == account)
            }
        }
    }
}

fn has(words: &[String], wanted: &str) -> bool {
    matches!(words, [only] if only == ALL) || words.iter().any(|word| word == wanted)
}

impl Targets {
    fn matches(&self, info: &RequestInfo) -> bool {
        has(&self.verbs, &info.verb)
            && has(&self.api_groups, &info.group)
            && self.names(info)
            && if info.namespace.is_empty() { self.cluster_scope } else { has(&self.namespaces, &info.namespace) }
    }

    fn names(&self, info: &RequestInfo) -> bool {
        if info.subresource.is_empty() {
            return has(&self.resources, &info.resource);
        }
        let is = |word: &String| {
            word.split_once('/').is_some_and(|parts| parts == (info.resource.as_str(), info.subresource.as_str()))
        };
        matches!(self.resources.as_slice(), [only] if only == ALL) || self.resources.iter().any(is)
    }
}

impl Urls {
    /// Every URL stands for all below it, too.
    fn matches(&self, info: &RequestInfo) -> bool {
        let is = |url: &String| {
            let start = url.strip_suffix('*').unwrap_or(url);
            let below = info.path.strip_prefix(start);
            url == ALL || *url == info.path || below.is_some_and(|rest| start.ends_with('/') || rest.starts_with('/'))
        };
        has(&self.verbs, &info.verb) && self.urls.iter().any(is)
    }
}
