//! Crossplane's kinds, and those of Kubernetes that say something about its packages.

use rolewright_core::Rule;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Name;
use crate::kind::{Kind, Reports};

/// The condition that says whether an object's permissions are what they should be.
const CONDITION: &str = "PermissionsReady";

/// Definitions of composite resources.
pub static DEFINITION: Kind = Kind::cluster::<Definition>(
    "apiextensions.crossplane.io",
    &["v1", "v2"],
    "CompositeResourceDefinition",
    "compositeresourcedefinitions",
)
.reporting(Reports::Trouble(CONDITION));

/// Revisions of providers.
pub static REVISION: Kind =
    Kind::cluster::<Revision>("pkg.crossplane.io", &["v1"], "ProviderRevision", "providerrevisions")
        .reporting(Reports::Trouble(CONDITION));

/// Resources that a provider manages and that may not be served yet.
pub static MANAGED_RESOURCE: Kind = Kind::cluster::<IgnoredAny>(
    "apiextensions.crossplane.io",
    &["v1", "v1beta1", "v1alpha1"],
    "ManagedResourceDefinition",
    "managedresourcedefinitions",
)
.bare();

/// Resources that are served. Their names say which.
pub static SERVED_RESOURCE: Kind = Kind::cluster::<IgnoredAny>(
    "apiextensions.k8s.io",
    &["v1"],
    "CustomResourceDefinition",
    "customresourcedefinitions",
)
.bare();

/// The part of a definition that says what it defines.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Definition {
    pub(super) spec: Defines,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Defines {
    pub(super) group: Name,
    pub(super) names: Names,
    pub(super) claim_names: Option<Names>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Names {
    pub(super) plural: Name,
}

/// The part of a revision that says what it brings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Revision {
    pub(super) spec: RevisionSpec,
    #[serde(default)]
    pub(super) status: RevisionStatus,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RevisionSpec {
    #[serde(default)]
    pub(super) desired_state: Name,
    #[serde(default)]
    pub(super) image: Name,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RevisionStatus {
    pub(super) object_refs: Option<Vec<ObjectReference>>,
    pub(super) capabilities: Option<Vec<Name>>,
    /// What the package asks for beyond its own resources.
    pub(super) permission_requests: Option<Vec<Rule>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ObjectReference {
    pub(super) api_version: Name,
    pub(super) kind: Name,
    pub(super) name: Name,
}

impl Revision {
    pub(super) fn is_active(&self) -> bool {
        self.spec.desired_state == "Active"
    }

    /// Whether the provider starts before its resources are served, and so must see which are. Spellings differ.
    pub(super) fn starts_safely(&self) -> bool {
        let plain = |text: &Name| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
        };
        self.status.capabilities.iter().flatten().any(|capability| plain(capability) == "safestart")
    }
}
