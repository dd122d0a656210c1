//! The formats of texts that Kubernetes v1.36 checks, as its Go libraries do.

mod mail;
mod net;
mod number;
mod time;
mod uri;

use std::sync::LazyLock;

use regex::Regex;

use crate::schema::{Schema, Type};

/// A format that means something for the type it stands with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// Of numbers; ranges are checked with their bounds.
    Number,
    /// Of texts.
    Text(fn(&str) -> bool),
}

/// What a format means in a schema; formats that Kubernetes does not know mean nothing.
pub(crate) fn known(schema: &Schema, name: &str) -> Option<Known> {
    let kind = if schema.int_or_string() { None } else { schema.kind() };
    match kind {
        None | Some(Type::String) => text(name).map(Known::Text),
        Some(Type::Integer) => matches!(name, "int32" | "int64").then_some(Known::Number),
        Some(Type::Number) => matches!(name, "float" | "double").then_some(Known::Number),
        Some(Type::Array | Type::Boolean | Type::Object) => None,
    }
}

fn text(name: &str) -> Option<fn(&str) -> bool> {
    let normal = name.replace('-', "");
    Some(match normal.as_str() {
        "bsonobjectid" => |text| text.len() == 24 && hexadecimal(text),
        "byte" => |text| matches(&BASE64, text),
        "cidr" => net::is_cidr,
        "creditcard" => number::is_credit_card,
        "date" => time::is_date,
        "datetime" => time::is_date_time,
        "duration" => time::is_duration,
        "email" => mail::is_address,
        "hexcolor" => is_hex_color,
        "hostname" => is_hostname,
        "ipv4" => |text| net::is_sloppy_ip(text) && text.contains('.'),
        "ipv6" => |text| net::is_ip(text) && text.contains(':'),
        "isbn" => |text| number::is_isbn10(text) || number::is_isbn13(text),
        "isbn10" => number::is_isbn10,
        "isbn13" => number::is_isbn13,
        "k8slongname" => |text| text.len() <= 253 && text.split('.').all(is_name),
        "k8sshortname" => |text| text.len() <= 63 && is_name(text),
        "mac" => net::is_mac,
        "password" => |_| true,
        "rgbcolor" => |text| matches(&RGB, text),
        "ssn" => |text| text.len() == 11 && matches(&SSN, text),
        "uri" => uri::is_request_uri,
        "uuid" => |text| is_uuid(text, None, false),
        "uuid3" => |text| is_uuid(text, Some(b'3'), false),
        "uuid4" => |text| is_uuid(text, Some(b'4'), true),
        "uuid5" => |text| is_uuid(text, Some(b'5'), true),
        _ => return None,
    })
}

static BASE64: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$").ok()
});
static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let alone = r"[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?";
    let label = r"[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?";
    Regex::new(&format!(r"^(?:{alone}|(?:{label}\.)+[a-zA-Z\p{{L}}]{{2,63}})$")).ok()
});
static RGB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"[\t\n\f\r ]*(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*";
    Regex::new(&format!(r"^rgb\({part},{part},{part}\)$")).ok()
});
static SSN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$").ok());

fn matches(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && hexadecimal(digits)
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|part| part.len() <= 63) && matches(&HOSTNAME, text)
}

/// Lower-case letters and digits, with dashes inside.
fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !text.is_empty()
        && text.bytes().all(|byte| inner(byte) || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Groups of 8, 4, 4, 4 and 12 digits, with or without any of the dashes between.
fn is_uuid(text: &str, version: Option<u8>, variant: bool) -> bool {
    let mut rest = text.as_bytes();
    for (group, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if group > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((digits, after)) = rest.split_at_checked(length) else { return false };
        let first = digits.first().map(u8::to_ascii_lowercase);
        let fits = match group {
            2 => version.is_none() || first == version,
            3 => !variant || matches!(first, Some(b'8' | b'9' | b'a' | b'b')),
            _ => true,
        };
        if !fits || !digits.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}
