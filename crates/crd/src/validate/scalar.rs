//! Types, and the rules of texts.

use super::Check;
use super::fault::Fault;
use super::place::Place;
use crate::format::{self, Known};
use crate::go::{Data, Num};
use crate::schema::{Facet, Schema, Type};

impl Check {
    /// Null is of no type. The number is as for [`Check::value`].
    pub(super) fn null(&mut self, schema: &Schema, at: &Place<'_>) -> usize {
        let typed = schema.kind().is_some() || schema.int_or_string();
        if typed && !schema.nullable() {
            self.fault(|base| Fault::kind(base, at, types(schema), "null"));
            return 0;
        }
        1
    }

    /// Whether the type is right; none if the schema asks for nothing.
    pub(super) fn kind(&mut self, schema: &Schema, data: Data<'_>, at: &Place<'_>) -> Option<bool> {
        let format = schema.format().and_then(|name| format::known(schema, name));
        if schema.kind().is_none() && !schema.int_or_string() && format.is_none() {
            return None;
        }
        let (found, natural) = match data {
            Data::Null => return None,
            Data::Bool(_) => (Type::Boolean, ""),
            Data::Number(Num::Int(_)) => (Type::Integer, "int64"),
            Data::Number(Num::Float(_)) => (Type::Number, "float64"),
            Data::Text(_) => (Type::String, ""),
            Data::List(_) => (Type::Array, ""),
            Data::Object(_) => (Type::Object, ""),
        };
        let fits = contains(schema, found)
            || match data {
                Data::Number(Num::Float(float)) => contains(schema, Type::Integer) && is_json_integer(float),
                Data::Number(Num::Int(_)) => contains(schema, Type::Number),
                _ => false,
            };
        let listed = matches!(data, Data::Text(_) | Data::List(_));
        if format.is_some() {
            let name = schema.format().unwrap_or_default();
            if !listed && !fits && natural != name {
                self.fault(|base| Fault::kind(base, at, name, natural));
                return Some(false);
            }
            // A format speaks for its type, except that of a number.
            if listed && !contains(schema, Type::Number) && !contains(schema, Type::Integer) {
                return Some(true);
            }
        }
        if !fits {
            self.fault(|base| Fault::kind(base, at, types(schema), found.name()));
        }
        Some(fits)
    }

    pub(super) fn text(&mut self, schema: &Schema, text: &str, at: &Place<'_>) {
        let mut least = None;
        for facet in schema.facets() {
            if let Facet::MinLength(limit) = facet {
                least = Some(*limit);
            }
        }
        let most = schema.max_length();
        if least.is_some() || most.is_some() {
            let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            if let Some(most) = most.filter(|most| length > *most) {
                return self.fault(|base| Fault::too_long(base, at, most));
            }
            if let Some(least) = least.filter(|least| length < *least) {
                let rule = format!("should be at least {least} chars long");
                return self.fault(|base| Fault::invalid(base, at, text.into(), &rule));
            }
        }
        if let Some(pattern) = schema.pattern()
            && !pattern.is_match(text)
        {
            let rule = || match pattern.fault() {
                None => format!("should match '{}'", pattern.text()),
                Some(fault) => format!("should match '{}, but pattern is invalid: {fault}'", pattern.text()),
            };
            self.fault(|base| Fault::invalid(base, at, text.into(), &rule()));
        }
    }

    /// Whether there is a format to check.
    pub(super) fn format(&mut self, schema: &Schema, text: &str, at: &Place<'_>) -> bool {
        let Some(name) = schema.format() else { return false };
        let Some(Known::Text(is_valid)) = format::known(schema, name) else { return false };
        if !is_valid(text) {
            self.fault(|base| Fault::kind(base, at, name, text));
        }
        true
    }
}

fn contains(schema: &Schema, kind: Type) -> bool {
    if schema.int_or_string() { matches!(kind, Type::Integer | Type::String) } else { schema.kind() == Some(kind) }
}

fn types(schema: &Schema) -> &'static str {
    if schema.int_or_string() { "integer,string" } else { schema.kind().map_or("", Type::name) }
}

/// Whether a float passes for an integer; large ones need not be one quite.
pub(super) fn is_json_integer(float: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    if !(-LARGEST..=LARGEST).contains(&float) {
        return false;
    }
    let whole = float.trunc();
    if float.fract() == 0.0 {
        return true;
    }
    // Go compares with an unsigned integer, which no negative number is near.
    whole > 0.0 && (float - whole) / (float + whole) < 1e-9
}
