//! Between what clients send, what is stored, and what clients see: those of Kubernetes' own kinds are stored without
//! `apiVersion` and `kind`, custom ones with the version that they were written in.

use serde_json::Value;
use std::borrow::Cow;

use super::{Origin, Served};
use crate::cluster::{Draft, Entry};
use crate::codec::{self, Decoded};
use crate::custom::Malformed;
use crate::query::FieldValidation;
use crate::selector::field::FieldSelector;
use crate::status::Failure;
use crate::strategy::Object;

impl Served {
    /// A body as an object of this resource.
    pub(crate) fn decode(
        &self,
        content_type: Option<&str>,
        body: &[u8],
        validation: FieldValidation,
    ) -> Result<Decoded, Failure> {
        let expected = codec::Gvk { group: &self.group, version: &self.version, kind: &self.kind };
        match &self.origin {
            Origin::BuiltIn(_) => {
                codec::decode(content_type, body, expected, validation).map_err(Failure::without_scheme)
            }
            Origin::Custom(version) => codec::decode_untyped(content_type, body, expected, validation, |object| {
                version.coerce(object, Malformed::Refuse)
            }),
        }
    }

    /// A stored object as writes see it: those of custom kinds in this version, all others as stored.
    pub(crate) fn before(&self, entry: &Entry) -> Object {
        match &self.origin {
            Origin::BuiltIn(_) => entry.object(),
            Origin::Custom(version) => version.view(entry),
        }
    }

    /// The same way back.
    pub(crate) fn encoded<'o>(&self, object: &'o Object) -> Cow<'o, Object> {
        match &self.origin {
            Origin::BuiltIn(_) => Cow::Borrowed(object),
            Origin::Custom(version) => Cow::Owned(codec::as_written(version.to_stored(object.clone()))),
        }
    }

    /// An object of the version that is stored, as it will be.
    pub(crate) fn draft(&self, object: &Object) -> Draft {
        match &self.origin {
            Origin::BuiltIn(_) => Draft::new(&self.group, &self.plural, object),
            Origin::Custom(_) => Draft::custom(object),
        }
    }

    /// An object that is only shown.
    pub(crate) fn shown(&self, object: &Object) -> Entry {
        match &self.origin {
            Origin::BuiltIn(_) => Entry::shown(object, &["apiVersion", "kind"]),
            Origin::Custom(_) => Entry::shown(&codec::as_written(object.clone()), &["kind"]),
        }
    }

    /// A stored object as this resource shows it; without `apiVersion` and `kind`, unless it is of a custom kind.
    pub(crate) fn view(&self, entry: &Entry) -> Object {
        match &self.origin {
            Origin::Custom(version) => version.view(entry),
            Origin::BuiltIn(built_in) => {
                let object = entry.object();
                let Some(conversion) = built_in.conversion else { return object };
                let mut object = (conversion.from_stored)(&object);
                object.remove("apiVersion");
                object.remove("kind");
                object
            }
        }
    }

    /// Whether stored bytes are what this resource shows.
    fn shows_as_stored(&self, entry: &Entry) -> bool {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.conversion.is_none(),
            Origin::Custom(version) => version.shows_as_stored(entry),
        }
    }

    /// `{"kind":"..","apiVersion":"..",`: how every object on the wire begins. Those of custom kinds have their version.
    pub(crate) fn opening(&self) -> String {
        match &self.origin {
            Origin::BuiltIn(_) => format!("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",", self.kind, self.api_version()),
            Origin::Custom(_) => format!("{{\"kind\":\"{}\",", self.kind),
        }
    }

    /// Writes an object that stands alone, which begins with `opening`.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>, entry: &Entry, opening: &str) {
        let as_stored = self.shows_as_stored(entry);
        let body = if as_stored { None } else { Some(Value::Object(self.view(entry)).to_string()) };
        let body = body.as_ref().map_or(&*entry.body, String::as_bytes);
        // What was read again has all that it is opened with, if it is of a custom kind.
        if as_stored || self.built_in().is_some() {
            bytes.extend_from_slice(opening.as_bytes());
            bytes.extend_from_slice(body.get(1..).unwrap_or_default());
        } else {
            bytes.extend_from_slice(body);
        }
    }

    /// Writes an object of a list: only lists of custom kinds name version and kind of an item.
    pub(crate) fn write_item(&self, bytes: &mut Vec<u8>, entry: &Entry, opening: &str) {
        match &self.origin {
            Origin::Custom(_) => self.write(bytes, entry, opening),
            Origin::BuiltIn(_) if self.shows_as_stored(entry) => bytes.extend_from_slice(&entry.body),
            Origin::BuiltIn(_) => bytes.extend_from_slice(Value::Object(self.view(entry)).to_string().as_bytes()),
        }
    }

    /// What a selector means here; the error says which field nobody can select by.
    pub(crate) fn selecting(&self, selector: &FieldSelector) -> Result<FieldSelector, String> {
        match &self.origin {
            Origin::BuiltIn(_) => selector.for_kind(&self.group, &self.version, &self.kind),
            Origin::Custom(version) => selector.among(|field| version.selects(field)),
        }
    }
}
