//! DER, written: the little that X.509 certificates need.

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(super) const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
pub(super) const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
pub(super) const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
pub(super) const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
pub(super) const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
pub(super) const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 0x0e];
pub(super) const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 0x23];
pub(super) const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
pub(super) const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
pub(super) const CLIENT_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];
pub(super) const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
pub(super) const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
pub(super) const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];

/// A value with its tag and length.
pub(super) fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    if let Ok(short @ 0..0x80) = u8::try_from(content.len()) {
        out.push(short);
    } else {
        let length = content.len().to_be_bytes();
        let significant = length.iter().skip_while(|byte| **byte == 0);
        let count = u8::try_from(significant.clone().count()).expect("a length has at most eight bytes");
        out.push(0x80 | count);
        out.extend(significant);
    }
    out.extend_from_slice(content);
    out
}

pub(super) fn sequence<const N: usize>(parts: [&[u8]; N]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

pub(super) fn oid(content: &[u8]) -> Vec<u8> {
    tlv(0x06, content)
}

pub(super) fn octets(content: &[u8]) -> Vec<u8> {
    tlv(0x04, content)
}

/// Bits whose last byte has `unused` bits to spare.
pub(super) fn bits(content: &[u8], unused: u8) -> Vec<u8> {
    tlv(0x03, &[&[unused], content].concat())
}

/// A positive number, given in bytes of which the first is not zero.
pub(super) fn positive(bytes: &[u8]) -> Vec<u8> {
    match bytes.first() {
        Some(0x80..) => tlv(0x02, &[&[0], bytes].concat()),
        _ => tlv(0x02, bytes),
    }
}

/// The constructed, context-specific value number `n`.
pub(super) fn explicit(n: u8, content: &[u8]) -> Vec<u8> {
    tlv(0xa0 | n, content)
}

/// The primitive, context-specific value number `n`.
pub(super) fn implicit(n: u8, content: &[u8]) -> Vec<u8> {
    tlv(0x80 | n, content)
}

/// One attribute of a distinguished name, as a part of its own, so that a name may have several of a type.
pub(super) fn attribute(ty: &[u8], value: &str) -> Vec<u8> {
    let pair = sequence([&oid(ty), &tlv(0x0c, value.as_bytes())]);
    tlv(0x31, &pair)
}

pub(super) fn extension(ty: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { &[0x01, 0x01, 0xff] } else { &[] };
    sequence([&oid(ty), critical, &octets(value)])
}

/// A time as X.509 wants it: two digits of the year up to 2049, four from then on.
pub(super) fn time(at: Timestamp) -> Vec<u8> {
    let at = at.to_zoned(TimeZone::UTC);
    if (1950..2050).contains(&at.year()) {
        tlv(0x17, at.strftime("%y%m%d%H%M%SZ").to_string().as_bytes())
    } else {
        tlv(0x18, at.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_as_many_bytes_as_they_need() {
        for (length, start) in [
            (0, vec![4, 0]),
            (127, vec![4, 127]),
            (128, vec![4, 0x81, 128]),
            (255, vec![4, 0x81, 255]),
            (256, vec![4, 0x82, 1, 0]),
            (70_000, vec![4, 0x83, 1, 0x11, 0x70]),
        ] {
            let out = octets(&vec![7; length]);
            assert_eq!(&out[..start.len()], start, "{length}");
            assert_eq!(out.len(), start.len() + length);
        }
    }

    #[test]
    fn numbers_stay_positive() {
        assert_eq!(positive(&[0x7f]), [2, 1, 0x7f]);
        assert_eq!(positive(&[0x80]), [2, 2, 0, 0x80]);
    }

    #[test]
    fn years_from_2050_on_have_four_digits() {
        for (at, expected) in [
            ("2026-11-16T01:02:03Z", &b"\x17\x0d261116010203Z"[..]),
            ("2049-12-31T23:59:59Z", b"\x17\x0d491231235959Z"),
            ("2050-01-01T00:00:00Z", b"\x18\x0f20500101000000Z"),
        ] {
            assert_eq!(time(at.parse().unwrap()), expected, "{at}");
        }
    }
}
