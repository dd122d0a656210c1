//! JSON as Go sees it: numbers are `int64` or `float64`, and both have their own texts.

use std::fmt::Write as _;

use rolewright_core::quote::{JsonText, json_float, scientific};
use rolewright_core::validate::BadValue;
use serde_json::{Map, Number, Value};

/// A value by its form; an object need not be wrapped to be one.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// `nil`.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int64` or a `float64`.
    Number(Num),
    /// A `string`.
    Text(&'a str),
    /// A slice.
    List(&'a [Value]),
    /// A map.
    Object(&'a Map<String, Value>),
}

impl<'a> From<&'a Value> for Data<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(on) => Self::Bool(*on),
            Value::Number(number) => Self::Number(Num::of(number)),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items),
            Value::Object(object) => Self::Object(object),
        }
    }
}

impl<'a> From<&'a Map<String, Value>> for Data<'a> {
    fn from(object: &'a Map<String, Value>) -> Self {
        Self::Object(object)
    }
}

impl<'a> From<&'a [Value]> for Data<'a> {
    fn from(items: &'a [Value]) -> Self {
        Self::List(items)
    }
}

/// A number as Go decodes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    /// An `int64`.
    Int(i64),
    /// A `float64`.
    Float(f64),
}

impl Num {
    /// As it is decoded where there is no type.
    pub fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(int) => Self::Int(int),
            None => Self::Float(number.as_f64().unwrap_or_default()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "Go's conversion loses the same")]
    pub(crate) fn as_float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// As `%v` prints it.
    pub fn text(self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) => float_text(float),
        }
    }
}

/// Go's `int64(float)` on amd64: what does not fit becomes the least integer.
#[expect(clippy::cast_possible_truncation, reason = "that is what is asked for")]
pub(crate) fn truncated(float: f64) -> i64 {
    // 2^63 itself does not fit.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&float) { float as i64 } else { i64::MIN }
}

/// A float as `%v` prints it.
pub(crate) fn float_text(float: f64) -> String {
    let exponent = exponent(float);
    if (-4..6).contains(&exponent) { float.to_string() } else { scientific(float, 2) }
}

fn exponent(float: f64) -> i32 {
    if float == 0.0 {
        return 0;
    }
    let text = format!("{float:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default()
}

/// What an error shows of a value.
pub(crate) fn shown<'a>(value: impl Into<Data<'a>>) -> BadValue {
    match value.into() {
        Data::Text(text) => BadValue::from(text),
        Data::Number(number) => BadValue::Json(number.text()),
        value => BadValue::Json(json(value)),
    }
}

/// A value as `encoding/json` writes it.
pub(crate) fn json<'a>(value: impl Into<Data<'a>>) -> String {
    let mut out = String::new();
    write_json(value.into(), &mut out);
    out
}

fn write_json(value: Data<'_>, out: &mut String) {
    match value {
        Data::Null => out.push_str("null"),
        Data::Bool(true) => out.push_str("true"),
        Data::Bool(false) => out.push_str("false"),
        Data::Number(Num::Int(int)) => out.push_str(&int.to_string()),
        Data::Number(Num::Float(float)) => out.push_str(&json_float(float)),
        Data::Text(text) => write_text(text, out),
        Data::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(item.into(), out);
            }
            out.push(']');
        }
        Data::Object(object) => {
            out.push('{');
            for (index, (name, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(name, out);
                out.push(':');
                write_json(value.into(), out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    write!(out, "{}", JsonText(text)).expect("a String takes all text");
}

/// A value as `%v` prints it.
pub fn printed<'a>(value: impl Into<Data<'a>>) -> String {
    match value.into() {
        Data::Null => "<nil>".to_owned(),
        Data::Bool(on) => on.to_string(),
        Data::Number(number) => number.text(),
        Data::Text(text) => text.to_owned(),
        Data::List(items) => {
            let items: Vec<String> = items.iter().map(printed).collect();
            format!("[{}]", items.join(" "))
        }
        Data::Object(object) => {
            let fields: Vec<String> = object.iter().map(|(name, value)| format!("{name}:{}", printed(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// The Go type that a value is decoded to.
pub fn type_name(value: &Value) -> &'static str {
    match Data::from(value) {
        Data::Null => "<nil>",
        Data::Bool(_) => "bool",
        Data::Number(Num::Int(_)) => "int64",
        Data::Number(Num::Float(_)) => "float64",
        Data::Text(_) => "string",
        Data::List(_) => "[]interface {}",
        Data::Object(_) => "map[string]interface {}",
    }
}

/// Equality of decoded values as Go's `reflect.DeepEqual` has it: `1` is not `1.0`.
pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    equal_data(one.into(), other.into())
}

/// The same by form.
pub(crate) fn equal_data(one: Data<'_>, other: Data<'_>) -> bool {
    match (one, other) {
        (Data::Null, Data::Null) => true,
        (Data::Bool(one), Data::Bool(other)) => one == other,
        (Data::Text(one), Data::Text(other)) => one == other,
        (Data::Number(one), Data::Number(other)) => one == other,
        (Data::List(one), Data::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Data::Object(one), Data::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_read_as_go_prints_them() {
        for (float, text, written) in [
            (1.0, "1", "1"),
            (-2.5, "-2.5", "-2.5"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "1e-05", "0.00001"),
            (1.5e-7, "1.5e-07", "1.5e-7"),
            (123_456.0, "123456", "123456"),
            (1_234_567.0, "1.234567e+06", "1234567"),
            (2_500_000.5, "2.5000005e+06", "2500000.5"),
            (1e20, "1e+20", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (1.25e100, "1.25e+100", "1.25e+100"),
            (0.0, "0", "0"),
        ] {
            assert_eq!(float_text(float), text);
            assert_eq!(json(&json!(float)), written);
        }
    }

    #[test]
    fn conversions_to_integers_are_amd64s() {
        assert_eq!([2.9, -2.9, 1e30, -1e30, f64::NAN].map(truncated), [2, -2, i64::MIN, i64::MIN, i64::MIN]);
    }

    #[test]
    fn integers_are_not_floats() {
        assert!(!equal(&json!([1]), &json!([1.0])));
        assert!(equal(&json!({"a": [1, null]}), &json!({"a": [1, null]})));
        assert!(!equal(&json!({"a": 1}), &json!({"b": 1})));
    }
}
