//! Formats of texts as Kubernetes' `strfmt` reads them.
use std::sync::LazyLock;

use regex::Regex;

use crate::time::{self, parse_date};

/// The plain alphabet, padded.
pub fn is_base64(text: &str) -> bool {
    let stem = text.trim_end_matches('=');
    let padding = text.len() - stem.len();
    let plain = stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    !text.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && plain
}

/// Of any version.
pub fn is_uuid(text: &str) -> bool {
    is_uuid_of(text, None, false)
}

/// Groups of 8, 4, 4, 4 and 12 digits, with or without any of the dashes between.
pub fn is_uuid_of(text: &str, version: Option<u8>, variant: bool) -> bool {
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

/// A date, and what follows the first `t`; what follows a second one is not looked at.
pub fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    parse_date(date).is_some() && is_time(time)
}

fn is_time(text: &str) -> bool {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text.as_bytes() else { return false };
    let digits = [h1, h2, m1, m2, s1, s2];
    if !digits.iter().all(|digit| digit.is_ascii_digit()) || (*h1, *h2) > (b'2', b'3') || *m1 > b'5' || *s1 > b'5' {
        return false;
    }
    if is_zone(rest) {
        return true;
    }
    // Any one character opens the fraction.
    let Some(rest) = std::str::from_utf8(rest).ok().and_then(|rest| {
        let first = rest.chars().next().filter(|first| *first != '\n')?;
        rest.get(first.len_utf8()..)
    }) else {
        return false;
    };
    let fraction = rest.bytes().take_while(u8::is_ascii_digit).count();
    fraction > 0 && rest.as_bytes().get(fraction..).is_some_and(is_zone)
}

fn is_zone(text: &[u8]) -> bool {
    match text {
        [b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit()),
        _ => false,
    }
}

const UNITS: [(&[&str], i64); 8] = [
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], 1_000_000_000),
    (&["m", "min"], 60_000_000_000),
    (&["h", "hr", "hour"], 3_600_000_000_000),
    (&["d", "day"], 86_400_000_000_000),
    (&["w", "wk", "week"], 604_800_000_000_000),
];

static SPANS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([0-9]+)\s*([A-Za-zµ]+)").expect("the pattern is well-formed"));

/// A span as Kubernetes' formats read it: as Go does, or with words.
pub fn parse_duration(text: &str) -> Option<i64> {
    if let Some(nanos) = time::parse_duration(text) {
        return Some(nanos);
    }
    let mut total = None;
    for found in SPANS.captures_iter(text) {
        let factor: i64 = found.get(1)?.as_str().parse().ok()?;
        let unit = found.get(2)?.as_str().to_lowercase();
        for (names, nanos) in UNITS {
            for (at, name) in names.iter().enumerate() {
                let is_prefix = at + 1 == names.len() && unit.starts_with(name);
                if is_prefix || unit == *name {
                    let span = factor.wrapping_mul(nanos);
                    total = Some(total.unwrap_or(0_i64).wrapping_add(span));
                }
            }
        }
    }
    total
}
