//! Messages by the tables of their fields.

use std::borrow::Cow;

use super::wire::{Reader, Tag, wrong_type};
use crate::codec::time::{self, Precision};
use crate::codec::{base64, quantity, tree};
use crate::facts::{Codec, Field, Shape, Ty, Type};
use rolewright_api::document::{MAX_DEPTH, Node};

type Members = Vec<(String, Node<'static>)>;

pub(super) fn read(ty: &'static Type, bytes: &[u8]) -> Result<Node<'static>, String> {
    let mut out = Members::new();
    merge(ty.name, ty.own_fields(), bytes, &mut out, 0)?;
    Ok(Node::Object(out))
}

/// Reads the fields of a message into what is there already, as messages that come in pieces want it.
fn merge(
    name: &'static str,
    fields: &'static [Field],
    bytes: &[u8],
    out: &mut Members,
    depth: usize,
) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("exceeded max depth".to_owned());
    }
    let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
    let mut reader = Reader::new(bytes, name);
    while let Some(tag) = reader.tag()? {
        let Some(field) = fields.iter().find(|field| field.proto == tag.field) else {
            reader.skip(tag)?;
            continue;
        };
        match field.ty {
            Ty::Ref(inner) if field.inline => {
                let bytes = reader.bytes(tag, &go_name(inner.name))?;
                merge(inner.name, inner.own_fields(), bytes, out, depth + 1)?;
            }
            _ => {
                let at = out.iter().position(|(name, _)| name == field.name).unwrap_or_else(|| {
                    out.push((field.name.to_owned(), Node::Null));
                    out.len() - 1
                });
                let (_, slot) = out.get_mut(at).expect("found or pushed just before");
                value(&field.ty, &mut reader, tag, field.name, slot, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// The name of a field in Go, as far as it follows from that in JSON.
fn go_name(name: &str) -> String {
    let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn value(
    ty: &'static Ty,
    reader: &mut Reader<'_>,
    tag: Tag,
    name: &str,
    slot: &mut Node<'static>,
    depth: usize,
) -> Result<(), String> {
    match ty {
        Ty::List(item) => {
            if !matches!(slot, Node::Array(_)) {
                *slot = Node::Array(Vec::new());
            }
            let Node::Array(items) = slot else { return Ok(()) };
            if tag.wire == 2 && matches!(item, Ty::Bool | Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64) {
                let (mut packed, end) = reader.nested(tag, name)?;
                while packed.is_before(end) {
                    items.push(match item {
                        Ty::Float64 => double(packed.raw_double()?)?,
                        item => integer(item, packed.raw_varint()?),
                    });
                }
                return Ok(());
            }
            let mut node = Node::Null;
            value(item, reader, tag, name, &mut node, depth)?;
            items.push(node);
        }
        Ty::Map(item) => {
            if !matches!(slot, Node::Object(_)) {
                *slot = Node::Object(Vec::new());
            }
            let Node::Object(entries) = slot else { return Ok(()) };
            entries.push(entry(item, reader.nested(tag, &go_name(name))?, depth)?);
        }
        Ty::Ref(ty) => {
            let bytes = reader.bytes(tag, &go_name(name))?;
            reference(ty, bytes, slot, depth)?;
        }
        Ty::Bool | Ty::Int32 | Ty::Int64 | Ty::Uint32 => *slot = integer(ty, reader.varint(tag, &go_name(name))?),
        Ty::Float64 => *slot = double(reader.double(tag, &go_name(name))?)?,
        Ty::String => *slot = Node::String(reader.text(tag, &go_name(name))?),
        Ty::Bytes => *slot = Node::String(base64::encode(reader.bytes(tag, &go_name(name))?)),
        Ty::Any => return Err(wrong_type(tag, name)),
    }
    Ok(())
}

fn integer(ty: &Ty, value: u64) -> Node<'static> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "this is how protobuf has it")]
    let literal = match ty {
        Ty::Bool => return Node::Bool(value != 0),
        Ty::Int32 => (value as i32).to_string(),
        Ty::Uint32 => (value as u32).to_string(),
        _ => (value as i64).to_string(),
    };
    Node::Number(Cow::Owned(literal))
}

fn double(value: f64) -> Result<Node<'static>, String> {
    if value.is_finite() {
        Ok(Node::Number(Cow::Owned(format!("{value:e}"))))
    } else {
        Err(format!("json: unsupported value: {value}"))
    }
}

fn entry(
    ty: &'static Ty,
    (mut reader, end): (Reader<'_>, usize),
    depth: usize,
) -> Result<(String, Node<'static>), String> {
    let (mut key, mut node) = (String::new(), absent(ty));
    while reader.is_before(end) {
        let tag = reader.entry_tag()?;
        match tag.field {
            1 => key = reader.text(tag, "key")?,
            2 => {
                node = absent(ty);
                value(ty, &mut reader, tag, "value", &mut node, depth)?;
            }
            _ => {
                reader.skip(tag)?;
                if reader.is_past(end) {
                    return Err("unexpected EOF".to_owned());
                }
            }
        }
    }
    Ok((key, node))
}

/// What a map holds for an entry without a value. Kubernetes has empty bytes and lists there, not none.
fn absent(ty: &Ty) -> Node<'static> {
    match ty {
        Ty::Bytes => Node::String(String::new()),
        Ty::Ref(Type { shape: Shape::List(_), .. }) => Node::Array(Vec::new()),
        _ => Node::Null,
    }
}

fn reference(ty: &'static Type, bytes: &[u8], slot: &mut Node<'static>, depth: usize) -> Result<(), String> {
    match ty.shape {
        Shape::Struct(fields) => {
            if !matches!(slot, Node::Object(_)) {
                *slot = Node::Object(Vec::new());
            }
            let Node::Object(members) = slot else { return Ok(()) };
            merge(ty.name, fields, bytes, members, depth)
        }
        Shape::List(ref item) => {
            if !matches!(slot, Node::Array(_)) {
                *slot = Node::Array(Vec::new());
            }
            let Node::Array(items) = slot else { return Ok(()) };
            let name = ty.name.rsplit_once('.').map_or(ty.name, |(_, name)| name);
            let mut reader = Reader::new(bytes, name);
            while let Some(tag) = reader.tag()? {
                if tag.field == 1 {
                    let mut node = Node::Null;
                    value(item, &mut reader, tag, "Items", &mut node, depth)?;
                    items.push(node);
                } else {
                    reader.skip(tag)?;
                }
            }
            Ok(())
        }
        Shape::Codec(codec, fields) => {
            *slot = special(codec, ty.name, fields, bytes, depth)?;
            Ok(())
        }
    }
}

/// The JSON of types that have their own.
fn special(
    codec: Codec,
    name: &'static str,
    fields: &'static [Field],
    bytes: &[u8],
    depth: usize,
) -> Result<Node<'static>, String> {
    match codec {
        Codec::Time => return point(bytes, Precision::Seconds),
        Codec::MicroTime => return point(bytes, Precision::Micros),
        Codec::Quantity => return amount(bytes),
        Codec::RawExtension | Codec::FieldsV1 | Codec::Json | Codec::Unknown => return raw(bytes),
        Codec::IntOrString
        | Codec::JsonSchemaPropsOrArray
        | Codec::JsonSchemaPropsOrStringArray
        | Codec::JsonSchemaPropsOrBool => {}
    }
    let mut members = Members::new();
    merge(name, fields, bytes, &mut members, depth)?;
    let mut take = |name: &str| {
        let at = members.iter().position(|(member, _)| member == name)?;
        Some(members.swap_remove(at).1)
    };
    Ok(match codec {
        Codec::IntOrString => match take("Type") {
            Some(Node::Number(kind)) if kind == "1" => take("StrVal").unwrap_or(Node::String(String::new())),
            Some(Node::Number(kind)) if kind != "0" => return Err("impossible IntOrString.Type".to_owned()),
            _ => take("IntVal").unwrap_or(Node::Number("0".into())),
        },
        Codec::JsonSchemaPropsOrArray => one_of([take("JSONSchemas"), take("Schema")]),
        Codec::JsonSchemaPropsOrStringArray => one_of([take("Property"), take("Schema")]),
        _ => one_of([take("Schema"), take("Allows")]),
    })
}

/// Where nothing is set, a boolean stands for something that is there but empty.
fn one_of(alternatives: [Option<Node<'static>>; 2]) -> Node<'static> {
    alternatives.into_iter().flatten().next().unwrap_or(Node::Bool(false))
}

/// An empty message is Go's zero time, which is not the same as none.
fn point(bytes: &[u8], precision: Precision) -> Result<Node<'static>, String> {
    if bytes.is_empty() {
        return Ok(Node::String(time::go_zero(precision)));
    }
    let (mut seconds, mut nanos) = (0_i64, 0_i64);
    let mut reader = Reader::new(bytes, "Timestamp");
    while let Some(tag) = reader.tag()? {
        #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "this is how protobuf has it")]
        match tag.field {
            1 => seconds = reader.varint(tag, "Seconds")? as i64,
            2 => nanos = i64::from(reader.varint(tag, "Nanos")? as i32),
            _ => reader.skip(tag)?,
        }
    }
    let nanos = match precision {
        Precision::Seconds => 0,
        Precision::Micros => nanos / 1000 * 1000,
    };
    let seconds = seconds.saturating_add(nanos.div_euclid(1_000_000_000));
    let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0);
    Ok(time::format(seconds, nanos, precision).map_or_else(|| Node::String(time::go_zero(precision)), Node::Time))
}

fn amount(bytes: &[u8]) -> Result<Node<'static>, String> {
    let mut out = "0".to_owned();
    let mut reader = Reader::new(bytes, "Quantity");
    while let Some(tag) = reader.tag()? {
        match tag.field {
            1 => out = quantity::canonical(&reader.text(tag, "String_")?)?,
            _ => reader.skip(tag)?,
        }
    }
    Ok(Node::String(out))
}

fn raw(bytes: &[u8]) -> Result<Node<'static>, String> {
    let mut text: &[u8] = b"";
    let mut reader = Reader::new(bytes, "RawExtension");
    while let Some(tag) = reader.tag()? {
        match tag.field {
            1 => text = reader.bytes(tag, "Raw")?,
            _ => reader.skip(tag)?,
        }
    }
    if text.is_empty() {
        return Ok(Node::Null);
    }
    tree::parse(text).map(Node::into_owned)
}
