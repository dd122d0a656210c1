//! A structural schema in a form that is small in memory and quick to walk.
//!
//! A server holds one for every version of every definition, so nodes are a few words: what few nodes have is a
//! [`Facet`] in a list of its own, names of properties are inline, and descriptions are gone. One type serves the
//! structure of objects as well as what stands below `allOf`, `anyOf`, `oneOf` and `not`.

mod compile;
mod facet;

pub use facet::{Enumeration, Facet};

use serde_json::Value;
use smol_str::SmolStr;

use crate::pattern::Pattern;

/// A node of a schema, and all below it.
#[derive(Debug, Default)]
pub struct Schema {
    children: Option<Box<Children>>,
    facets: Box<[Facet]>,
    shape: Shape,
}

/// What the schema says of values inside the value.
#[derive(Debug, Default)]
struct Children {
    /// Sorted by name.
    properties: Box<[(SmolStr, Schema)]>,
    additional: Option<Additional>,
    items: Option<Box<Schema>>,
}

/// What `additionalProperties` says.
#[derive(Debug)]
pub enum Additional {
    /// Whether other properties are allowed at all.
    Allowed(bool),
    /// What they must look like.
    Schema(Box<Schema>),
}

/// The marks of a node that need no room of their own.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    kind: Option<Type>,
    list: Option<ListType>,
    map: Option<MapType>,
    marks: u8,
}

const NULLABLE: u8 = 1;
const INT_OR_STRING: u8 = 1 << 1;
const EMBEDDED: u8 = 1 << 2;
const PRESERVE: u8 = 1 << 3;
const UNIQUE: u8 = 1 << 4;
const EXCLUSIVE_MAXIMUM: u8 = 1 << 5;
const EXCLUSIVE_MINIMUM: u8 = 1 << 6;

/// `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `array`
    Array,
    /// `boolean`
    Boolean,
    /// `integer`
    Integer,
    /// `number`
    Number,
    /// `object`
    Object,
    /// `string`
    String,
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListType {
    /// One value, replaced as a whole.
    Atomic,
    /// Items are there once.
    Set,
    /// Items are told apart by some of their fields.
    Map,
}

/// `x-kubernetes-map-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapType {
    /// One value, replaced as a whole.
    Atomic,
    /// Fields are owned one by one.
    Granular,
}

impl Type {
    /// The word in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Array, Self::Boolean, Self::Integer, Self::Number, Self::Object, Self::String]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

impl Schema {
    /// The compiled form of an `openAPIV3Schema`, as a valid definition has it.
    ///
    /// What a valid definition cannot contain is ignored. Defaults are pruned as the server does it before it uses them;
    /// see [`Self::coerce_defaults`] for the metadata in them.
    pub fn compile(schema: &Value) -> Self {
        let mut compiled = compile::node(schema, 0);
        crate::default::prune_defaults(&mut compiled);
        compiled
    }

    /// `type`; none for `x-kubernetes-int-or-string` and where anything may be.
    pub fn kind(&self) -> Option<Type> {
        self.shape.kind
    }

    /// `nullable`.
    pub fn nullable(&self) -> bool {
        self.has(NULLABLE)
    }

    /// `x-kubernetes-int-or-string`.
    pub fn int_or_string(&self) -> bool {
        self.has(INT_OR_STRING)
    }

    /// `x-kubernetes-embedded-resource`.
    pub fn embedded_resource(&self) -> bool {
        self.has(EMBEDDED)
    }

    /// `x-kubernetes-preserve-unknown-fields`.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.has(PRESERVE)
    }

    /// `uniqueItems`.
    pub fn unique_items(&self) -> bool {
        self.has(UNIQUE)
    }

    /// `x-kubernetes-list-type`.
    pub fn list_type(&self) -> Option<ListType> {
        self.shape.list
    }

    /// `x-kubernetes-map-type`.
    pub fn map_type(&self) -> Option<MapType> {
        self.shape.map
    }

    /// `x-kubernetes-list-map-keys`.
    pub fn map_keys(&self) -> &[SmolStr] {
        self.find(|facet| if let Facet::MapKeys(keys) = facet { Some(&**keys) } else { None }).unwrap_or_default()
    }

