//! Addresses and networks.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::opaque::Opaque;
use crate::value::text::quoted;
use crate::value::{Fault, Outcome, Value, fault};

fn opaque<'a>(opaque: Opaque) -> Value<'a> {
    Value::Opaque(Arc::new(opaque))
}

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    if let Some(Value::String(text)) = args.first() {
        return Some(match id {
            "string_to_ip" => parse(text).map(|ip| opaque(Opaque::Ip(ip))),
            "ip_is_canonical" => parse(text).map(|ip| Value::Bool(ip.to_string() == **text)),
            "is_ip" => Ok(Value::Bool(parse(text).is_ok())),
            "string_to_cidr" => match parse_cidr(text) {
                Ok((ip, bits)) => Ok(opaque(Opaque::Cidr(ip, bits))),
                Err(error) => fault(format!("network address parse error during conversion from string: {error}")),
            },
            "is_cidr" => Ok(Value::Bool(parse_cidr(text).is_ok())),
            _ => return None,
        });
    }
    let Some(Value::Opaque(receiver)) = args.first() else { return None };
    Some(match (&**receiver, id) {
        (Opaque::Ip(ip), _) => of_ip(*ip, id)?,
        (Opaque::Cidr(ip, bits), _) => of_cidr(*ip, *bits, id, args.get(1))?,
        _ => return None,
    })
}

fn of_ip<'a>(ip: IpAddr, id: &str) -> Option<Outcome<'a>> {
    Some(Ok(match id {
        "ip_family" => Value::Int(if ip.is_ipv4() { 4 } else { 6 }),
        "ip_is_unspecified" => Value::Bool(ip.is_unspecified()),
        "ip_is_loopback" => Value::Bool(ip.is_loopback()),
        "ip_is_link_local_multicast" => Value::Bool(match ip {
            IpAddr::V4(ip) => ip.octets().starts_with(&[224, 0, 0]),
            IpAddr::V6(ip) => ip.octets().first() == Some(&0xff) && ip.segments().first().is_some_and(|s| s & 0xf == 2),
        }),
        "ip_is_link_local_unicast" => Value::Bool(is_link_local(ip)),
        "ip_is_global_unicast" => {
            let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip == Ipv4Addr::BROADCAST);
            let other =
                ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || is_link_local(ip) || is_broadcast;
            Value::Bool(!other)
        }
        _ => return None,
    }))
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments().first().is_some_and(|segment| segment & 0xffc0 == 0xfe80),
    }
}

fn of_cidr<'a>(ip: IpAddr, bits: u8, id: &str, other: Option<&Value<'a>>) -> Option<Outcome<'a>> {
    Some(Ok(match (id, other) {
        ("cidr_ip", _) => opaque(Opaque::Ip(ip)),
        ("cidr_prefix_length", _) => Value::Int(i64::from(bits)),
        ("cidr_masked", _) => opaque(Opaque::Cidr(masked(ip, bits), bits)),
        ("cidr_contains_ip_string", Some(Value::String(text))) => match parse(text) {
            Ok(other) => Value::Bool(contains(ip, bits, other)),
            // What is told is that the network is no address.
            Err(_) => return Some(crate::value::no_such_overload()),
        },
        ("cidr_contains_ip_ip", Some(Value::Opaque(other))) => match &**other {
            Opaque::Ip(other) => Value::Bool(contains(ip, bits, *other)),
            _ => return None,
        },
        ("cidr_contains_cidr_string", Some(Value::String(text))) => match parse_cidr(text) {
            Ok((other, more)) => Value::Bool(contains_network(ip, bits, other, more)),
            Err(error) => {
                return Some(fault(format!("network address parse error during conversion from string: {error}")));
            }
        },
        ("cidr_contains_cidr", Some(Value::Opaque(other))) => match &**other {
            Opaque::Cidr(other, more) => Value::Bool(contains_network(ip, bits, *other, *more)),
            _ => return None,
        },
        _ => return None,
    }))
}

fn masked(ip: IpAddr, bits: u8) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from(u32::from(ip) & mask))
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(ip) & mask))
        }
    }
}

fn contains(ip: IpAddr, bits: u8, other: IpAddr) -> bool {
    ip.is_ipv4() == other.is_ipv4() && masked(ip, bits) == masked(other, bits)
}

fn contains_network(ip: IpAddr, bits: u8, other: IpAddr, more: u8) -> bool {
    bits <= more && contains(ip, bits, other)
}

