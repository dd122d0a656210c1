//! Ports, hosts, addresses and ranges of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::{Errors, each, json};

const PORT: &str = "must be between 1 and 65535, inclusive";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which \
    must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. \
    '*.example.com', regex used for validation is \
    '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

pub(in crate::kinds) fn port_number(errors: &mut Errors, number: i64, at: Path<'_>) {
    if !(1..=65535).contains(&number) {
        errors.push(FieldError::invalid(at, json(number), PORT));
    }
}

pub(in crate::kinds) fn port_name(name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if name.len() > 15 {
        faults.push("must be no more than 15 characters".to_owned());
    }
    if name.is_empty() || !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')) {
        faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        faults.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        faults.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push("must not begin or end with a hyphen".to_owned());
    }
    faults
}

/// A port by number or by name.
pub(in crate::kinds) fn port(errors: &mut Errors, port: Option<&Value>, at: Path<'_>) {
    match port {
        Some(Value::String(name)) => each(errors, at, name, port_name(name)),
        port => port_number(errors, port.and_then(Value::as_i64).unwrap_or_default(), at),
    }
}

/// A host, with a star as its first label perhaps.
pub(in crate::kinds) fn host(host: &str) -> Vec<String> {
    if !host.contains('*') {
        return names::dns_subdomain(host);
    }
    let fits = host.strip_prefix("*.").is_some_and(|rest| {
        !rest.contains('*') && names::dns_subdomain(rest).iter().all(|fault| fault.starts_with("must be no more"))
    });
    if fits { Vec::new() } else { vec![WILDCARD.to_owned()] }
}

const IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// An address as Go's older versions read it: numbers may begin with zeros.
pub(in crate::kinds) fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().ok().map(|ip| IpAddr::V6(ip).to_canonical());
    }
    let mut bytes = [0; 4];
    let mut parts = text.split('.');
    for byte in &mut bytes {
        let part = parts.next()?;
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *byte = part.parse().ok().filter(|_| digits)?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(bytes).into())
}

/// An address; those in `known` were accepted before.
pub(in crate::kinds) fn ip(errors: &mut Errors, text: &str, at: Path<'_>, known: &[Value]) -> bool {
    if known.iter().any(|known| known == text) {
        return true;
    }
    let why = match (parse_ip(text), text.parse::<IpAddr>()) {
        (None, _) => IP,
        (_, Err(_)) => "must not have leading 0s",
        (_, Ok(IpAddr::V6(ip))) if ip.to_ipv4_mapped().is_some() => "must not be an IPv4-mapped IPv6 address",
        _ => return true,
    };
    errors.push(FieldError::invalid(at, text, why));
    false
}

/// An address in the one form that it has.
pub(in crate::kinds) fn canonical_ip(errors: &mut Errors, text: &str, at: Path<'_>) -> bool {
    if !ip(errors, text, at, &[]) {
        return false;
    }
    let canonical = parse_ip(text).map(|ip| ip.to_string()).unwrap_or_default();
    if canonical != text {
        let why = format!("must be in canonical form ({})", rolewright_core::quote::Quoted(&canonical));
        errors.push(FieldError::invalid(at, text, why));
    }
    canonical == text
}

