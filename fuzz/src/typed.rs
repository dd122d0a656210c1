//! Objects of built-in kinds that mostly are as their types say.

use arbitrary::{Result, Unstructured};
use rolewright_server::facts::{Codec, Field, ListType, Shape, Ty, Type};
use serde_json::{Map, Value, json};

/// How deep values nest.
const DEPTH: usize = 8;

const TEXTS: &[&str] = &["", "a", "b", "TCP", "Always", "80", "abc"];

/// An object of a type.
pub fn object(input: &mut Unstructured<'_>, ty: &'static Type) -> Result<Value> {
    value(input, ty, DEPTH, &[])
}

/// A value of a type, which the fields of these names tell apart from others.
fn value(input: &mut Unstructured<'_>, ty: &'static Type, depth: usize, keys: &[&str]) -> Result<Value> {
    match &ty.shape {
        Shape::Struct(_) => {}
        Shape::List(item) => return list(input, item, depth, &[]),
        Shape::Codec(codec, _) => return coded(input, *codec),
    }
    let (keys, others): (Vec<_>, Vec<_>) =
        ty.fields().filter(|field| !field.inline).partition(|field| keys.contains(&field.name));
    let mut members = Map::new();
    for field in keys {
        // What is empty is not written, and an item without its key cannot be applied again.
        let key = match field.ty {
            Ty::String => json!(*input.choose(&TEXTS[1..])?),
            Ty::Int32 | Ty::Int64 => json!(input.int_in_range(1..=3)?),
            _ => of(input, field, depth.saturating_sub(1))?,
        };
        members.insert(field.name.to_owned(), key);
    }
    let most = if depth == 0 || others.is_empty() { 0 } else { 4 };
    for _ in 0..input.int_in_range(0..=most)? {
        let field = input.choose(&others)?;
        let nothing = input.ratio(1, 24)?;
        let value = if nothing { Value::Null } else { of(input, field, depth - 1)? };
        members.insert(field.name.to_owned(), value);
    }
    Ok(members.into())
}

fn of(input: &mut Unstructured<'_>, field: &'static Field, depth: usize) -> Result<Value> {
    match (field.ty, field.list) {
        (Ty::List(item), ListType::Map(keys)) => list(input, item, depth, keys),
        _ => plain(input, &field.ty, depth, &[]),
    }
}

fn plain(input: &mut Unstructured<'_>, ty: &'static Ty, depth: usize, keys: &[&str]) -> Result<Value> {
    Ok(match ty {
        Ty::Bool => json!(input.arbitrary::<bool>()?),
        Ty::Int32 | Ty::Int64 | Ty::Uint32 => json!(input.int_in_range(0..=3)?),
        Ty::Float64 => json!(*input.choose(&[0.5, 2.0])?),
        Ty::String => json!(*input.choose(TEXTS)?),
        Ty::Bytes => json!("YQ=="),
        Ty::Any => json!({"a": input.int_in_range(0..=3)?}),
        Ty::Ref(named) => value(input, named, depth, keys)?,
        Ty::List(item) => list(input, item, depth, &[])?,
        Ty::Map(item) => {
            let mut members = Map::new();
            for _ in 0..input.int_in_range(0..=2)? {
                members.insert((*input.choose(TEXTS)?).to_owned(), plain(input, item, depth.saturating_sub(1), &[])?);
            }
            members.into()
        }
    })
}

fn list(input: &mut Unstructured<'_>, item: &'static Ty, depth: usize, keys: &[&str]) -> Result<Value> {
    let count = if depth == 0 { 0 } else { input.int_in_range(0..=2)? };
    let items: Result<Vec<Value>> = (0..count).map(|_| plain(input, item, depth - 1, keys)).collect();
    Ok(Value::Array(items?))
}

fn coded(input: &mut Unstructured<'_>, codec: Codec) -> Result<Value> {
    Ok(match codec {
        Codec::Time => json!("2024-01-01T00:00:00Z"),
        Codec::MicroTime => json!("2024-01-01T00:00:00.000000Z"),
        Codec::Quantity => json!(*input.choose(&["1", "1000m", "1Gi", "0.5", "5e3"])?),
        Codec::IntOrString if input.arbitrary()? => json!(80),
        Codec::IntOrString => json!("http"),
        Codec::RawExtension | Codec::Json => json!({"a": *input.choose(TEXTS)?}),
        _ => json!({}),
    })
}
