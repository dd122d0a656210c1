//! The words of Crossplane's permissions: labels, annotations and names.

use rolewright_core::Labels;

use crate::Name;
use crate::digest::hex;
use crate::vocabulary::label::MANAGED_BY;
use crate::vocabulary::manager::ROLEWRIGHT;

/// Everything that labels and annotations are about permissions begins with this.
pub(super) const PREFIX: &str = "rbac.crossplane.io/";
/// Names the definition that a role is about, for the roles of namespaces to select.
pub(super) const XRD: &str = "rbac.crossplane.io/xrd";
/// Names the revision that a role is for.
pub(super) const SYSTEM: &str = "rbac.crossplane.io/system";
/// Lists the definitions that a namespace uses, however long their names.
pub(super) const XRDS: &str = "rbac.crossplane.io/xrds";
/// The values that enable a definition in a namespace: the design's, and that of Crossplane's first releases.
pub(super) const ENABLED: [&str; 2] = ["xrd-enabled", "xrd-claim-accepted"];
/// Names the family of a provider's revision.
pub(super) const FAMILY: &str = "pkg.crossplane.io/provider-family";
/// Names the package of a revision.
pub(super) const PACKAGE: &str = "pkg.crossplane.io/package";

/// The longest value of a label, and the longest key after its prefix.
const LONGEST: usize = 63;

/// `rbac.crossplane.io/aggregate-to-edit`.
pub(super) fn aggregate_to(role: &str) -> Name {
    Name::new(format!("{PREFIX}aggregate-to-{role}"))
}

/// `rbac.crossplane.io/base-of-ns-edit`.
pub(super) fn base_of(role: &str) -> Name {
    Name::new(format!("{PREFIX}base-of-{role}"))
}

/// Labels that aggregate to these roles.
pub(super) fn aggregating(roles: &[&str]) -> Labels {
    roles.iter().map(|role| (aggregate_to(role), Name::new("true"))).collect()
}

/// The label of everything that we made.
pub(super) fn managed() -> (Name, Name) {
    (Name::new(MANAGED_BY), Name::new(ROLEWRIGHT))
}

/// A name as the value of a label. What is too long is cut, with a hash that tells it from others; no name of an object
/// contains `_`, so none is taken for another.
pub(super) fn label_value(name: &str) -> Name {
    if name.len() <= LONGEST {
        return Name::new(name);
    }
    let hash = hex(name, 12);
    let kept: String = name.chars().take(LONGEST - 1 - hash.len()).collect();
    Name::new(format!("{kept}_{hash}"))
}

/// `crossplane:composite:<definition>:aggregate-to-<role>`.
pub(super) fn composite_role(definition: &str, role: &str) -> Name {
    Name::new(format!("crossplane:composite:{definition}:aggregate-to-{role}"))
}

/// `crossplane:provider:<revision>:<role>`.
pub(super) fn provider_role(revision: &str, role: &str) -> Name {
    Name::new(format!("crossplane:provider:{revision}:{role}"))
}

/// `crossplane-ns-<namespace>-<role>`.
pub(super) fn namespace_role(namespace: &str, role: &str) -> Name {
    Name::new(format!("crossplane-ns-{namespace}-{role}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_become_labels_that_no_name_is() {
        let fits = "a".repeat(63);
        assert_eq!(label_value(&fits), fits);
        let long = [format!("{}.example.org", "a".repeat(60)), format!("{}.example.com", "a".repeat(60))];
        let [one, other] = [label_value(&long[0]), label_value(&long[1])];
        assert_ne!(one, other);
        for value in [one, other] {
            assert!(value.len() == 63 && value.contains('_') && value.ends_with(|last: char| last.is_alphanumeric()));
        }
    }
}
