//! What a scalar means in YAML 1.1, as Kubernetes' library has it.

use std::borrow::Cow;

use serde_json::Number;

use crate::document::node::Node;
use crate::document::{base64, text};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// By its bits, so that there is an order.
    Float(u64),
    String(String),
    /// `<<` in the place of a key.
    Merge,
}

const PREFIX: &str = "tag:yaml.org,2002:";

impl Scalar {
    pub(super) fn resolve(text: String, plain: bool, tag: Option<&str>) -> Result<Self, String> {
        let short = tag.map(|tag| tag.strip_prefix(PREFIX).unwrap_or(tag));
        match short {
            None if !plain => Ok(Self::String(text)),
            None | Some("merge") if text == "<<" => Ok(Self::Merge),
            None => Ok(guess(text)),
            Some("binary") => base64::decode(text.as_bytes())
                .map(|bytes| Self::String(text::lossy(&bytes).into_owned()))
                .map_err(|_| "yaml: !!binary value contains invalid base64 data".to_owned()),
            Some(wanted @ ("bool" | "int" | "float" | "null" | "timestamp")) => {
                let found = guess(text.clone());
                match (wanted, found) {
                    #[expect(clippy::cast_precision_loss, reason = "asked for")]
                    ("float", Self::Int(int)) => Ok(Self::Float((int as f64).to_bits())),
                    ("timestamp", Self::String(text)) => Ok(Self::String(text)),
                    (wanted, found) if found.tag() == wanted => Ok(found),
                    (wanted, found) => Err(format!("yaml: cannot decode !!{} `{text}` as a !!{wanted}", found.tag())),
                }
            }
            Some(_) => Ok(Self::String(text)),
        }
    }

    fn tag(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Uint(_) => "int",
            Self::Float(_) => "float",
            Self::String(_) | Self::Merge => "str",
        }
    }

    pub(super) fn to_node(&self) -> Result<Node<'static>, String> {
        Ok(match self {
            Self::Null => Node::Null,
            Self::Bool(on) => Node::Bool(*on),
            Self::Int(int) => Node::Number(Cow::Owned(int.to_string())),
            Self::Uint(int) => Node::Number(Cow::Owned(int.to_string())),
            Self::Float(bits) => {
                let float = f64::from_bits(*bits);
                let number = Number::from_f64(float)
                    .ok_or_else(|| format!("json: unsupported value: {}", number_word(float).unwrap_or_default()))?;
                Node::Number(Cow::Owned(text::number(&number)))
            }
            Self::String(text) => Node::String(text.clone()),
            Self::Merge => Node::String("<<".to_owned()),
        })
    }

    /// As the key of a JSON object.
    pub(super) fn to_key(&self) -> Result<String, String> {
        Ok(match self {
            Self::String(text) => text.clone(),
            Self::Bool(on) => on.to_string(),
            Self::Int(int) => int.to_string(),
            Self::Float(bits) => match f64::from_bits(*bits) {
                f64::INFINITY => ".inf".to_owned(),
                f64::NEG_INFINITY => "-.inf".to_owned(),
                float if float.is_nan() => ".nan".to_owned(),
                float => {
                    #[expect(clippy::cast_possible_truncation, reason = "Kubernetes' conversion has 32 bits")]
                    let float = float as f32;
                    short_float(float.to_string(), &format!("{float:e}"))
                }
            },
            Self::Merge => "<<".to_owned(),
            Self::Null | Self::Uint(_) => return Err("unsupported map key".to_owned()),
        })
    }

    /// Whether it can be there twice; what is not equal to itself cannot.
    pub(super) fn has_equals(&self) -> bool {
        !matches!(self, Self::Float(bits) if f64::from_bits(*bits).is_nan())
    }

    /// As Go's `%#v` writes it.
    pub(super) fn in_go(&self) -> String {
        match self {
            Self::String(text) => text::quote(text),
            Self::Float(bits) => {
                let float = f64::from_bits(*bits);
                match number_word(float) {
                    Some(word) => word.to_owned(),
                    None => short_float(float.to_string(), &format!("{float:e}")),
                }
            }
            other => other.to_key().unwrap_or_default(),
        }
    }
}

/// Go's words for what is no number.
fn number_word(float: f64) -> Option<&'static str> {
    match float {
        f64::INFINITY => Some("+Inf"),
        f64::NEG_INFINITY => Some("-Inf"),
        float if float.is_nan() => Some("NaN"),
        _ => None,
    }
}

/// As Go's `%g` writes a float that Rust writes like this.
fn short_float(plain: String, scientific: &str) -> String {
    match scientific.split_once('e').and_then(|(mantissa, power)| Some((mantissa, power.parse::<i32>().ok()?))) {
        Some((mantissa, power)) if !(-4..6).contains(&power) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", power.abs())
        }
        _ => plain,
    }
}

fn guess(text: String) -> Scalar {
    let known = match text.as_str() {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(Scalar::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Scalar::Bool(false))
        }
        "" | "~" | "null" | "Null" | "NULL" => Some(Scalar::Null),
        ".nan" | ".NaN" | ".NAN" => Some(Scalar::Float(f64::NAN.to_bits())),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(Scalar::Float(f64::INFINITY.to_bits())),
        "-.inf" | "-.Inf" | "-.INF" => Some(Scalar::Float(f64::NEG_INFINITY.to_bits())),
        text => match text.as_bytes().first() {
            Some(b'.') => float(text),
            Some(b'0'..=b'9' | b'+' | b'-') => number(text),
            _ => None,
        },
    };
    known.unwrap_or(Scalar::String(text))
}

fn number(text: &str) -> Option<Scalar> {
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.strip_prefix(['+', '-']) {
        Some(digits) => (plain.starts_with('-'), digits),
        None => (false, plain.as_str()),
    };
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    let unsigned = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if unsigned && let Ok(size) = i128::from_str_radix(digits, base) {
        let value = if negative { -size } else { size };
        if let Ok(int) = i64::try_from(value) {
            return Some(Scalar::Int(int));
        }
        // With a sign there are no more than 63 bits.
        if let Ok(int) = u64::try_from(value)
            && !plain.starts_with('+')
        {
            return Some(Scalar::Uint(int));
        }
    }
    float(&plain)
}

/// Digits, a point and an exponent; no words, no signs inside.
fn float(text: &str) -> Option<Scalar> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let some = !whole.is_empty() || !fraction.is_empty();
    let exponent = exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent));
    if !(some && digits(whole) && digits(fraction) && exponent) {
        return None;
    }
    let float = text.parse::<f64>().ok().filter(|float| float.is_finite())?;
    Some(Scalar::Float(float.to_bits()))
}
