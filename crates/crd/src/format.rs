//! The formats of texts that Kubernetes v1.36 checks, as its Go libraries do.

mod mail;
mod net;
mod number;

use std::sync::LazyLock;

use regex::Regex;
use rolewright_cel::url::Url;
use rolewright_cel::{strfmt, time};

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
        "byte" => strfmt::is_base64,
        "cidr" => net::is_cidr,
        "creditcard" => number::is_credit_card,
        "date" => |text| time::parse_date(text).is_some(),
        "datetime" => strfmt::is_date_time,
        "duration" => |text| strfmt::parse_duration(text).is_some(),
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
        "uri" => |text| Url::parse_request(text).is_ok(),
        "uuid" => strfmt::is_uuid,
        "uuid3" => |text| strfmt::is_uuid_of(text, Some(b'3'), false),
        "uuid4" => |text| strfmt::is_uuid_of(text, Some(b'4'), true),
        "uuid5" => |text| strfmt::is_uuid_of(text, Some(b'5'), true),
        _ => return None,
    })
}

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
