//! The forms that names, label keys and label values must have.
//!
//! Every function gives what is wrong in Kubernetes' words, and nothing when all is well. Lengths count bytes, although
//! Kubernetes has two copies of the DNS checks, and the one for names speaks of characters.

use std::borrow::Cow;

/// The most bytes in a DNS label, in the name part of a label key and in a label value.
pub const LABEL_MAX: usize = 63;
/// The most bytes in a DNS subdomain.
pub const SUBDOMAIN_MAX: usize = 253;

const NOT_DNS_1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start \
    with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used \
    for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NOT_DNS_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and \
    must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const NOT_DNS_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
    '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation \
    is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const NOT_LABEL_KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const NOT_LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' \
    or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
    used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const NOT_DATA_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
    'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// What keeps `name` from being one segment of a URL's path: all that RBAC asks of the names of its objects.
///
/// Neither emptiness nor length is looked at; colons, spaces and capitals are fine.
pub fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    path_segment_prefix(name)
}

/// What keeps `prefix` from being the start of one segment of a URL's path.
pub fn path_segment_prefix(prefix: &str) -> Vec<String> {
    ['/', '%'].into_iter().filter(|c| prefix.contains(*c)).map(|c| format!("may not contain '{c}'")).collect()
}

/// What keeps `key` from being a key in the data of a ConfigMap or Secret, which may become a file's name.
pub fn data_key(key: &str) -> Vec<String> {
    let mut faults = over(SUBDOMAIN_MAX, "characters", key);
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) {
        faults.push(NOT_DATA_KEY.into());
    }
    match key {
        "." | ".." => faults.push(format!("must not be '{key}'")),
        key if key.starts_with("..") => faults.push("must not start with '..'".into()),
        _ => {}
    }
    faults
}

/// A `generateName` as it is judged by a rule for whole names: with a letter in place of the dash at its end.
///
/// Kubernetes' cut takes one byte more than the dash, so that the byte before the dash is never judged.
pub fn generated_from(prefix: &str) -> Cow<'_, str> {
    let Some(cut) = prefix.strip_suffix('-').filter(|cut| !cut.is_empty()) else { return Cow::Borrowed(prefix) };
    let mut name: Vec<u8> = cut.bytes().take(cut.len() - 1).collect();
    name.push(b'a');
    // No rule that asks for this allows a character of several bytes, be it whole or cut.
    Cow::Owned(name.into_iter().map(|byte| if byte.is_ascii() { char::from(byte) } else { '?' }).collect())
}

/// What keeps `text` from being a label in DNS (RFC 1123), such as a namespace's name.
pub fn dns_label(text: &str) -> Vec<String> {
    let mut faults = over(LABEL_MAX, "characters", text);
    if !is_dns_label(text) {
        faults.push(if is_dns_subdomain(text) { "must not contain dots".into() } else { NOT_DNS_LABEL.into() });
    }
    faults
}

/// What keeps `text` from being a label in DNS as RFC 1035 has it, which begins with a letter.
pub fn dns_1035_label(text: &str) -> Vec<String> {
    let mut faults = over(LABEL_MAX, "characters", text);
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !text.bytes().all(inner) || !text.starts_with(|c: char| c.is_ascii_lowercase()) || text.ends_with('-') {
        faults.push(NOT_DNS_1035_LABEL.into());
    }
    faults
}

/// What keeps `text` from being a subdomain in DNS (RFC 1123), such as a service account's name.
pub fn dns_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

/// What keeps `key` from being a label key, also called a qualified name: a name with an optional DNS subdomain and
/// a slash before it.
pub fn label_key(key: &str) -> Vec<String> {
    let (prefix, name) = match key.split_once('/') {
        None => (None, key),
        Some((prefix, name)) if !name.contains('/') => (Some(prefix), name),
        Some(_) => {
            return vec![format!(
                "a valid label key {NOT_LABEL_KEY} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
    };
    let mut faults = match prefix {
        None => Vec::new(),
        Some("") => vec!["prefix part must be non-empty".to_owned()],
        Some(prefix) => part("prefix", subdomain(prefix, "bytes")),
    };
    faults.extend(part(
        "name",
        if name.is_empty() { vec!["must be non-empty".into()] } else { over(LABEL_MAX, "bytes", name) },
    ));
    if !is_label_text(name) {
        faults.extend(part("name", vec![NOT_LABEL_KEY.into()]));
    }
    faults
}

/// What keeps `value` from being a label's value. The empty value is fine.
pub fn label_value(value: &str) -> Vec<String> {
    let mut faults = over(LABEL_MAX, "bytes", value);
    if !value.is_empty() && !is_label_text(value) {
        faults.push(NOT_LABEL_VALUE.into());
    }
    faults
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut faults = over(SUBDOMAIN_MAX, unit, text);
    if !is_dns_subdomain(text) {
        faults.push(NOT_DNS_SUBDOMAIN.into());
    }
    faults
}

fn over(max: usize, unit: &str, text: &str) -> Vec<String> {
    if text.len() > max { vec![format!("must be no more than {max} {unit}")] } else { Vec::new() }
}

fn part(which: &str, faults: Vec<String>) -> Vec<String> {
    faults.into_iter().map(|fault| format!("{which} part {fault}")).collect()
}

fn is_dns_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
}

fn is_dns_label(text: &str) -> bool {
    let edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    is_framed(text, edge, |byte| edge(byte) || byte == b'-')
}

fn is_label_text(text: &str) -> bool {
    is_framed(
        text,
        |byte| byte.is_ascii_alphanumeric(),
        |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
    )
}

/// Whether the text is made of `inner` bytes, and starts and ends with an `edge`. The empty text has no edges.
fn is_framed(text: &str, edge: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|&byte| edge(byte))
        && bytes.last().is_some_and(|&byte| edge(byte))
        && bytes.iter().all(|&byte| inner(byte))
}
