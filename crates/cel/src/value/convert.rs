//! Conversions between types.
use super::time::{duration_text, parse_duration, parse_timestamp, timestamp_of_seconds};
use super::{Fault, Outcome, Str, Value, fault};

/// One more than the largest integers, as doubles.
pub(crate) const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
pub(crate) const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// A double as an integer, when it is one.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
pub(crate) fn to_int(value: f64) -> Result<i64, Fault> {
    if value.is_nan() || value <= -TWO_TO_63 || value >= TWO_TO_63 {
        return fault("integer overflow");
    }
    Ok(value as i64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked before")]
pub(crate) fn to_uint(value: f64) -> Result<u64, Fault> {
    if !(0.0..TWO_TO_64).contains(&value) {
        return fault("unsigned integer overflow");
    }
    Ok(value as u64)
}

#[expect(clippy::cast_precision_loss, reason = "the loss is what is asked for")]
fn from_int(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "the loss is what is asked for")]
fn from_uint(value: u64) -> f64 {
    value as f64
}

/// The integer a double is, without loss.
#[expect(clippy::float_cmp, reason = "without loss means the same bits")]
pub(crate) fn exact_int(value: f64) -> Option<i64> {
    to_int(value).ok().filter(|int| from_int(*int) == value)
}

#[expect(clippy::float_cmp, reason = "without loss means the same bits")]
pub(crate) fn exact_uint(value: f64) -> Option<u64> {
    to_uint(value).ok().filter(|uint| from_uint(*uint) == value)
}

/// The name a type has as a target of conversions.
fn wanted(target: &str) -> &str {
    match target {
        "duration" => "google.protobuf.Duration",
        "timestamp" => "google.protobuf.Timestamp",
        other => other,
    }
}

/// Converts a value by the function named like the type.
pub(crate) fn convert<'a>(value: Value<'a>, target: &str) -> Outcome<'a> {
    let name = value.type_name();
    if name == wanted(target) {
        return Ok(value);
    }
    let refused = |value: &Value<'_>| {
        fault(format!("type conversion error from '{}' to '{}'", value.type_name(), wanted(target)))
    };
    Ok(match (&value, target) {
        (Value::String(text), _) => return from_text(text, target).unwrap_or_else(|| refused(&value)),
        (Value::Int(number), "uint") => match u64::try_from(*number) {
            Ok(number) => Value::Uint(number),
            Err(_) => return fault("unsigned integer overflow"),
        },
        (Value::Int(number), "double") => Value::Double(from_int(*number)),
        (Value::Int(number), "string") => Value::text(number.to_string()),
        (Value::Int(number), "timestamp") => Value::Timestamp(timestamp_of_seconds(*number)?),
        (Value::Uint(number), "int") => match i64::try_from(*number) {
            Ok(number) => Value::Int(number),
            Err(_) => return fault("integer overflow"),
        },
        (Value::Uint(number), "double") => Value::Double(from_uint(*number)),
        (Value::Uint(number), "string") => Value::text(number.to_string()),
        (Value::Double(number), "int") => Value::Int(to_int(*number)?),
        (Value::Double(number), "uint") => Value::Uint(to_uint(*number)?),
        (Value::Double(number), "string") => Value::text(super::text::general(*number)),
        (Value::Bool(value), "string") => Value::text(value.to_string()),
        (Value::Bytes(bytes), "string") => match std::str::from_utf8(bytes) {
            Ok(text) => Value::text(text),
            Err(_) => return fault("invalid UTF-8 in bytes, cannot convert to string"),
        },
        (Value::Duration(nanos), "string") => Value::text(duration_text(*nanos)),
        (Value::Duration(nanos), "int") => Value::Int(*nanos),
        (Value::Timestamp(time), "string") => Value::text(time.to_text()),
        (Value::Timestamp(time), "int") => Value::Int(time.seconds),
        (Value::Null, "string") => Value::text("null"),
        (Value::Type(name), "string") => Value::text(name.clone()),
        _ => return refused(&value),
    })
}

fn from_text<'a>(text: &Str<'a>, target: &str) -> Option<Outcome<'a>> {
    Some(Ok(match target {
        "int" => Value::Int(decimal(text)?.parse().ok()?),
        "uint" => Value::Uint(text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()?),
        "double" => Value::Double(float(text)?),
        "bool" => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Value::Bool(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Value::Bool(false),
            _ => return None,
        },
        "bytes" => Value::Bytes(text.as_bytes().into()),
        "duration" => return Some(parse_duration(text).map(Value::Duration)),
        "timestamp" => return Some(parse_timestamp(text).map(Value::Timestamp)),
        _ => return None,
    }))
}

fn decimal(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// A float as Go reads it: decimal, hexadecimal, infinite or none.
fn float(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let (sign, rest) = match lower.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    match rest {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" => return (!lower.starts_with(['+', '-'])).then_some(f64::NAN),
        _ => {}
    }
    if !rest.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
        return None;
    }
    let value: f64 = rest.parse().ok()?;
    value.is_finite().then_some(sign * value)
}