/// An address that others can reach.
pub(in crate::kinds) fn endpoint_ip(errors: &mut Errors, text: &str, at: Path<'_>) {
    let mut fault = |why: &str| errors.push(FieldError::invalid(at, text, why));
    let Some(ip) = parse_ip(text) else { return fault("must be a valid IP address") };
    if ip.is_unspecified() {
        fault(&format!("may not be unspecified ({text})"));
    }
    if ip.is_loopback() {
        fault("may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (unicast, multicast) = match ip {
        IpAddr::V4(ip) => (ip.is_link_local(), ip.octets().starts_with(&[224, 0, 0])),
        IpAddr::V6(ip) => {
            (ip.is_unicast_link_local(), ip.segments().first().is_some_and(|part| part & 0xff0f == 0xff02))
        }
    };
    if unicast {
        fault("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if multicast {
        fault("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

/// A range of addresses: the bits of one, and how many of them count.
#[derive(Clone, Copy, Debug)]
pub(in crate::kinds) struct Range {
    v6: bool,
    bits: u128,
    pub(in crate::kinds) length: u32,
}

impl Range {
    pub(in crate::kinds) fn parse(text: &str) -> Option<Self> {
        let (ip, length) = text.split_once('/')?;
        let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let length = length.parse().ok().filter(|_| digits)?;
        let (v6, bits, most) = match (parse_ip(ip)?, ip.contains(':')) {
            (IpAddr::V4(ip), false) => (false, u128::from(ip.to_bits()), 32),
            (IpAddr::V4(ip), true) => (true, ip.to_ipv6_mapped().to_bits(), 128),
            (IpAddr::V6(ip), _) => (true, ip.to_bits(), 128),
        };
        (length <= most).then_some(Self { v6, bits, length })
    }

    fn masked(self, length: u32) -> u128 {
        let width: u32 = if self.v6 { 128 } else { 32 };
        self.bits.checked_shr(width.saturating_sub(length)).unwrap_or_default()
    }

    fn is_aligned(self) -> bool {
        let width: u32 = if self.v6 { 128 } else { 32 };
        self.masked(self.length).checked_shl(width.saturating_sub(self.length)).unwrap_or_default() == self.bits
    }

    pub(in crate::kinds) fn contains(self, other: Self) -> bool {
        self.v6 == other.v6 && self.masked(self.length) == other.masked(self.length)
    }

    pub(in crate::kinds) fn is_v6(self) -> bool {
        self.v6
    }
}

/// A range of addresses; those in `known` were accepted before.
pub(in crate::kinds) fn cidr(errors: &mut Errors, text: &str, at: Path<'_>, known: &[Value]) {
    if known.iter().any(|known| known == text) {
        return;
    }
    let (ip, length) = text.split_once('/').unwrap_or((text, ""));
    let zeros = length.len() > 1 && length.starts_with('0');
    let why = match (Range::parse(text), ip.parse::<IpAddr>()) {
        (None, _) => CIDR,
        (_, Err(_)) => "must not have leading 0s in IP or prefix length",
        _ if zeros => "must not have leading 0s in IP or prefix length",
        (_, Ok(IpAddr::V6(ip))) if ip.to_ipv4_mapped().is_some() => "must not have an IPv4-mapped IPv6 address",
        (Some(range), _) if !range.is_aligned() => "must not have bits set beyond the prefix length",
        _ => return,
    };
    errors.push(FieldError::invalid(at, text, why));
}

/// A range of addresses in the one form that it has.
pub(in crate::kinds) fn canonical_cidr(errors: &mut Errors, text: &str, at: Path<'_>) {
    let before = errors.len();
    cidr(errors, text, at, &[]);
    let canonical = text.split_once('/').and_then(|(ip, length)| Some(format!("{}/{length}", parse_ip(ip)?)));
    if let Some(canonical) = canonical.filter(|canonical| canonical != text && errors.len() == before) {
        let why = format!("must be in canonical form ({})", rolewright_core::quote::Quoted(&canonical));
        errors.push(FieldError::invalid(at, text, why));
    }
}

/// Where a load balancer is reached.
pub(in crate::kinds) fn balancer_host(errors: &mut Errors, host: &str, at: Path<'_>) {
    if host.is_empty() {
        return;
    }
    each(errors, at, host, names::dns_subdomain(host));
    if parse_ip(host).is_some() {
        errors.push(FieldError::invalid(at, host, "must be a DNS name, not an IP address"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_by_go() {
        for (text, ip) in [
            ("010.0.0.1", Some("10.0.0.1")),
            ("::ffff:10.0.0.1", Some("10.0.0.1")),
            ("2001:DB8::1", Some("2001:db8::1")),
            ("256.0.0.1", None),
            ("1.2.3", None),
            ("1.2.3.4.5", None),
            ("+1.2.3.4", None),
            ("fe80::1%eth0", None),
            ("", None),
        ] {
            assert_eq!(parse_ip(text).map(|ip| ip.to_string()).as_deref(), ip, "{text}");
        }
    }

    #[test]
    fn ranges_hold_ranges() {
        let range = |text| Range::parse(text).unwrap();
        assert!(range("0.0.0.0/0").contains(range("10.0.0.0/8")));
        assert!(range("::/0").contains(range("2001:db8::/32")));
        assert!(!range("10.0.0.0/8").contains(range("11.0.0.0/9")));
        assert!(Range::parse("10.0.0.0/33").is_none() && Range::parse("10.0.0.0").is_none());
    }
}
