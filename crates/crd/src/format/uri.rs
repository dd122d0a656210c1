//! URIs as Go's `url.ParseRequestURI` takes them.

use super::net;

pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = scheme(text) else { return false };
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        // What follows a scheme without a slash may be anything.
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//") {
        Some(authority) if !scheme.is_empty() => {
            let end = authority.find('/').unwrap_or(authority.len());
            let (authority, path) = authority.split_at(end);
            if !is_authority(&scheme.to_ascii_lowercase(), authority) {
                return false;
            }
            path
        }
        _ => rest,
    };
    unescape(path.as_bytes(), Part::Other).is_some()
}

/// The scheme, which may be empty, and what follows; none for a colon alone.
fn scheme(text: &str) -> Option<(&str, &str)> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return None,
            b':' => return Some((text.get(..index)?, text.get(index + 1..)?)),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(scheme: &str, authority: &str) -> bool {
    match authority.rsplit_once('@') {
        None => is_host(scheme, authority),
        Some((user, host)) => {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            is_host(scheme, host)
                && user.chars().all(allowed)
                && user.splitn(2, ':').all(|part| unescape(part.as_bytes(), Part::Other).is_some())
        }
    }
}

fn is_host(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => is_literal(host),
        Some(_) => false,
        None => {
            let strict = matches!(scheme, "http" | "https");
            let port = if strict { host.find(':') } else { host.rfind(':') };
            let port = port.and_then(|port| host.get(port..)).unwrap_or_default();
            is_port(port) && unescape(host.as_bytes(), Part::Host).is_some()
        }
    }
}

fn is_literal(host: &str) -> bool {
    let Some((address, port)) = host.rsplit_once(']') else { return false };
    let address = address.strip_prefix('[').unwrap_or(address).as_bytes();
    let zone = address.windows(3).position(|window| window == b"%25").unwrap_or(address.len());
    let (address, zone) = address.split_at(zone);
    let (Some(mut address), Some(zone)) = (unescape(address, Part::Host), unescape(zone, Part::Zone)) else {
        return false;
    };
    address.extend(zone);
    is_port(port) && net::is_v6_with_zone(&address)
}

fn is_port(port: &str) -> bool {
    port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    Zone,
    Other,
}

/// The bytes that are meant; none if something is badly escaped, or should be escaped.
fn unescape(text: &[u8], part: Part) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'%' {
            if part != Part::Other && byte.is_ascii() && !in_host(*byte) {
                return None;
            }
            out.push(*byte);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        rest = after;
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (high, low) = (digit(*high)?, digit(*low)?);
        let meant = high << 4 | low;
        let allowed = match part {
            _ if meant == b'%' => true,
            Part::Host => high >= 8,
            Part::Zone => meant == b' ' || in_host(meant),
            Part::Other => true,
        };
        if !allowed {
            return None;
        }
        out.push(meant);
    }
    Some(out)
}

fn in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!\"$&'()*+,-.:;<=>[]_~".contains(&byte)
}
