//! `"...".format([...])`.
use crate::value::text::quoted;
use crate::value::{Fault, Outcome, Value, convert, fault};

/// What a clause of a format makes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    Text,
    Decimal,
    Fixed(usize),
    Scientific,
    Binary,
    Hex { upper: bool },
    Octal,
}

/// More digits are never asked for in earnest, and each costs time.
const MOST_DIGITS: usize = 1000;

impl Clause {
    /// What is said of a value the clause does not take.
    pub(crate) fn refuse(self, kind: &str) -> String {
        let wanted = match self {
            Self::Text => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                 durations, and timestamps"
            }
            Self::Decimal => "decimal clause can only be used on integers",
            Self::Fixed(_) => "fixed-point clause can only be used on doubles",
            Self::Scientific => "scientific clause can only be used on doubles",
            Self::Binary => "only integers and bools can be formatted as binary",
            Self::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Self::Octal => "octal clause can only be used on integers",
        };
        format!("{wanted}, was given {kind}")
    }
}

/// Reads a format. `arg` is asked for each argument before its clause is read; `write` gets what the clause makes of it.
pub(crate) fn parse<A>(
    format: &str,
    mut arg: impl FnMut(usize) -> Result<A, String>,
    mut write: impl FnMut(Result<&str, (Clause, A)>) -> Result<(), String>,
) -> Result<(), String> {
    let mut rest = format;
    let mut index = 0;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at);
        write(Ok(before))?;
        if let Some(after) = after.strip_prefix("%%") {
            write(Ok("%"))?;
            rest = after;
            continue;
        }
        let value = arg(index)?;
        let after = after.get(1..).unwrap_or_default();
        if after.is_empty() {
            return Err("unexpected end of string".to_owned());
        }
        let (clause, after) = clause(after).map_err(|why| format!("could not parse formatting clause: {why}"))?;
        write(Err((clause, value)))?;
        rest = after;
        index += 1;
    }
    write(Ok(rest))
}

fn clause(text: &str) -> Result<(Clause, &str), String> {
    let mut precision = 6;
    let mut rest = text;
    if let Some(after) = text.strip_prefix('.') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = after.split_at(digits);
        if after.is_empty() {
            return Err("error while parsing precision: could not find end of precision specifier".to_owned());
        }
        precision = number.parse().map_err(|_| {
            let why = if number.is_empty() { "invalid syntax" } else { "value out of range" };
            format!(
                "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \
                 {}: {why}",
                quoted(number)
            )
        })?;
        rest = after;
    }
    let letter = rest.bytes().next().unwrap_or(b' ');
    let clause = match letter {
        b's' => Clause::Text,
        b'd' => Clause::Decimal,
        b'f' => Clause::Fixed(precision),
        b'e' => Clause::Scientific,
        b'b' => Clause::Binary,
        b'x' | b'X' => Clause::Hex { upper: letter == b'X' },
        b'o' => Clause::Octal,
        other => return Err(format!("unrecognized formatting clause \"{}\"", char::from(other))),
    };
    Ok((clause, rest.get(1..).unwrap_or_default()))
}

pub(super) fn call<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let [Value::String(format), Value::List(list)] = args else { return crate::value::no_such_overload() };
    let mut text = String::new();
    let arg = |index: usize| match list.get(index) {
        Some(value) => value.map_err(|fault| fault.to_string()),
        None => Err(format!("index {index} out of range")),
    };
    let write = |piece: Result<&str, (Clause, Value<'a>)>| {
        match piece {
            Ok(plain) => text.push_str(plain),
            Err((clause, value)) => {
                text.push_str(&formatted(clause, &value).map_err(|why| format!("error during formatting: {why}"))?);
            }
        }
        Ok(())
    };
    match parse(format, arg, write) {
        Ok(()) => Ok(Value::text(text)),
        Err(error) => fault(error),
    }
}

