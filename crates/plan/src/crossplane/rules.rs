//! Rules as Crossplane writes them.

use rolewright_core::Rule;

use crate::Name;

/// All that can be done.
pub(super) const EVERYTHING: &[&str] = &["*"];
/// Looking.
pub(super) const VIEW: &[&str] = &["get", "list", "watch"];
/// What a provider does with its resources. Who made them deletes them.
pub(super) const RECONCILE: &[&str] = &["get", "list", "watch", "update", "patch", "create"];

/// A rule of lists.
pub(super) fn rule<G: Into<Name>, R: Into<Name>>(
    groups: impl IntoIterator<Item = G>,
    resources: impl IntoIterator<Item = R>,
    verbs: &[&str],
) -> Rule {
    Rule {
        api_groups: groups.into_iter().map(Into::into).collect(),
        resources: resources.into_iter().map(Into::into).collect(),
        verbs: verbs.iter().map(|&verb| Name::new(verb)).collect(),
        ..Rule::default()
    }
}

/// A resource with one of its subresources.
pub(super) fn sub(resource: &str, subresource: &str) -> Name {
    Name::new(format!("{resource}/{subresource}"))
}

/// A resource and its status.
pub(super) fn with_status(resource: &Name) -> [Name; 2] {
    [resource.clone(), sub(resource, "status")]
}
