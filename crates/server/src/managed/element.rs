//! One step of a path into an object: a field, an item of a list by key or by value, or a position.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::Value;
use smol_str::SmolStr;

use rolewright_core::quote::Quoted;

/// One step of a path. The order is Kubernetes': it decides how sets are written and which conflict comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A field of an object, or a key of a map.
    Field(SmolStr),
    /// The item of a list with these values, sorted by name.
    Key(Box<[(SmolStr, Scalar)]>),
    /// The item of a set.
    Value(Scalar),
    /// The item at a position.
    Index(i64),
}

/// A value inside an element. Only hostile clients put lists and maps there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Scalar {
    Number(Number),
    Text(SmolStr),
    Bool(bool),
    List(Box<[Scalar]>),
    Map(Box<[(SmolStr, Scalar)]>),
    Null,
}

/// A number that compares by value; integers that a float holds exactly are never floats.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Number {
    Int(i64),
    Float(f64),
}

/// Up to here, every integer is a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "Kubernetes compares integers with floats in the same way")]
    fn float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    fn from_float(float: f64) -> Self {
        if float.fract() == 0.0 && float.abs() < EXACT { Self::Int(float as i64) } else { Self::Float(float) }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = self.float().partial_cmp(&other.float()).unwrap_or(Ordering::Equal);
        by_value.then_with(|| match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Int(_), Self::Float(_)) => Ordering::Less,
            (Self::Float(_), Self::Int(_)) => Ordering::Greater,
            (Self::Float(_), Self::Float(_)) => Ordering::Equal,
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl From<&Value> for Scalar {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(is) => Self::Bool(*is),
            Value::Number(number) => Self::Number(
                number.as_i64().map_or_else(|| Number::from_float(number.as_f64().unwrap_or_default()), Number::Int),
            ),
            Value::String(text) => Self::Text(SmolStr::new(text)),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                Self::Map(map.iter().map(|(name, value)| (SmolStr::new(name), Self::from(value))).collect())
            }
        }
    }
}

impl Scalar {
    /// What was a number in the text of an element has gone through a float.
    fn read(value: &Value) -> Self {
        match value {
            Value::Number(number) => Self::Number(Number::from_float(number.as_f64().unwrap_or_default())),
            other => Self::from(other),
        }
    }

    /// As JSON, in the way of the encoder that Kubernetes uses for this.
    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(is) => out.push_str(if *is { "true" } else { "false" }),
            Self::Number(number) => write_number(*number, out),
            Self::Text(text) => write_text(text, true, out),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Map(fields) => write_fields(fields, true, out),
        }
    }

    /// As messages show it.
    pub(super) fn show(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(&Quoted(text).to_string()),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.show(out);
                }
                out.push(']');
            }
            Self::Map(fields) => {
                for (name, value) in fields {
                    out.push_str(name);
                    out.push('=');
                    value.show(out);
                }
            }
            Self::Number(Number::Float(float)) => out.push_str(&go_general(*float)),
            Self::Null | Self::Bool(_) | Self::Number(_) => self.write(out),
        }
    }
}

