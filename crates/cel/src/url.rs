//! Addresses of the web, read as Go's `net/url` reads them, with its words for what is none.
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::value::text::quoted;

/// An address.
#[derive(Debug, Default)]
pub struct Url {
    /// In lower case.
    pub scheme: String,
    /// What follows the scheme when it is no path.
    opaque: String,
    /// The name, and the password if there is one, escaped.
    pub user: Option<String>,
    /// The name or number, and the port if there is one.
    pub host: String,
    omit_host: bool,
    /// The path as written.
    raw_path: String,
    path: Vec<u8>,
    force_query: bool,
    /// As written.
    pub query: String,
    /// What is meant.
    pub fragment: String,
    raw_fragment: String,
}

impl Url {
    /// Any address; the error is Go's.
    pub fn parse(text: &str) -> Result<Self, String> {
        let told = |text: &str, fault: String| format!("parse {}: {fault}", quoted(text));
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = read(rest, false).map_err(|fault| told(rest, fault))?;
        let meant = unescape(fragment, Part::Other).map_err(|fault| told(text, fault))?;
        url.fragment = String::from_utf8_lossy(&meant).into_owned();
        fragment.clone_into(&mut url.raw_fragment);
        Ok(url)
    }

    /// An address as it stands in a request: a whole one, or an absolute path.
    pub fn parse_request(text: &str) -> Result<Self, String> {
        read(text, true).map_err(|fault| format!("parse {}: {fault}", quoted(text)))
    }

    pub(crate) fn escaped_path(&self) -> String {
        if !self.raw_path.is_empty() && is_encoded(&self.raw_path) {
            return self.raw_path.clone();
        }
        if self.path == b"*" { "*".to_owned() } else { escape(&self.path, is_path) }
    }

    /// The host without its port, and the port.
    pub(crate) fn split_host(&self) -> (&str, &str) {
        let host = self.host.as_str();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
            _ => (host, ""),
        };
        let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        (inner.unwrap_or(name), port)
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
        if self.raw_fragment.is_empty() { Ok(()) } else { write!(f, "#{}", self.raw_fragment) }
    }
}

fn read(text: &str, request: bool) -> Result<Url, String> {
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
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        url.host = read_host(&url.scheme, host)?;
        url.user = user.map(read_user).transpose()?;
    } else if !url.scheme.is_empty() && rest.starts_with('/') {
        url.omit_host = true;
    }
    url.path = unescape(rest, Part::Other)?;
    if escape(&url.path, is_path) != rest {
        rest.clone_into(&mut url.raw_path);
    }
    Ok(url)
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

fn read_host(scheme: &str, host: &str) -> Result<String, String> {
    let port_fault = |port: &str| format!("invalid port {} after host", quoted(port));
    match host.rfind('[') {
        Some(1..) => Err("invalid IP-literal".to_owned()),
        Some(_) => {
            let Some((inner, port)) = host.rsplit_once(']') else { return Err("missing ']' in host".to_owned()) };
            if !is_port(port) {
                return Err(port_fault(port));
            }
            let inner = inner.strip_prefix('[').unwrap_or_default();
            let address = match inner.find("%25") {
                Some(zone) => {
                    let (address, zone) = inner.split_at(zone);
                    [unescape(address, Part::Host)?, unescape(zone, Part::Zone)?].concat()
                }
                None => unescape(inner, Part::Host)?,
            };
            let address = String::from_utf8_lossy(&address);
            let (number, zone) = address.split_once('%').unwrap_or((&address, "-"));
            if number.parse::<Ipv6Addr>().is_err() || zone.is_empty() {
                if address.parse::<Ipv4Addr>().is_ok() {
                    return Err("invalid IP-literal".to_owned());
                }
                return Err(format!("invalid host: ParseAddr({}): unable to parse IP", quoted(&address)));
            }
            Ok(format!("[{address}]{port}"))
        }
        None => {
            let web = matches!(scheme, "http" | "https");
            let colon = if web { host.find(':') } else { host.rfind(':') };
            if let Some(port) = colon.and_then(|colon| host.get(colon..)).filter(|port| !is_port(port)) {
                return Err(port_fault(port));
            }
            unescape(host, Part::Host).map(|host| String::from_utf8_lossy(&host).into_owned())
        }
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn read_user(text: &str) -> Result<String, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !text.chars().all(known) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let parts: Result<Vec<String>, String> =
        text.splitn(2, ':').map(|part| Ok(escape(&unescape(part, Part::Other)?, is_user))).collect();
    Ok(parts?.join(":"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Host,
    Zone,
    Query,
    Other,
}

/// The bytes that are meant.
pub(crate) fn unescape(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let shown = bytes.get(at..(at + 3).min(bytes.len())).unwrap_or_default();
            let fault = || format!("invalid URL escape {}", quoted(&String::from_utf8_lossy(shown)));
            let digit = |i: usize| shown.get(i).and_then(|byte| char::from(*byte).to_digit(16));
            let (Some(high), Some(low)) = (digit(1), digit(2)) else { return Err(fault()) };
            let value = u8::try_from(high * 16 + low).unwrap_or_default();
            let allowed = match part {
                Part::Query | Part::Other => true,
                Part::Host => high >= 8 || shown == b"%25",
                Part::Zone => shown == b"%25" || value == b' ' || is_host(value),
            };
            if !allowed {
                return Err(fault());
            }
            out.push(value);
            at += 3;
        } else if part == Part::Query && *byte == b'+' {
            out.push(b' ');
            at += 1;
        } else {
            if matches!(part, Part::Host | Part::Zone) && byte.is_ascii() && !is_host(*byte) {
                return Err(format!("invalid character {} in host name", quoted(&char::from(*byte).to_string())));
            }
            out.push(*byte);
            at += 1;
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

fn is_user(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,;=".contains(&byte)
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
