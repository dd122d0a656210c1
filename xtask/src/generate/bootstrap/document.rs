//! The file as it is written: Kubernetes' JSON, and no field that is not listed here.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::Labels;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Document {
    pub(super) version: String,
    pub(super) cluster_roles: Vec<Role>,
    pub(super) roles: Vec<Role>,
    pub(super) cluster_role_bindings: Vec<Binding>,
    pub(super) role_bindings: Vec<Binding>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Role {
    #[serde(default, rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(default, rename = "kind")]
    _kind: IgnoredAny,
    pub(super) metadata: Metadata,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) rules: Vec<Rule>,
    pub(super) aggregation_rule: Option<AggregationRule>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Binding {
    #[serde(default, rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(default, rename = "kind")]
    _kind: IgnoredAny,
    pub(super) metadata: Metadata,
    pub(super) role_ref: RoleRef,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) subjects: Vec<Subject>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Metadata {
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: String,
    #[serde(default)]
    pub(super) labels: Labels,
    #[serde(default)]
    pub(super) annotations: Labels,
    /// Go writes it as null where nobody set it.
    #[serde(default, rename = "creationTimestamp")]
    _creation_timestamp: IgnoredAny,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Rule {
    #[serde(default, deserialize_with = "null_as_default")]
    pub(crate) api_groups: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(crate) resources: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(crate) resource_names: Vec<String>,
    #[serde(default, rename = "nonResourceURLs", deserialize_with = "null_as_default")]
    pub(crate) non_resource_urls: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(crate) verbs: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AggregationRule {
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) cluster_role_selectors: Vec<Selector>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Selector {
    #[serde(default)]
    pub(super) match_labels: Labels,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) match_expressions: Vec<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RoleRef {
    pub(super) api_group: String,
    pub(super) kind: String,
    pub(super) name: String,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Subject {
    pub(crate) kind: String,
    #[serde(default)]
    pub(super) api_group: String,
    #[serde(default)]
    pub(crate) namespace: String,
    pub(crate) name: String,
}

fn null_as_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
