//! The rules of numbers. Bounds are floats even where values are integers, and are rounded to them.

use rolewright_core::validate::BadValue;

use super::Check;
use super::fault::Fault;
use super::place::Place;
use super::scalar::is_json_integer;
use crate::go::{self, Num};
use crate::schema::{Facet, Schema, Type};

impl Check {
    pub(super) fn number(&mut self, schema: &Schema, number: Num, at: &Place<'_>) {
        self.in_range(schema, number, "Checked", at);
        if let Some(factor) = schema.facets().iter().find_map(|facet| match facet {
            Facet::MultipleOf(factor) => Some(*factor),
            _ => None,
        }) {
            let native = self.in_range(schema, Num::Float(factor), "MultipleOf", at);
            self.multiple(number, factor, native, at);
        }
        if let Some((bound, exclusive)) = schema.minimum() {
            let native = self.in_range(schema, Num::Float(bound), "Minimum boundary", at);
            self.bound(
                number,
                bound,
                native,
                at,
                |order| order.is_lt() || exclusive && order.is_eq(),
                |bound| format!("should be greater than {}{bound}", if exclusive { "" } else { "or equal to " }),
            );
        }
        if let Some((bound, exclusive)) = schema.maximum() {
            let native = self.in_range(schema, Num::Float(bound), "Maximum boundary", at);
            self.bound(
                number,
                bound,
                native,
                at,
                |order| order.is_gt() || exclusive && order.is_eq(),
                |bound| format!("should be less than {}{bound}", if exclusive { "" } else { "or equal to " }),
            );
        }
    }

    /// Whether a number, or a bound for it, can be of the type that the schema asks for.
    fn in_range(&mut self, schema: &Schema, number: Num, what: &str, at: &Place<'_>) -> bool {
        let kind = if schema.int_or_string() { None } else { schema.kind() };
        let format = match (kind, schema.format().unwrap_or_default()) {
            (Some(Type::Integer), format @ ("int32" | "int64"))
            | (Some(Type::Number), format @ ("float" | "double")) => format,
            _ => "",
        };
        let fits = match (kind, format) {
            (Some(Type::Integer), "int32") => whole(number).is_some_and(|int| i32::try_from(int).is_ok()),
            (Some(Type::Integer), _) => whole(number).is_some(),
            (Some(Type::Number), "float") => {
                // Go reads the number anew, and the largest float has neighbours that are rounded to it.
                number.as_float().to_string().parse::<f32>().is_ok_and(f32::is_finite)
            }
            _ => true,
        };
        if !fits {
            self.fault(|base| {
                let name = kind.map_or("", Type::name);
                let format = match format {
                    "" => "(default format)".to_owned(),
                    format => format!("with format {format}"),
                };
                Fault::general(base, format!("{what} value must be of type {name} {format} in {at}"))
            });
        }
        fits
    }

    fn multiple(&mut self, number: Num, factor: f64, native: bool, at: &Place<'_>) {
        let (right, number, factor) = match number {
            Num::Int(int) if native => match go::truncated(factor) {
                ..=0 => (None, number, Num::Int(go::truncated(factor))),
                whole => (Some(int % whole == 0), number, Num::Int(whole)),
            },
            _ => {
                let float = number.as_float();
                let times = if factor < 1.0 { 1.0 / factor * float } else { float / factor };
                ((factor > 0.0).then(|| is_json_integer(times)), Num::Float(float), Num::Float(factor))
            }
        };
        match right {
            Some(true) => {}
            Some(false) => self.fault(|base| {
                let rule = format!("should be a multiple of {}", factor.text());
                Fault::invalid(base, at, BadValue::Json(number.text()), &rule)
            }),
            None => self.fault(|base| Fault::bad_factor(base, at, &factor.text())),
        }
    }

    fn bound(
        &mut self,
        number: Num,
        bound: f64,
        native: bool,
        at: &Place<'_>,
        breaks: impl Fn(std::cmp::Ordering) -> bool,
        rule: impl Fn(String) -> String,
    ) {
        let (number, bound, order) = match number {
            Num::Int(int) if native => {
                let bound = go::truncated(bound);
                (number, Num::Int(bound), Some(int.cmp(&bound)))
            }
            _ => {
                let float = number.as_float();
                (Num::Float(float), Num::Float(bound), float.partial_cmp(&bound))
            }
        };
        if order.is_some_and(breaks) {
            self.fault(|base| Fault::invalid(base, at, BadValue::Json(number.text()), &rule(bound.text())));
        }
    }
}

/// The integer that a number is. Go writes a float without exponent, and reads that as an integer.
fn whole(number: Num) -> Option<i64> {
    match number {
        Num::Int(int) => Some(int),
        Num::Float(float) => float.to_string().parse().ok(),
    }
}