impl Element {
    /// The key of this element in FieldsV1.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Field(name) => {
                out.reserve_exact(name.len() + 2);
                out.push_str("f:");
                out.push_str(name);
            }
            Self::Key(fields) => {
                out.push_str("k:");
                write_fields(fields, false, &mut out);
            }
            Self::Value(value) => {
                out.push_str("v:");
                value.write(&mut out);
            }
            Self::Index(at) => {
                out.push_str("i:");
                // Writing into a String cannot fail.
                let _ = write!(out, "{at}");
            }
        }
        out
    }

    /// Reads a key of FieldsV1. `Ok(None)` is a sort of element that only a later Kubernetes knows.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let Some((sort, rest)) =
            text.split_at_checked(1).and_then(|(sort, rest)| Some((sort, rest.strip_prefix(':')?)))
        else {
            return Err(match text.len() {
                0 | 1 => "key must be 2 characters long:".to_owned(),
                _ => format!("missing colon: {text}"),
            });
        };
        Ok(Some(match sort {
            "f" => Self::Field(SmolStr::new(rest)),
            "v" => Self::Value(Scalar::read(&first_value(rest)?)),
            "k" => match first_value(rest)? {
                Value::Object(map) => {
                    Self::Key(map.iter().map(|(name, value)| (SmolStr::new(name), Scalar::read(value))).collect())
                }
                Value::Null => Self::Key(Box::default()),
                other => return Err(format!("expected an object, got `{other}`")),
            },
            "i" => Self::Index(rest.parse().map_err(|_| format!("`{rest}` is no position"))?),
            _ => return Ok(None),
        }))
    }

    /// As in paths of messages: `.spec`, `[name="a"]`, `[="x"]`, `[3]`.
    pub(super) fn show(&self, out: &mut String) {
        match self {
            Self::Field(name) => {
                out.push('.');
                out.push_str(name);
            }
            Self::Key(fields) => {
                out.push('[');
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    out.push_str(name);
                    out.push('=');
                    value.show(out);
                }
                out.push(']');
            }
            Self::Value(value) => {
                out.push_str("[=");
                value.show(out);
                out.push(']');
            }
            Self::Index(at) => {
                // Writing into a String cannot fail.
                let _ = write!(out, "[{at}]");
            }
        }
    }
}

/// What follows the first value is ignored.
fn first_value(text: &str) -> Result<Value, String> {
    match serde_json::Deserializer::from_str(text).into_iter().next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("no value".to_owned()),
    }
}

fn write_fields(fields: &[(SmolStr, Scalar)], html: bool, out: &mut String) {
    out.push('{');
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_text(name, html, out);
        out.push(':');
        value.write(out);
    }
    out.push('}');
}

/// Whether a character must be escaped; `html` also keeps text out of the way of browsers.
fn needs_escape(c: char, html: bool) -> bool {
    c < ' ' || matches!(c, '"' | '\\') || html && matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// A text as JSON.
pub(super) fn write_text(text: &str, html: bool, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            _ if !needs_escape(c, html) => out.push(c),
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
    }
    out.push('"');
}

fn write_number(number: Number, out: &mut String) {
    match number {
        Number::Int(int) => {
            // Writing into a String cannot fail.
            let _ = write!(out, "{int}");
        }
        Number::Float(float) if float == 0.0 || (1e-6..1e21).contains(&float.abs()) => {
            let _ = write!(out, "{float}");
        }
        Number::Float(float) => out.push_str(&go_exponent(float)),
    }
}

/// Go's `%e` with the shortest digits: `1e-07`.
fn go_exponent(float: f64) -> String {
    let text = format!("{float:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Go's `%v`.
pub(super) fn go_general(float: f64) -> String {
    if float == 0.0 || (1e-4..1e6).contains(&float.abs()) { format!("{float}") } else { go_exponent(float) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_and_written() {
        for (text, again) in [
            ("f:name", "f:name"),
            ("f:", "f:"),
            ("f:a:b", "f:a:b"),
            (r#"k:{"name":"a"}"#, r#"k:{"name":"a"}"#),
            (r#"k:{"port":80,"a":"TCP"}"#, r#"k:{"a":"TCP","port":80}"#),
            (r#"k:{"a":"<&>"}"#, r#"k:{"a":"\u003c\u0026\u003e"}"#),
            ("k:null", "k:{}"),
            ("v:1.0", "v:1"),
            ("v:1 2", "v:1"),
            ("v:1e21", "v:1e+21"),
            ("v:1e-7", "v:1e-07"),
            ("v:0.5", "v:0.5"),
            // Through a float, and written with the digits that tell it from its neighbours.
            ("v:9223372036854775807", "v:9223372036854776000"),
            (r#"v:"x\ty""#, r#"v:"x\ty""#),
            ("v:[1,null,true]", "v:[1,null,true]"),
            ("i:+5", "i:5"),
        ] {
            let element = Element::parse(text).unwrap().unwrap();
            assert_eq!(element.to_text(), again, "{text}");
        }
        assert_eq!(Element::parse("x:later").unwrap(), None);
        for bad in ["", "f", "ff:", "v:", "v:{", "k:1", "k:", "i:", "i:x", "é:"] {
            Element::parse(bad).unwrap_err();
        }
    }
}
