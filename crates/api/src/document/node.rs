//! A document before it has a type: in the order of the text, duplicates and the digits of numbers included.
//!
//! What Go's decoder says about a document depends on all three, and `serde_json::Value` keeps none.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::json::Scalar;
use super::text;
use super::tree::Tree;

/// Deeper documents are refused. Whatever is accepted must stay readable for parsers with a limit of 128.
pub const MAX_DEPTH: usize = 120;

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "JSON's own names say it")]
pub enum Node<'a> {
    Null,
    Bool(bool),
    /// The literal.
    Number(Cow<'a, str>),
    String(String),
    /// A point in time that needs no reading: messages have times that no text may have.
    Time(String),
    Array(Vec<Node<'a>>),
    Object(Vec<(String, Node<'a>)>),
}

impl From<Value> for Node<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(on) => Self::Bool(on),
            Value::Number(number) => Self::Number(Cow::Owned(text::number(&number))),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl<'a> Tree<'a> for Node<'a> {
    fn scalar(scalar: Scalar<'a>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(on) => Self::Bool(on),
            Scalar::Number(literal) => Self::Number(literal),
            Scalar::String { text, .. } => Self::String(text.into_owned()),
        }
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn object(members: Vec<(String, Self)>) -> Self {
        Self::Object(members)
    }
}

impl Node<'_> {
    /// What Go calls a value of this form in its errors.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) | Self::Time(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The same without borrowing from the text.
    pub fn into_owned(self) -> Node<'static> {
        match self {
            Self::Null => Node::Null,
            Self::Bool(on) => Node::Bool(on),
            Self::Number(literal) => Node::Number(Cow::Owned(literal.into_owned())),
            Self::String(text) => Node::String(text),
            Self::Time(text) => Node::Time(text),
            Self::Array(items) => Node::Array(items.into_iter().map(Node::into_owned).collect()),
            Self::Object(members) => {
                Node::Object(members.into_iter().map(|(key, node)| (key, node.into_owned())).collect())
            }
        }
    }

    /// The value as it is. The error is the literal of a number that nobody can hold.
    pub fn into_value(self) -> Result<Value, String> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(on) => Value::Bool(on),
            Self::Number(literal) => Value::Number(number(&literal).ok_or_else(|| literal.into_owned())?),
            Self::String(text) | Self::Time(text) => Value::String(text),
            Self::Array(items) => Value::Array(items.into_iter().map(Node::into_value).collect::<Result<_, _>>()?),
            Self::Object(members) => {
                let mut out = Map::new();
                for (key, value) in members {
                    out.insert(key, value.into_value()?);
                }
                Value::Object(out)
            }
        })
    }
}

/// Integers stay integers as far as 64 bits go; everything else is a float.
fn number(literal: &str) -> Option<Number> {
    if let Ok(int) = literal.parse::<i64>()
        && literal != "-0"
    {
        return Some(int.into());
    }
    if let Ok(int) = literal.parse::<u64>() {
        return Some(int.into());
    }
    Number::from_f64(literal.parse().ok()?)
}