    /// `default`, already pruned.
    pub fn default_value(&self) -> Option<&Value> {
        self.find(|facet| if let Facet::Default(value) = facet { Some(&**value) } else { None })
    }

    /// `enum`.
    pub fn enumeration(&self) -> Option<&Enumeration> {
        self.find(|facet| if let Facet::Enum(values) = facet { Some(&**values) } else { None })
    }

    /// `required`.
    pub fn required(&self) -> &[SmolStr] {
        self.find(|facet| if let Facet::Required(names) = facet { Some(&**names) } else { None }).unwrap_or_default()
    }

    /// `pattern`.
    pub fn pattern(&self) -> Option<&Pattern> {
        self.find(|facet| if let Facet::Pattern(pattern) = facet { Some(&**pattern) } else { None })
    }

    /// `format`, as it stands in the definition.
    pub fn format(&self) -> Option<&str> {
        self.find(|facet| if let Facet::Format(format) = facet { Some(format.as_str()) } else { None })
    }

    /// `maximum`, and whether it is exclusive.
    pub fn maximum(&self) -> Option<(f64, bool)> {
        let maximum = self.find(|facet| if let Facet::Maximum(bound) = facet { Some(*bound) } else { None })?;
        Some((maximum, self.has(EXCLUSIVE_MAXIMUM)))
    }

    /// `minimum`, and whether it is exclusive.
    pub fn minimum(&self) -> Option<(f64, bool)> {
        let minimum = self.find(|facet| if let Facet::Minimum(bound) = facet { Some(*bound) } else { None })?;
        Some((minimum, self.has(EXCLUSIVE_MINIMUM)))
    }

    /// `maxLength`.
    pub fn max_length(&self) -> Option<i64> {
        self.find(|facet| if let Facet::MaxLength(limit) = facet { Some(*limit) } else { None })
    }

    /// `maxItems`.
    pub fn max_items(&self) -> Option<i64> {
        self.find(|facet| if let Facet::MaxItems(limit) = facet { Some(*limit) } else { None })
    }

    /// `maxProperties`.
    pub fn max_properties(&self) -> Option<i64> {
        self.find(|facet| if let Facet::MaxProperties(limit) = facet { Some(*limit) } else { None })
    }

    /// `properties`, sorted by name.
    pub fn properties(&self) -> &[(SmolStr, Self)] {
        self.children.as_ref().map_or(&[], |children| &children.properties)
    }

    /// The property of that name.
    pub fn property(&self, name: &str) -> Option<&Self> {
        let properties = self.properties();
        let position = properties.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        properties.get(position).map(|(_, schema)| schema)
    }

    /// `additionalProperties`.
    pub fn additional(&self) -> Option<&Additional> {
        self.children.as_ref()?.additional.as_ref()
    }

    /// The schema in `additionalProperties`, if it is one.
    pub fn values(&self) -> Option<&Self> {
        match self.additional()? {
            Additional::Schema(schema) => Some(schema),
            Additional::Allowed(_) => None,
        }
    }

    /// `items`.
    pub fn items(&self) -> Option<&Self> {
        self.children.as_ref()?.items.as_deref()
    }

    /// The schema of the field of that name: of the property, or of any value of a map.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.property(name).or_else(|| self.values())
    }

    /// What few nodes have.
    pub fn facets(&self) -> &[Facet] {
        &self.facets
    }

    pub(crate) fn facets_mut(&mut self) -> &mut [Facet] {
        &mut self.facets
    }

    pub(crate) fn properties_mut(&mut self) -> &mut [(SmolStr, Self)] {
        self.children.as_mut().map_or(&mut [], |children| &mut children.properties)
    }

    pub(crate) fn values_mut(&mut self) -> Option<&mut Self> {
        match self.children.as_mut()?.additional.as_mut()? {
            Additional::Schema(schema) => Some(schema),
            Additional::Allowed(_) => None,
        }
    }

    pub(crate) fn items_mut(&mut self) -> Option<&mut Self> {
        self.children.as_mut()?.items.as_deref_mut()
    }

    fn has(&self, mark: u8) -> bool {
        self.shape.marks & mark != 0
    }

    fn find<'a, T: 'a>(&'a self, pick: impl Fn(&'a Facet) -> Option<T>) -> Option<T> {
        self.facets.iter().find_map(pick)
    }
}
