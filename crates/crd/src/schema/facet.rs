//! What few nodes of a schema have.

use serde_json::Value;
use smol_str::SmolStr;

use super::Schema;
use crate::pattern::Pattern;

/// The values of an `enum`, which may be many.
#[derive(Debug)]
pub struct Enumeration {
    values: Box<[Value]>,
    /// Where the texts among them are, in their order.
    texts: Box<[usize]>,
}

impl Enumeration {
    pub(super) fn of(values: &[Value]) -> Self {
        let text = |at: usize| values.get(at).and_then(Value::as_str);
        let mut texts: Box<[usize]> = (0..values.len()).filter(|at| text(*at).is_some()).collect();
        texts.sort_unstable_by_key(|at| text(*at));
        Self { values: values.into(), texts }
    }

    /// The values as the schema has them.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Whether a text is among them.
    pub fn has_text(&self, wanted: &str) -> bool {
        let text = |at: &usize| self.values.get(*at).and_then(Value::as_str).unwrap_or_default();
        self.texts.binary_search_by(|at| text(at).cmp(wanted)).is_ok()
    }
}

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
    Enum(Box<Enumeration>),
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
