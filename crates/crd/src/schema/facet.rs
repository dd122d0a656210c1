//! What few nodes of a schema have.

use serde_json::Value;
use smol_str::SmolStr;

use super::Schema;
use crate::pattern::Pattern;

/// One keyword of a node, with its value.
#[derive(Debug)]
pub enum Facet {
    /// `allOf`
    AllOf(Box<[Schema]>),
    /// `anyOf`
    AnyOf(Box<[Schema]>),
    /// `oneOf`
    OneOf(Box<[Schema]>),
    /// `not`
    Not(Box<Schema>),
    /// `default`, never null
    Default(Box<Value>),
    /// `enum`
    Enum(Box<[Value]>),
    /// `required`
    Required(Box<[SmolStr]>),
    /// `x-kubernetes-list-map-keys`
    MapKeys(Box<[SmolStr]>),
    /// `format`
    Format(SmolStr),
    /// `pattern`
    Pattern(Box<Pattern>),
    /// `maximum`
    Maximum(f64),
    /// `minimum`
    Minimum(f64),
    /// `multipleOf`
    MultipleOf(f64),
    /// `maxLength`
    MaxLength(i64),
    /// `minLength`
    MinLength(i64),
    /// `maxItems`
    MaxItems(i64),
    /// `minItems`
    MinItems(i64),
    /// `maxProperties`
    MaxProperties(i64),
    /// `minProperties`
    MinProperties(i64),
}
