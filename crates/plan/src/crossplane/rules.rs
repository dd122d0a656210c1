//! Rules as Crossplane writes them.

use std::sync::LazyLock;

use rolewright_core::{NameList, Rule};

use crate::Name;

/// Verbs, of which thousands of rules share one list.
pub(super) type Verbs = LazyLock<NameList>;

/// All that can be done.
pub(super) static EVERYTHING: Verbs = LazyLock::new(|| verbs(&["*"]));
/// Looking.
pub(super) static VIEW: Verbs = LazyLock::new(|| verbs(&["get", "list", "watch"]));
/// What a provider does with its resources. Who made them deletes them.
pub(super) static RECONCILE: Verbs = LazyLock::new(|| verbs(&["get", "list", "watch", "update", "patch", "create"]));
/// Writing.
pub(super) static WRITE: Verbs =
    LazyLock::new(|| verbs(&["get", "list", "watch", "create", "update", "patch", "delete"]));
/// Writing down.
pub(super) static UPDATE: Verbs = LazyLock::new(|| verbs(&["update"]));
/// Crossing out.
pub(super) static DELETE: Verbs = LazyLock::new(|| verbs(&["delete"]));

/// A list of verbs.
pub(super) fn verbs(verbs: &[&str]) -> NameList {
    verbs.iter().map(|&verb| Name::new(verb)).collect()
}

/// A rule of lists.
pub(super) fn rule<G: Into<Name>, R: Into<Name>>(
    groups: impl IntoIterator<Item = G>,
    resources: impl IntoIterator<Item = R>,
    verbs: &NameList,
) -> Rule {
    Rule {
        api_groups: groups.into_iter().map(Into::into).collect(),
        resources: resources.into_iter().map(Into::into).collect(),
        verbs: verbs.clone(),
        ..Rule::default()
    }
}

/// A resource with one of its subresources.
pub(super) fn sub(resource: &str, subresource: &str) -> Name {
    Name::new(format!("{resource}/{subresource}"))
}
