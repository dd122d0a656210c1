//! Objects of any kind as they come over the wire: JSON, and the little of it that kube wants to see.

use std::borrow::Cow;
use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope, PartialObjectMeta};
use rolewright_plan::snapshot::Place;
use rolewright_plan::{Kind, Name};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// An object as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    text: Box<RawValue>,
    meta: ObjectMeta,
}

impl Raw {
    /// The object's text.
    pub(crate) fn text(&self) -> &str {
        self.text.get()
    }

    /// Its namespace and name.
    pub(crate) fn place(&self) -> Place {
        let name = |text: &Option<String>| text.as_deref().map(Name::new).unwrap_or_default();
        (name(&self.meta.namespace), name(&self.meta.name))
    }

    /// The revision that this state was stored at, as far as it can be told.
    pub(crate) fn version(&self) -> Option<u64> {
        self.meta.resource_version.as_ref()?.parse().ok()
    }

    /// The object as a value, for whoever looks into more of it than planners do.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // INVARIANT: text is there to be had only while it is read straight from the wire. In a watch event `type` comes
        // before `object`, as every server writes it; otherwise the watch would fail, not miss anything.
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let Metadata { name, namespace, resource_version } = head(text.get());
        let meta = ObjectMeta { name, namespace, resource_version, ..ObjectMeta::default() };
        Ok(Self { text, meta })
    }
}

/// Reads no further than the metadata, which every server writes before whatever may be large.
fn head(text: &str) -> Metadata {
    struct Head<'a>(&'a mut Metadata);

    #[derive(Deserialize)]
    #[serde(field_identifier, rename_all = "camelCase")]
    enum Field {
        Metadata,
        #[serde(other)]
        Other,
    }

    impl<'de> Visitor<'de> for Head<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
            while let Some(field) = members.next_key()? {
                match field {
                    Field::Metadata => {
                        *self.0 = members.next_value()?;
                        return Err(A::Error::custom("the rest is not read"));
                    }
                    Field::Other => drop(members.next_value::<IgnoredAny>()?),
                }
            }
            Ok(())
        }
    }

    let mut metadata = Metadata::default();
    // Whatever cannot be read is told when the object is.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(Head(&mut metadata));
    metadata
}

/// An object of which only metadata was asked for.
impl From<PartialObjectMeta> for Raw {
    fn from(partial: PartialObjectMeta) -> Self {
        let text = serde_json::value::to_raw_value(&serde_json::json!({ "metadata": partial.metadata }));
        Self { text: text.unwrap_or_default(), meta: partial.metadata }
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    resource_version: Option<String>,
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
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
