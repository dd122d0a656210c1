//! URLs as Go's `net/url` reads them, and its words for what is none.

use core::net::Ipv6Addr;

use rolewright_core::quote::Quoted;

/// As much of a URL as is looked at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) scheme: String,
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) query: String,
    pub(super) fragment: String,
}

impl Url {
    /// Any URL.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let told = |text: &str, fault: String| format!("parse {}: {fault}", Quoted(text));
        let mut url = read(rest, false).map_err(|fault| told(rest, fault))?;
        url.fragment = unescape(fragment, Part::Other).map_err(|fault| told(text, fault))?;
        Ok(url)
    }

    /// A URL as it stands in a request: a whole one, or an absolute path.
    pub(super) fn parse_request(text: &str) -> Option<Self> {
        read(text, true).ok()
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
        return Ok(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.query);
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            return Ok(url);
        }
        if request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let mut path = rest;
    if (!url.scheme.is_empty() || !request && !rest.starts_with("///"))
        && let Some(rest) = rest.strip_prefix("//")
    {
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, after) = rest.split_at(end);
        path = after;
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        url.host = read_host(&url.scheme, host)?;
        url.user = user.map(read_user).transpose()?;
    }
    unescape(path, Part::Other)?;
    Ok(url)
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((text.get(..i).unwrap_or_default(), text.get(i + 1..).unwrap_or_default())),
            _ => break,
        }
    }
    Ok(("", text))
}

fn read_host(scheme: &str, host: &str) -> Result<String, String> {
    let port_fault = |port: &str| format!("invalid port {} after host", Quoted(port));
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
                    unescape(address, Part::Host)? + &unescape(zone, Part::Zone)?
                }
                None => unescape(inner, Part::Host)?,
            };
            let (number, zone) = address.split_once('%').unwrap_or((&address, "-"));
            if number.parse::<Ipv6Addr>().is_err() || zone.is_empty() {
                if address.parse::<core::net::Ipv4Addr>().is_ok() {
                    return Err("invalid IP-literal".to_owned());
                }
                return Err(format!("invalid host: ParseAddr({}): unable to parse IP", Quoted(&address)));
            }
            Ok(format!("[{address}]{port}"))
        }
        None => {
            let web = matches!(scheme, "http" | "https");
            let colon = if web { host.find(':') } else { host.rfind(':') };
            if let Some(port) = colon.and_then(|colon| host.get(colon..)).filter(|port| !is_port(port)) {
                return Err(port_fault(port));
            }
            unescape(host, Part::Host)
        }
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn read_user(text: &str) -> Result<String, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !text.chars().all(known) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let parts: Result<Vec<String>, String> =
        text.splitn(2, ':').map(|part| Ok(escape_user(&unescape(part, Part::Other)?))).collect();
    Ok(parts?.join(":"))
}

fn escape_user(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,;=".contains(&byte);
    let written = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(written).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Host,
    Zone,
    Other,
}

fn unescape(text: &str, part: Part) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let shown = bytes.get(at..(at + 3).min(bytes.len())).unwrap_or_default();
            let fault = || format!("invalid URL escape {}", Quoted(&String::from_utf8_lossy(shown)));
            let digit = |i: usize| shown.get(i).and_then(|byte| char::from(*byte).to_digit(16));
            let (Some(high), Some(low)) = (digit(1), digit(2)) else { return Err(fault()) };
            let value = u8::try_from(high * 16 + low).unwrap_or_default();
            let allowed = match part {
                Part::Other => true,
                Part::Host => high >= 8 || shown == b"%25",
                Part::Zone => shown == b"%25" || value == b' ' || in_host(value),
            };
            if !allowed {
                return Err(fault());
            }
            out.push(value);
            at += 3;
        } else {
            if part != Part::Other && byte.is_ascii() && !in_host(*byte) {
                return Err(format!("invalid character {} in host name", Quoted(&char::from(*byte).to_string())));
            }
            out.push(*byte);
            at += 1;
        }
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$&'()*+,;=:[]<>\"-_.~".contains(&byte)
}
