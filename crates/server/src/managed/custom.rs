//! How server-side apply sees what the schema of a custom resource describes.

use rolewright_crd::Schema;
use rolewright_crd::schema::{Additional, ListType, MapType, Type};
use serde_json::Value;

use super::element::Scalar;
use super::schema::{Form, Items, Keys, List, Members, MembersOf, Place, Sort};
use crate::facts;

/// A place that the schema of a custom resource describes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    schema: &'a Schema,
    /// Whether it is an object of its own, with a kind and metadata, whatever the schema says of these.
    object: bool,
    /// Whether unknown fields are kept here, or anywhere around.
    open: bool,
}

impl<'a> Node<'a> {
    /// A whole object.
    pub(super) fn root(schema: &'a Schema) -> Self {
        Self { schema, object: true, open: schema.preserves_unknown_fields() }
    }

    fn below(self, schema: &'a Schema) -> Place<'a> {
        let open = self.open || schema.preserves_unknown_fields();
        Place::Custom(Self { schema, object: schema.embedded_resource(), open })
    }

    /// How this value is treated here.
    pub(super) fn form(self, value: Option<&Value>) -> Form<'a> {
        match (self.schema.kind(), value) {
            (Some(Type::Boolean), _) => Form::Scalar(Sort::Bool),
            (Some(Type::Integer | Type::Number), _) => Form::Scalar(Sort::Number),
            (Some(Type::String), _) if self.is_plain_text() => Form::Scalar(Sort::Text),
            (Some(Type::String), _) | (None, Some(Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                Form::Scalar(Sort::Any)
            }
            (Some(Type::Array), _) | (None, Some(Value::Array(_))) => Form::List(self.items()),
            (Some(Type::Object) | None, _) => Form::Map(Members {
                of: MembersOf::Custom(self),
                atomic: self.schema.map_type() == Some(MapType::Atomic),
            }),
        }
    }

    /// Whether values of several forms may stand here.
    pub(super) fn takes_any(self) -> bool {
        self.schema.kind().is_none()
    }

    /// Texts of any other format may be any scalar.
    fn is_plain_text(self) -> bool {
        matches!(self.schema.format(), None | Some("" | "byte"))
    }

    fn items(self) -> Items<'a> {
        let list = match self.schema.list_type() {
            None | Some(ListType::Atomic) => List::Atomic,
            Some(ListType::Map) if !self.schema.map_keys().is_empty() => {
                List::Map(Keys::Custom(self.schema.map_keys()))
            }
            Some(ListType::Set | ListType::Map) => List::Set,
        };
        Items { place: self.schema.items().map_or(Place::Untyped, |items| self.below(items)), list }
    }

    /// The place of a member, and whether it is a field that the schema names.
    pub(super) fn get(self, name: &str) -> Option<(Place<'a>, bool)> {
        if self.object {
            match name {
                "metadata" => return Some((Place::of(object_meta()), true)),
                "apiVersion" | "kind" => return Some((Place::text(), true)),
                _ => {}
            }
        }
        match self.schema.property(name) {
            Some(property) => Some((self.below(property), true)),
            None => self.rest().map(|place| (place, false)),
        }
    }

    /// The place of members that the schema does not name, if there may be any.
    pub(super) fn rest(self) -> Option<Place<'a>> {
        match self.schema.additional() {
            Some(Additional::Schema(schema)) => Some(self.below(schema)),
            Some(Additional::Allowed(allowed)) => allowed.then_some(Place::Deduced),
            None => (self.open || self.names_nothing()).then_some(Place::Deduced),
        }
    }

    fn names_nothing(self) -> bool {
        !self.object && self.schema.properties().is_empty()
    }

    /// Whether this is a map of anything, or of scalars of any sort, which count as the same.
    pub(super) fn is_deduced(self) -> bool {
        self.names_nothing()
            && match self.rest() {
                Some(Place::Deduced) => true,
                Some(Place::Custom(values)) => match values.schema.kind() {
                    None => true,
                    Some(Type::String) => !values.is_plain_text(),
                    Some(_) => false,
                },
                _ => false,
            }
    }

    /// What a key of an item is where the item does not say.
    pub(super) fn default_of(self, key: &str) -> Option<Scalar> {
        self.schema.property(key)?.default_value().map(Scalar::from)
    }
}

fn object_meta() -> &'static facts::Type {
    static OBJECT_META: std::sync::LazyLock<&facts::Type> = std::sync::LazyLock::new(|| {
        let config_map = facts::type_of("", "v1", "ConfigMap").expect("there are config maps");
        match config_map.field("metadata").expect("objects have metadata").ty {
            facts::Ty::Ref(ty) => ty,
            other => unreachable!("metadata is a struct, not {other:?}"),
        }
    });
    *OBJECT_META
}