/// An address; the error tells what is wrong as Go's parser does.
fn parse(text: &str) -> Result<IpAddr, Fault> {
    let failed = |why: String| {
        Fault::from(format!(
            "IP Address {} parse error during conversion from string: ParseAddr({}): {why}",
            quoted(text),
            quoted(text)
        ))
    };
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) if text.contains(':') => (address, Some(zone)),
        _ => (text, None),
    };
    let parsed: Result<IpAddr, _> = address.parse();
    let Ok(ip) = parsed else { return Err(failed(reason(text))) };
    match zone {
        Some("") => return Err(failed("zone must be a non-empty string".to_owned())),
        Some(_) => return fault(format!("IP address {} with zone value is not allowed", quoted(text))),
        None => {}
    }
    if matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some()) {
        return fault(format!("IPv4-mapped IPv6 address {} is not allowed", quoted(text)));
    }
    Ok(ip)
}

/// What Go says of a text that is no address; the frequent reasons.
fn reason(text: &str) -> String {
    match text.find(['.', ':', '%']).and_then(|at| text.get(at..)).and_then(|rest| rest.chars().next()) {
        Some('.') => reason_v4(text),
        Some(':') => reason_v6(text),
        Some('%') => "missing IPv6 address".to_owned(),
        _ => "unable to parse IP".to_owned(),
    }
}

fn reason_v4(text: &str) -> String {
    let (mut value, mut digits, mut fields) = (0_u32, 0, 0);
    for (at, char) in text.char_indices() {
        let rest = quoted(text.get(at..).unwrap_or_default());
        match char {
            '0'..='9' => {
                if digits == 1 && value == 0 {
                    return "IPv4 field has octet with leading zero".to_owned();
                }
                value = value * 10 + char.to_digit(10).unwrap_or(0);
                digits += 1;
                if value > 255 {
                    return "IPv4 field has value >255".to_owned();
                }
            }
            '.' => {
                if at == 0 || at + 1 == text.len() || text.get(at - 1..at) == Some(".") {
                    return format!("IPv4 field must have at least one digit (at {rest})");
                }
                if fields == 3 {
                    return "IPv4 address too long".to_owned();
                }
                fields += 1;
                (value, digits) = (0, 0);
            }
            _ => return format!("unexpected character (at {rest})"),
        }
    }
    "IPv4 address too short".to_owned()
}

fn reason_v6(text: &str) -> String {
    let bad = text.char_indices().find(|(_, char)| !char.is_ascii_hexdigit() && !matches!(char, ':' | '.'));
    match bad {
        Some((at, _)) => {
            let rest = text.get(at..).unwrap_or_default();
            if text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with(':')) {
                format!("each colon-separated field must have at least one digit (at {})", quoted(rest))
            } else {
                format!("unexpected character, want colon (at {})", quoted(rest))
            }
        }
        None => "address string too short".to_owned(),
    }
}

fn parse_cidr(text: &str) -> Result<(IpAddr, u8), Fault> {
    let failed = |why: &str| {
        Fault::from(format!(
            "network address parse error during conversion from string: netip.ParsePrefix({}): {why}",
            quoted(text)
        ))
    };
    let Some((address, bits)) = text.rsplit_once('/') else { return Err(failed("no '/'")) };
    let ip: IpAddr = match address.split_once('%') {
        Some(_) if address.contains(':') => return Err(failed("IPv6 zones cannot be present in a prefix")),
        _ => address.parse().map_err(|_| failed(&format!("ParseAddr({}): {}", quoted(address), reason(address))))?,
    };
    let most = if ip.is_ipv4() { 32 } else { 128 };
    let plain = bits.len() == 1 || (bits.len() > 1 && bits.starts_with(|char| matches!(char, '1'..='9')));
    if !plain {
        return Err(failed(&format!("bad bits after slash: {}", quoted(bits))));
    }
    let Ok(number) = bits.parse::<u32>() else {
        return Err(failed(&format!("bad bits after slash: {}", quoted(bits))));
    };
    let Some(number) = u8::try_from(number).ok().filter(|number| *number <= most) else {
        return Err(failed("prefix length out of range"));
    };
    if matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some()) {
        return fault(format!("IPv4-mapped IPv6 address {} is not allowed", quoted(text)));
    }
    Ok((ip, number))
}
