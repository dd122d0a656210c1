//! Addresses of the web, read as Go reads them.
use std::fmt;
use std::sync::Arc;

use super::opaque::Opaque;
use crate::value::collection::{Made, Map};
use crate::value::text::quoted;
use crate::value::{Outcome, Value, fault};

#[derive(Debug, Default)]
pub(crate) struct Url {
    scheme: String,
    /// What follows the scheme when it is no path.
    opaque: String,
    user: Option<String>,
    host: String,
    omit_host: bool,
    /// The path as written.
    raw_path: String,
    path: Vec<u8>,
    force_query: bool,
    query: String,
    fragment: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    Query,
    Fragment,
}

fn hex(byte: Option<&u8>) -> Option<u8> {
    u8::try_from(char::from(*byte?).to_digit(16)?).ok()
}

fn unescape(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let (Some(high), Some(low)) = (hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) else {
                    let rest = text.get(at..(at + 3).min(text.len())).unwrap_or_else(|| text.get(at..).unwrap_or("%"));
                    return Err(format!("invalid URL escape {}", quoted(rest)));
                };
                if part == Part::Host && high < 8 && (high, low) != (2, 5) {
                    return Err(format!("invalid URL escape {}", quoted(text.get(at..at + 3).unwrap_or("%"))));
                }
                out.push(high << 4 | low);
                at += 3;
            }
            b'+' if part == Part::Query => {
                out.push(b' ');
                at += 1;
            }
            byte => {
                if part == Part::Host && byte.is_ascii() && !is_host(*byte) {
                    return Err(format!("invalid character {} in host name", quoted(&char::from(*byte).to_string())));
                }
                out.push(*byte);
                at += 1;
            }
        }
    }
    Ok(out)
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

fn is_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte)
}

fn escape(bytes: &[u8], plain: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if plain(*byte) {
            out.push(char::from(*byte));
        } else {
            let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase();
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

/// Whether a text could have been escaped by some writer.
fn is_encoded(text: &str) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%/".contains(&byte) || is_path(byte))
}

impl Url {
    fn escaped_path(&self) -> String {
        if !self.raw_path.is_empty() && is_encoded(&self.raw_path) {
            return self.raw_path.clone();
        }
        if self.path == b"*" { "*".to_owned() } else { escape(&self.path, is_path) }
    }

    fn split_host(&self) -> (&str, &str) {
        let host = self.host.as_str();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
            _ => (host, ""),
        };
        let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        (inner.unwrap_or(name), port)
    }

    fn query<'a>(&self) -> Value<'a> {
        let mut entries: Vec<(String, Vec<String>)> = Vec::new();
        let text = |part: &str| unescape(part, Part::Query).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Ok(key), Ok(value)) = (text(key), text(value)) else { continue };
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => entries.push((key, vec![value])),
            }
        }
        let mut made = Made::default();
        for (key, values) in entries {
            made.set(Value::text(key), Value::strings(values));
        }
        Value::Map(Map::Made(Arc::new(made)))
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            if !self.scheme.is_empty() && !self.omit_host || !self.host.is_empty() || self.user.is_some() {
                f.write_str("//")?;
                if let Some(user) = &self.user {
                    write!(f, "{user}@")?;
                }
                f.write_str(&self.host)?;
            }
            f.write_str(&self.escaped_path())?;
        } else {
            f.write_str(&self.opaque)?;
        }
        if self.force_query || !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        match &self.fragment {
            Some(fragment) if !fragment.is_empty() => write!(f, "#{fragment}"),
            _ => Ok(()),
        }
    }
}

fn scheme(text: &str) -> Result<(String, &str), String> {
    for (at, char) in text.char_indices() {
        match char {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => {
                let (scheme, rest) = text.split_at(at);
                return Ok((scheme.to_ascii_lowercase(), rest.get(1..).unwrap_or_default()));
            }
            _ => break,
        }
    }
    Ok((String::new(), text))
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn host(text: &str) -> Result<String, String> {
    let bad_port = |port: &str| Err(format!("invalid port {} after host", quoted(port)));
    if text.starts_with('[') {
        let Some(end) = text.rfind(']') else { return Err("missing ']' in host".to_owned()) };
        let port = text.get(end + 1..).unwrap_or_default();
        if !is_port(port) {
            return bad_port(port);
        }
    } else if let Some(port) = text.rfind(':').and_then(|at| text.get(at..))
        && !is_port(port)
    {
        return bad_port(port);
    }
    unescape(text, Part::Host).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn parse_part(text: &str, request: bool) -> Result<Url, String> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && request {
        return Err("empty url".to_owned());
    }
    let mut url = Url::default();
    if text == "*" {
        url.path = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, mut rest) = scheme(text)?;
    url.scheme = scheme;
    if rest.ends_with('?') && rest.matches('?').count() == 1 {
        url.force_query = true;
        rest = rest.trim_end_matches('?');
    } else if let Some((before, query)) = rest.split_once('?') {
        (rest, url.query) = (before, query.to_owned());
    }
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if let Some(after) = rest.strip_prefix("//")
        && (!url.scheme.is_empty() || (!request && !rest.starts_with("///")))
    {
        let end = after.find('/').unwrap_or(after.len());
        let (authority, path) = after.split_at(end);
        rest = path;
        match authority.rsplit_once('@') {
            Some((user, name)) => {
                url.host = host(name)?;
                let is_user = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
                if !user.bytes().all(is_user) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                url.user = Some(user.to_owned());
            }
            None => url.host = host(authority)?,
        }
    } else if !url.scheme.is_empty() && rest.starts_with('/') {
        url.omit_host = true;
    }
    url.path = unescape(rest, Part::Path)?;
    if escape(&url.path, is_path) != rest {
        rest.clone_into(&mut url.raw_path);
    }
    Ok(url)
}

/// An address; the error is Go's.
fn parse(text: &str) -> Result<Url, String> {
    let whole = parse_part(text, true).map_err(|error| format!("parse {}: {error}", quoted(text)));
    whole?;
    let (before, fragment) = text.split_once('#').map_or((text, None), |(before, after)| (before, Some(after)));
    let mut url = parse_part(before, false).map_err(|error| format!("parse {}: {error}", quoted(before)))?;
    if let Some(fragment) = fragment {
        unescape(fragment, Part::Fragment).map_err(|error| format!("parse {}: {error}", quoted(text)))?;
        url.fragment = Some(fragment.to_owned());
    }
    Ok(url)
}

/// What is wrong with an address of a request.
pub(super) fn request_error(text: &str) -> Option<String> {
    parse_part(text, true).err().map(|error| format!("parse {}: {error}", quoted(text)))
}

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match (id, args.first()?) {
        ("string_to_url", Value::String(text)) => Some(match parse(text) {
            Ok(url) => Ok(Value::Opaque(Arc::new(Opaque::Url(url)))),
            Err(error) => fault(format!("URL parse error during conversion from string: {error}")),
        }),
        ("is_url_string", Value::String(text)) => Some(Ok(Value::Bool(request_error(text).is_none()))),
        (_, Value::Opaque(opaque)) => {
            let Opaque::Url(url) = &**opaque else { return None };
            Some(Ok(match id {
                "url_get_scheme" => Value::text(url.scheme.as_str()),
                "url_get_host" => Value::text(url.host.as_str()),
                "url_get_hostname" => Value::text(url.split_host().0),
                "url_get_port" => Value::text(url.split_host().1),
                "url_get_escaped_path" => Value::text(url.escaped_path()),
                "url_get_query" => url.query(),
                _ => return None,
            }))
        }
        _ => None,
    }
}
