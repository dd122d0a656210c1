//! A document with the texts of its scalars: patches compare and show texts, not values.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rolewright_core::validate::BadValue;
use serde_json::{Map, Number, Value};

use crate::codec::json::{self, Scalar};
use crate::codec::tree::Tree;
use crate::codec::{lossy, number_text};
use crate::facts::{Shape, Ty};
use crate::strategy::Object;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// `null` as read.
    Null,
    /// `null` that an operation put there, which Kubernetes tells from one that it read.
    Nulled,
    /// A string, number or boolean as written.
    Scalar(Box<str>),
    Array(Vec<Node>),
    /// As written: in its order, with its duplicates.
    Object(Vec<(String, Node)>),
    /// Looked into, and therefore sorted.
    Opened(BTreeMap<String, Node>),
}

impl<'a> Tree<'a> for Node {
    fn scalar(scalar: Scalar<'a>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(on) => Self::Scalar(on.to_string().into()),
            Scalar::Number(literal) => Self::Scalar(literal.into()),
            Scalar::String { literal, .. } => Self::Scalar(lossy(literal).into()),
        }
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn object(members: Vec<(String, Self)>) -> Self {
        Self::Object(members)
    }
}

impl Node {
    /// The members of an object, ready to be changed.
    pub(super) fn open(&mut self) -> Option<&mut BTreeMap<String, Node>> {
        if let Self::Object(members) = self {
            *self = Self::Opened(std::mem::take(members).into_iter().collect());
        }
        match self {
            Self::Opened(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a member; of several, the last.
    pub(super) fn member(&self, name: &str) -> Option<&Node> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(key, _)| key == name).map(|(_, node)| node),
            Self::Opened(members) => members.get(name),
            _ => None,
        }
    }

    /// The text of a string.
    pub(super) fn string(&self) -> Option<String> {
        let Self::Scalar(raw) = self else { return None };
        raw.starts_with('"').then(|| json::unescaped(raw))
    }

    /// An object as Go writes it: members in the order of the struct's fields.
    pub(super) fn of_object(ty: &Ty, object: &Object) -> Self {
        let whole = |name: &String, value: &Value| (name.clone(), Self::of(&Ty::Any, value));
        match ty {
            Ty::Ref(ty) if matches!(ty.shape, Shape::Struct(_)) => {
                let mut members: Vec<_> = ty
                    .fields()
                    .filter_map(|field| Some((field.name.to_owned(), Self::of(&field.ty, object.get(field.name)?))))
                    .collect();
                members.extend(object.iter().filter(|(name, _)| ty.field(name).is_none()).map(|(k, v)| whole(k, v)));
                Self::Object(members)
            }
            Ty::Map(item) => {
                Self::Object(object.iter().map(|(name, value)| (name.clone(), Self::of(item, value))).collect())
            }
            _ => Self::Object(object.iter().map(|(k, v)| whole(k, v)).collect()),
        }
    }

    fn of(ty: &Ty, value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(on) => Self::Scalar(on.to_string().into()),
            Value::Number(number) if matches!(ty, Ty::Float64) => Self::Scalar(number_text(number).into()),
            // What has no type of ours was stored as it was written.
            Value::Number(number) => Self::Scalar(number.to_string().into()),
            Value::String(text) => Self::Scalar(BadValue::typed_text(text).to_string().into()),
            Value::Array(items) => {
                let item = match ty {
                    Ty::List(item) => *item,
                    Ty::Ref(ty) => match &ty.shape {
                        Shape::List(item) => item,
                        _ => &Ty::Any,
                    },
                    _ => &Ty::Any,
                };
                Self::Array(items.iter().map(|value| Self::of(item, value)).collect())
            }
            Value::Object(object) => Self::of_object(ty, object),
        }
    }

    /// The value, with numbers as Kubernetes reads them where it knows no type.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Null | Self::Nulled => Value::Null,
            Self::Scalar(raw) => match &**raw {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                text if text.starts_with('"') => Value::String(json::unescaped(text)),
                text => Value::Number(number(text)),
            },
            Self::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Self::Object(members) => {
                Value::Object(members.iter().map(|(k, v)| (k.clone(), v.value())).collect::<Map<_, _>>())
            }
            Self::Opened(members) => {
                Value::Object(members.iter().map(|(k, v)| (k.clone(), v.value())).collect::<Map<_, _>>())
            }
        }
    }

    /// As Go writes it.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null | Self::Nulled => out.push_str("null"),
            Self::Scalar(raw) => push_safe(out, raw),
            Self::Array(items) => {
                out.push('[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => write_members(out, members.iter().map(|(key, node)| (key, node))),
            Self::Opened(members) => write_members(out, members.iter()),
        }
    }

    /// A copy as Go makes it, by writing and reading again.
    pub(super) fn copied(&self) -> Self {
        match self {
            Self::Null | Self::Nulled => Self::Null,
            Self::Scalar(raw) => {
                let mut out = String::with_capacity(raw.len());
                push_safe(&mut out, raw);
                Self::Scalar(out.into())
            }
            Self::Array(items) => Self::Array(items.iter().map(Self::copied).collect()),
            Self::Object(members) => Self::Object(members.iter().map(|(k, v)| (k.clone(), v.copied())).collect()),
            Self::Opened(members) => Self::Object(members.iter().map(|(k, v)| (k.clone(), v.copied())).collect()),
        }
    }

    /// How many levels of arrays and objects there are.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Null | Self::Nulled | Self::Scalar(_) => 0,
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or_default(),
            Self::Object(members) => 1 + members.iter().map(|(_, node)| node.depth()).max().unwrap_or_default(),
            Self::Opened(members) => 1 + members.values().map(Self::depth).max().unwrap_or_default(),
        }
    }

    /// What Go calls a value of this form in its errors.
    pub(super) fn form(&self) -> &'static str {
        match self {
            Self::Null | Self::Nulled => "null",
            Self::Scalar(raw) if raw.starts_with('"') => "string",
            Self::Scalar(raw) if matches!(&**raw, "true" | "false") => "bool",
            Self::Scalar(_) => "number",
            Self::Array(_) => "array",
            Self::Object(_) | Self::Opened(_) => "object",
        }
    }
}

fn write_members<'a>(out: &mut String, members: impl Iterator<Item = (&'a String, &'a Node)>) {
    out.push('{');
    for (position, (key, node)) in members.enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(&BadValue::typed_text(key).to_string());
        out.push(':');
        node.write(out);
    }
    out.push('}');
}

/// Integers of 64 bits stay integers; the scanner has seen to it that everything else is a finite float.
fn number(text: &str) -> Number {
    if let Ok(int) = text.parse::<i64>() {
        return int.into();
    }
    text.parse().ok().and_then(Number::from_f64).unwrap_or_else(|| 0.into())
}

/// Writes a literal as Go's encoder does: with an escape for what could end a script.
fn push_safe(out: &mut String, literal: &str) {
    for c in literal.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes all text");
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tree::parse;

    #[test]
    fn literals_keep_their_text() {
        let node: Node = parse(br#" {"b" : 1.0, "a":[true,null,"\u0061<"], "b":{}} "#).unwrap();
        assert_eq!(node.text(), "{\"b\":1.0,\"a\":[true,null,\"\\u0061\\u003c\"],\"b\":{}}");
        assert_eq!(json::unescaped(r#""a\n\u00e9\ud83d\ude00\ud83d\u0041\"""#), "a\né😀\u{fffd}A\"");
    }
}