fn formatted(clause: Clause, value: &Value<'_>) -> Result<String, String> {
    let refuse = || Err(clause.refuse(&value.type_name()));
    match (clause, value) {
        (Clause::Text, _) => written(value).unwrap_or_else(refuse),
        (Clause::Decimal, Value::Int(number)) => Ok(number.to_string()),
        (Clause::Decimal, Value::Uint(number)) => Ok(number.to_string()),
        (Clause::Binary, Value::Int(number)) => Ok(signed(*number, |number| format!("{number:b}"))),
        (Clause::Binary, Value::Uint(number)) => Ok(format!("{number:b}")),
        (Clause::Binary, Value::Bool(value)) => Ok(u8::from(*value).to_string()),
        (Clause::Octal, Value::Int(number)) => Ok(signed(*number, |number| format!("{number:o}"))),
        (Clause::Octal, Value::Uint(number)) => Ok(format!("{number:o}")),
        (Clause::Hex { upper }, _) => {
            let hex = match value {
                Value::Int(number) => signed(*number, |number| format!("{number:x}")),
                Value::Uint(number) => format!("{number:x}"),
                Value::String(text) => bytes_in_hex(text.as_bytes()),
                Value::Bytes(bytes) => bytes_in_hex(bytes),
                _ => return refuse(),
            };
            Ok(if upper { hex.to_uppercase() } else { hex })
        }
        (Clause::Fixed(_) | Clause::Scientific, _) => {
            let number = match value {
                Value::Double(number) => *number,
                Value::String(text) if matches!(&**text, "NaN" | "Infinity" | "-Infinity") => {
                    match convert::convert(value.clone(), "double") {
                        Ok(Value::Double(number)) => number,
                        _ => return refuse(),
                    }
                }
                _ => return refuse(),
            };
            Ok(match clause {
                Clause::Fixed(precision) => fixed(number, precision.min(MOST_DIGITS)),
                _ => scientific(number),
            })
        }
        _ => refuse(),
    }
}

fn signed(number: i64, write: impl Fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", write(number.unsigned_abs()))
}

fn bytes_in_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn special(number: f64) -> Option<String> {
    if number.is_nan() {
        return Some("NaN".to_owned());
    }
    number.is_infinite().then(|| if number > 0.0 { "∞".to_owned() } else { "-∞".to_owned() })
}

/// A number with thousands set apart, as readers of English expect.
fn fixed(number: f64, precision: usize) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let plain = format!("{:.precision$}", number.abs());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if precision > 0 {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    if number < 0.0 || (number == 0.0 && number.is_sign_negative()) { format!("-{grouped}") } else { grouped }
}

fn scientific(number: f64) -> String {
    if let Some(special) = special(number) {
        return special;
    }
    let plain = format!("{number:.6e}");
    let (digits, exponent) = plain.split_once('e').unwrap_or((&plain, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let raised: String = format!("{:02}", exponent.abs())
        .chars()
        .map(|digit| match digit {
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            _ => '⁹',
        })
        .collect();
    let sign = if exponent < 0 { "⁻" } else { "" };
    format!("{digits}×10{sign}{raised}")
}

/// A value as text; none when it has no text.
fn written(value: &Value<'_>) -> Option<Result<String, String>> {
    Some(match value {
        Value::List(list) => listed(list.iter()),
        Value::Map(map) => mapped(map),
        Value::Null => Ok("null".to_owned()),
        Value::Optional(_) | Value::Opaque(_) | Value::Preserved(_) => return None,
        other => match convert::convert(other.clone(), "string") {
            Ok(Value::String(text)) => Ok(text.to_string()),
            Err(fault) => Err(format!("could not convert argument {} to string", quoted(&fault))),
            Ok(_) => return None,
        },
    })
}

fn inner(value: &Value<'_>) -> Result<String, String> {
    let text = match value {
        Value::Timestamp(time) => return Ok(format!("timestamp({})", quoted(&time.to_text()))),
        Value::Duration(nanos) => {
            return Ok(format!("duration({})", quoted(&crate::value::time::duration_text(*nanos))));
        }
        Value::Double(number) => {
            let text = match (number.is_nan(), number.is_infinite()) {
                (true, _) => "NaN".to_owned(),
                (_, true) => if *number > 0.0 { "+Inf" } else { "-Inf" }.to_owned(),
                _ => format!("{number:.6}"),
            };
            return Ok(if number.is_finite() { text } else { quoted(&text) });
        }
        other => written(other).unwrap_or_else(|| Err(format!("no formatting function for {}", other.type_name())))?,
    };
    Ok(match value {
        Value::String(_) => quoted(&text),
        Value::Bytes(_) => format!("b{}", quoted(&text)),
        _ => text,
    })
}

fn listed<'a>(items: impl Iterator<Item = Outcome<'a>>) -> Result<String, String> {
    let mut parts = Vec::new();
    for item in items {
        parts.push(inner(&item.map_err(|fault: Fault| fault.to_string())?)?);
    }
    Ok(format!("[{}]", parts.join(", ")))
}

fn mapped(map: &crate::value::collection::Map<'_>) -> Result<String, String> {
    let mut parts = Vec::new();
    for key in map.keys() {
        let name = match &key {
            Value::String(text) => quoted(text),
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) => key.to_string(),
            other => return Err(format!("no formatting function for map key of type {}", other.type_name())),
        };
        let value = map.find(&key).map_err(|fault| fault.to_string())?.unwrap_or(Value::Null);
        parts.push((name, inner(&value)?));
    }
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("{{{}}}", parts.join(", ")))
}
