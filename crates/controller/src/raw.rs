//! Objects of any kind as they come over the wire: JSON, and the little of it that kube wants to see.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope, PartialObjectMeta};
use rolewright_plan::Kind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// An object as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) object: Value,
    meta: ObjectMeta,
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Value::deserialize(deserializer)?;
        let text = |field: &str| Some(object.get("metadata")?.get(field)?.as_str()?.to_owned());
        let meta = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        Ok(Self { object, meta })
    }
}

/// An object of which only metadata was asked for.
impl From<PartialObjectMeta> for Raw {
    fn from(partial: PartialObjectMeta) -> Self {
        let object = serde_json::json!({ "metadata": partial.metadata });
        Self { object, meta: partial.metadata }
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}

impl Resource for Raw {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }

    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

/// Where a kind is served in one of its versions.
pub(crate) fn resource(kind: &Kind, version: &str) -> ApiResource {
    ApiResource {
        group: kind.group.to_owned(),
        version: version.to_owned(),
        api_version: kind.api_version(version),
        kind: kind.kind.to_owned(),
        plural: kind.plural.to_owned(),
    }
}
