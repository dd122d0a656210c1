//! Types whose JSON is their own.

use serde_json::Value;

use super::Decoder;
use super::fault::Fault;
use crate::codec::Node;
use crate::codec::quantity;
use crate::codec::time::{self, Precision};
use crate::facts::{Codec, Field, Ty};

/// Reads a value. Faults here end the decoding around it.
pub(super) fn value(codec: Codec, fields: &'static [Field], node: Node<'_>) -> Result<Value, Fault> {
    match codec {
        Codec::Time => point(node, Precision::Seconds),
        Codec::MicroTime => point(node, Precision::Micros),
        Codec::Quantity => amount(&node),
        Codec::IntOrString => int_or_string(node),
        Codec::RawExtension | Codec::FieldsV1 | Codec::Json | Codec::Unknown => {
            node.into_value().map_err(|literal| Fault::mismatch(&format!("number {literal}"), "float64"))
        }
        Codec::JsonSchemaPropsOrArray | Codec::JsonSchemaPropsOrStringArray => match node {
            node @ Node::Object(_) => nested(fields, |ty| matches!(ty, Ty::Ref(_)), node),
            node @ Node::Array(_) => {
                let list = nested(fields, |ty| matches!(ty, Ty::List(_)), node)?;
                let empty = list.as_array().is_none_or(Vec::is_empty);
                Ok(if empty { Value::Null } else { list })
            }
            _ => Ok(Value::Null),
        },
        Codec::JsonSchemaPropsOrBool => match node {
            node @ Node::Object(_) => nested(fields, |ty| matches!(ty, Ty::Ref(_)), node),
            Node::Bool(on) => Ok(Value::Bool(on)),
            _ => Err(Fault::Plain("boolean or JSON schema expected".to_owned())),
        },
    }
}

/// Decodes one of the alternatives. Nothing is strict in there.
fn nested(fields: &'static [Field], alternative: impl Fn(&Ty) -> bool, node: Node<'_>) -> Result<Value, Fault> {
    let field = fields.iter().find(|field| alternative(&field.ty)).expect("the alternatives are fields");
    Decoder::new(false).run(field.ty, field.go, node)
}

fn point(node: Node<'_>, precision: Precision) -> Result<Value, Fault> {
    match node {
        Node::Null => Ok(Value::Null),
        Node::Time(text) => Ok(Value::String(text)),
        Node::String(text) => match time::canonical(&text, precision) {
            Ok(Some(text)) => Ok(Value::String(text)),
            Ok(None) => Ok(Value::Null),
            Err(error) => Err(Fault::Plain(error)),
        },
        node => Err(Fault::mismatch(node.form(), "string")),
    }
}

/// Kubernetes looks at the text between the quotes without undoing escapes, so that none is allowed.
fn amount(node: &Node<'_>) -> Result<Value, Fault> {
    let text = match node {
        Node::Null => return Ok(Value::from("0")),
        Node::String(text) if !text.contains(|c: char| c < ' ') => text.trim(),
        Node::Number(literal) => literal,
        _ => "{}",
    };
    match quantity::canonical(text) {
        Ok(text) => Ok(Value::String(text)),
        Err(error) => Err(Fault::Plain(error.to_owned())),
    }
}

fn int_or_string(node: Node<'_>) -> Result<Value, Fault> {
    match node {
        Node::String(text) => Ok(Value::String(text)),
        Node::Null => Ok(Value::from(0)),
        Node::Number(literal) => match literal.parse::<i32>() {
            Ok(int) => Ok(Value::from(int)),
            Err(_) => Err(Fault::mismatch(&format!("number {literal}"), "int32")),
        },
        node => Err(Fault::mismatch(node.form(), "int32")),
    }
}
