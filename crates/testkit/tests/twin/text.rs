//! What two servers cannot agree on, inside texts: random ids, times, allocated addresses.

/// A part of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Piece<'a> {
    /// Must be the same.
    Plain(&'a str),
    /// A UUID: which one is free, where else it occurs is not.
    Uid(&'a str),
    /// A time from a clock, with this many digits after the second. Which time is free.
    Time(usize),
    /// An address that was allocated from `10.0.0.0/8`, as a UUID.
    Address(&'a str),
    /// A version of an object that is quoted in a message, as a UUID.
    Version(&'a str),
    /// A port that was allocated, in a table's cell, as a UUID.
    Port(&'a str),
    /// An address with a port on this machine. Which port is free.
    Local,
}

/// Takes a text apart.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while at < text.len() {
        let Some(rest) = text.get(at..) else {
            at += 1;
            continue;
        };
        let inside_word = text.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_ascii_alphanumeric()));
        let found = match text.get(..at) {
            Some(before) if is_version_next(before) => version(rest),
            _ if inside_word => None,
            _ => special(rest),
        };
        let Some((piece, length)) = found else {
            at += 1;
            continue;
        };
        pieces.extend(text.get(plain..at).filter(|text| !text.is_empty()).map(Piece::Plain));
        pieces.push(piece);
        at += length;
        plain = at;
    }
    pieces.extend(text.get(plain..).filter(|text| !text.is_empty()).map(Piece::Plain));
    pieces
}

fn special(text: &str) -> Option<(Piece<'_>, usize)> {
    uid(text).or_else(|| time(text)).or_else(|| address(text)).or_else(|| port(text))
}

/// Whether the text begins like a pattern, in which `h` is a hexadecimal digit, `d` a decimal one.
fn begins(text: &str, pattern: &str) -> bool {
    let fits = |(pattern, found): (u8, u8)| match pattern {
        b'h' => found.is_ascii_hexdigit(),
        b'd' => found.is_ascii_digit(),
        other => other == found,
    };
    text.len() >= pattern.len() && pattern.bytes().zip(text.bytes()).all(fits)
}

/// `"resourceVersion":"`, quoted once or twice, and what is said of preconditions.
fn is_version_next(before: &str) -> bool {
    let starts = [
        r#""resourceVersion":""#,
        r#"resourceVersion\":\""#,
        "map[resourceVersion:",
        " resourceVersion:",
        "the ResourceVersion in the precondition (",
        "the ResourceVersion in record (",
        "ResourceVersion in precondition: ",
        "ResourceVersion in object meta: ",
    ];
    starts.iter().any(|start| before.ends_with(start))
}

fn version(text: &str) -> Option<(Piece<'_>, usize)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..end).filter(|digits| !digits.is_empty()).map(|digits| (Piece::Version(digits), end))
}

fn uid(text: &str) -> Option<(Piece<'_>, usize)> {
    const UID: &str = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    let found = begins(text, UID).then(|| text.get(..UID.len()))??;
    Some((Piece::Uid(found), UID.len()))
}

fn time(text: &str) -> Option<(Piece<'_>, usize)> {
    const SECONDS: &str = "dddd-dd-ddTdd:dd:dd";
    // Cases write times of the past; no clock does.
    const FIRST_YEAR_OF_CLOCKS: &str = "2025";
    if !begins(text, SECONDS) || text < FIRST_YEAR_OF_CLOCKS {
        return None;
    }
    let rest = text.get(SECONDS.len()..)?;
    let digits = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let end = SECONDS.len() + if digits == 0 { 0 } else { digits + 1 };
    text.get(end..)?.starts_with('Z').then_some((Piece::Time(digits), end + 1))
}

fn address(text: &str) -> Option<(Piece<'_>, usize)> {
    let local = text.starts_with("127.0.0.1:");
    if !local && !text.starts_with("10.") {
        return None;
    }
    let end = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    if local {
        let port = text.get(end + 1..)?.bytes().take_while(u8::is_ascii_digit).count();
        return Some((Piece::Local, end + 1 + port));
    }
    let found = text.get(..end)?.trim_end_matches('.');
    (found.split('.').count() == 4).then_some((Piece::Address(found), found.len()))
}

/// `31234/TCP`
fn port(text: &str) -> Option<(Piece<'_>, usize)> {
    let (number, rest) = text.split_at_checked(5)?;
    let allocated = number.parse().is_ok_and(|number| (30_000..32_768).contains(&number));
    (allocated && (rest.starts_with("/TCP") || rest.starts_with("/UDP"))).then_some((Piece::Port(number), 5))
}

#[cfg(test)]
mod tests {
    use super::Piece::{Address, Local, Plain, Port, Time, Uid, Version};
    use super::*;

    #[test]
    fn texts_are_taken_apart() {
        const ID: &str = "0a1b2c3d-0000-4000-8000-0123456789ab";
        let message = format!("uid {ID}, at 2026-11-16T00:42:32Z.");
        for (text, expected) in [
            ("plain", vec![Plain("plain")]),
            ("", vec![]),
            (ID, vec![Uid(ID)]),
            (message.as_str(), vec![Plain("uid "), Uid(ID), Plain(", at "), Time(0), Plain(".")]),
            ("2026-11-16T00:42:32.123456Z", vec![Time(6)]),
            ("2020-01-01T00:00:00Z", vec![Plain("2020-01-01T00:00:00Z")]),
            ("10.96.3.4/32", vec![Address("10.96.3.4"), Plain("/32")]),
            ("10.5", vec![Plain("10.5")]),
            ("v10.96.3.4", vec![Plain("v10.96.3.4")]),
            ("127.0.0.1:6443", vec![Local]),
            (
                r#"{\"resourceVersion\":\"12\"}"#,
                vec![Plain(r#"{\"resourceVersion\":\""#), Version("12"), Plain(r#"\"}"#)],
            ),
            ("80:31234/TCP", vec![Plain("80:"), Port("31234"), Plain("/TCP")]),
            ("äö 127.0.0.1:1", vec![Plain("äö "), Local]),
        ] {
            assert_eq!(pieces(text), expected, "{text}");
        }
    }
}
