//! Rights, subjects and selectors in a few words.

use rolewright_core::selector::{LabelSelector, Requirement};
use rolewright_core::subject::service_account_of;
use rolewright_core::{Name, Principal, Rule};
use rolewright_plan::ObjectRef;

/// `Group/shop-devs`, `User/ada`, `SA/ci:deployer`.
pub(crate) fn subject(principal: &Principal) -> String {
    match principal {
        Principal::User(name) => match service_account_of(name) {
            Some((namespace, name)) => format!("SA/{namespace}:{name}"),
            None => format!("User/{name}"),
        },
        Principal::Group(name) => format!("Group/{name}"),
    }
}

/// `ClusterRole view`, `Role shop/ci`.
pub(crate) fn object(object: &ObjectRef) -> String {
    let ObjectRef { kind, namespace, name } = object;
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

/// What rules give, one row for each resource or URL: what it is on, and the verbs.
pub(crate) fn rows(rules: &[Rule]) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for rule in rules {
        let verbs = joined(&rule.verbs, ",");
        for group in &rule.api_groups {
            for resource in &rule.resources {
                rows.push((on(group, resource, &rule.resource_names), verbs.clone()));
            }
        }
        rows.extend(rule.non_resource_urls.iter().map(|url| (url.to_string(), verbs.clone())));
    }
    rows
}

/// What rules give, one row for each rule: the first of what it is on and how many more, and the verbs.
pub(crate) fn short_rows(rules: &[Rule]) -> Vec<(String, String)> {
    let short = |rule: &Rule| {
        let rows = rows(std::slice::from_ref(rule));
        let on: Vec<&str> = rows.iter().map(|(on, _)| on.as_str()).collect();
        let on = match on.as_slice() {
            [first, second, _, rest @ ..] => format!("{first}, {second} and {} more", rest.len() + 1),
            few => few.join(", "),
        };
        (on, joined(&rule.verbs, ","))
    };
    rules.iter().map(short).collect()
}

/// What one rule gives, in one line.
pub(crate) fn rule(rule: &Rule) -> (String, String) {
    let resources = match rule.api_groups.as_slice() {
        [group] => rule.resources.iter().map(|resource| on(group, resource, &[])).collect::<Vec<_>>().join(","),
        groups => format!("{} of {}", joined(&rule.resources, ","), joined(&named(groups), ",")),
    };
    let resources = match rule.resource_names.as_slice() {
        [] => resources,
        names => format!("{resources} named {}", joined(names, ",")),
    };
    let on = match (rule.resources.is_empty(), rule.non_resource_urls.is_empty()) {
        (_, true) => resources,
        (true, false) => joined(&rule.non_resource_urls, ","),
        (false, false) => format!("{resources},{}", joined(&rule.non_resource_urls, ",")),
    };
    (on, joined(&rule.verbs, ","))
}

/// `caches.acme.io`, `pods/log`, `secrets (ca)`.
fn on(group: &str, resource: &str, names: &[Name]) -> String {
    let on = match (group, resource.split_once('/')) {
        ("", _) => resource.to_owned(),
        ("*", _) => format!("{resource} of any group"),
        (group, Some((resource, sub))) => format!("{resource}.{group}/{sub}"),
        (group, None) => format!("{resource}.{group}"),
    };
    if names.is_empty() { on } else { format!("{on} ({})", joined(names, ",")) }
}

/// The core group has no name that a reader would see.
fn named(groups: &[Name]) -> Vec<Name> {
    groups.iter().map(|group| if group.is_empty() { Name::new_static("core") } else { group.clone() }).collect()
}

/// `rbac.example.com/to-view=true`, `tier in (a,b)`, `!hidden`; everything if it is empty.
pub(crate) fn selector(selector: &LabelSelector) -> String {
    let labels = selector.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
    let parts: Vec<String> = labels.chain(selector.match_expressions.iter().map(requirement)).collect();
    if parts.is_empty() { "every role".to_owned() } else { parts.join(", ") }
}

fn requirement(requirement: &Requirement) -> String {
    let Requirement { key, operator, values } = requirement;
    match operator.as_str() {
        "Exists" if values.is_empty() => key.to_string(),
        "DoesNotExist" if values.is_empty() => format!("!{key}"),
        "In" => format!("{key} in ({})", joined(values, ",")),
        "NotIn" => format!("{key} notin ({})", joined(values, ",")),
        other => format!("{key} {other} ({})", joined(values, ",")),
    }
}

pub(crate) fn joined(names: &[Name], between: &str) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(between)
}

/// The text, cut to a width with `..` at its end.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(2)).collect();
    format!("{kept}..")
}

/// The text in lines of a width, broken between words. A word that is longer has a line of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `1 rule`, `2 rules`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_in_words() {
        let rows = |rule: &Rule| rows(std::slice::from_ref(rule));
        let secret = Rule::resources([""], ["secrets"], ["get"]).named(["ca"]);
        assert_eq!(rows(&secret), [("secrets (ca)".to_owned(), "get".to_owned())]);
        let cache = Rule::resources(["acme.io"], ["caches", "caches/status"], ["get", "list"]);
        let on: Vec<String> = rows(&cache).into_iter().map(|(on, _)| on).collect();
        assert_eq!(on, ["caches.acme.io", "caches.acme.io/status"]);
        assert_eq!(rule(&cache), ("caches.acme.io,caches.acme.io/status".to_owned(), "get,list".to_owned()));
        assert_eq!(rule(&Rule::urls(["/healthz"], ["get"])).0, "/healthz");
        assert_eq!(rule(&Rule::resources(["", "apps"], ["a"], ["get"])).0, "a of core,apps");
        assert_eq!(rule(&Rule::resources(["*"], ["*"], ["*"])).0, "* of any group");
        let many = Rule::resources([""], ["a", "b", "c", "d"], ["get"]);
        assert_eq!(short_rows(&[many]), [("a, b and 2 more".to_owned(), "get".to_owned())]);
        assert_eq!(cut("abcdef", 4), "ab..");
        assert_eq!(wrapped("ab cd  efghij k", 5), ["ab cd", "efghij", "k"]);
    }

    #[test]
    fn subjects_and_selectors_in_words() {
        assert_eq!(subject(&Principal::User("system:serviceaccount:ci:deployer".into())), "SA/ci:deployer");
        assert_eq!(subject(&Principal::User("ada".into())), "User/ada");
        let written = |operator: &str, values: &[&str]| Requirement {
            key: "k".into(),
            operator: operator.into(),
            values: values.iter().map(|&value| value.into()).collect(),
        };
        for (requirement, words) in [
            (written("Exists", &[]), "k"),
            (written("DoesNotExist", &[]), "!k"),
            (written("In", &["a", "b"]), "k in (a,b)"),
            (written("NotIn", &["a"]), "k notin (a)"),
            (written("Like", &["a"]), "k Like (a)"),
        ] {
            let written = LabelSelector { match_expressions: vec![requirement], ..LabelSelector::default() };
            assert_eq!(selector(&written), words);
        }
        assert_eq!(selector(&LabelSelector::default()), "every role");
    }
}
