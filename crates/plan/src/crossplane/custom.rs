//! What can be a custom resource. Definitions and lists of resources are written by people who may not give away more than
//! these: a name that means more than the one resource, or a resource of somebody else, never gets into a rule.

use super::people::CROSSPLANE;

/// The groups that Kubernetes serves itself. Those without a dot cannot be the group of a custom resource anyway. Others
/// that end in `k8s.io`, such as `gateway.networking.k8s.io`, are of custom resources.
const KUBERNETES: [&str; 18] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];
/// Ours: who writes policies decides what others may have.
const ROLEWRIGHT: &str = "rolewright.io";
/// The longest name of an object.
const LONGEST_DOMAIN: usize = 253;
/// The longest part of such a name that Kubernetes takes for a resource.
const LONGEST_LABEL: usize = 63;

/// Why a group cannot be that of a custom resource.
pub(super) fn wrong_group(group: &str) -> Option<&'static str> {
    let is_label = |label: &str| {
        let ends = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        label.starts_with(ends) && label.ends_with(ends) && label.chars().all(|letter| ends(letter) || letter == '-')
    };
    match group {
        _ if group.len() > LONGEST_DOMAIN || !group.contains('.') || !group.split('.').all(is_label) => {
            Some("is not a domain such as `example.org`")
        }
        _ if KUBERNETES.contains(&group) => Some("is served by Kubernetes itself"),
        _ if CROSSPLANE.contains(&group) || group == ROLEWRIGHT => Some("is not to be extended"),
        _ => None,
    }
}

/// Why a plural cannot be that of a custom resource.
pub(super) fn wrong_plural(plural: &str) -> Option<&'static str> {
    let ends = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_plural = plural.len() <= LONGEST_LABEL
        && plural.starts_with(|letter: char| letter.is_ascii_lowercase())
        && plural.ends_with(ends)
        && plural.chars().all(|letter| ends(letter) || letter == '-');
    (!is_plural).then_some("is not one word such as `buckets`")
}

/// What somebody wrote, to be repeated to them, as far as it could be a name.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().flat_map(char::escape_debug).take(LONGEST_DOMAIN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plural_is_a_word_and_a_group_a_domain_of_somebody_else() {
        for group in [
            "example.org",
            "s3.aws.upbound.io",
            "helm.crossplane.io",
            "kubernetes.crossplane.io",
            "gateway.networking.k8s.io",
            "1.example.org",
        ] {
            assert_eq!(wrong_group(group), None, "{group}");
        }
        let long = format!("{}.org", "a".repeat(250));
        for group in [
            "",
            "*",
            "*.*",
            "*.example.org",
            "apps",
            "batch",
            ".org",
            "a..org",
            "Example.org",
            "a/b.org",
            "a b.org",
            "-a.org",
            "a-.org",
            "rbac.authorization.k8s.io",
            "pkg.crossplane.io",
            "rolewright.io",
            &long,
        ] {
            assert!(wrong_group(group).is_some(), "{group}");
        }
        for plural in ["buckets", "a", "x1", "my-buckets"] {
            assert_eq!(wrong_plural(plural), None, "{plural}");
        }
        for plural in ["", "*", "a/b", "a.b", "Buckets", "1s", "a-", "-a", "pods/exec", &"x".repeat(64)] {
            assert!(wrong_plural(plural).is_some(), "{plural}");
        }
    }

    #[test]
    fn what_kubernetes_serves_is_not_custom() {
        let facts = include_str!("../../../../facts/kinds.json");
        let facts: serde_json::Value = serde_json::from_str(facts).unwrap();
        for group in facts["groups"].as_array().unwrap() {
            let name = group["name"].as_str().unwrap();
            assert!(wrong_group(name).is_some(), "{name}");
        }
    }

    #[test]
    fn what_is_repeated_is_short_and_on_one_line() {
        assert_eq!(shown("example.org"), "example.org");
        assert_eq!(shown("a\nb"), "a\\nb");
        assert_eq!(shown(&"x".repeat(1000)).len(), 256);
    }
}
