//! Classes of characters, and single ones that are escaped.

use std::fmt::Write as _;

use super::translate::fault;

/// What no character is.
pub(super) const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// A class in brackets, and what follows.
pub(super) fn bracketed(text: &str) -> Result<(String, &str), String> {
    let mut rest = text.get(1..).unwrap_or_default();
    let mut out = String::from("[");
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    let mut empty = true;
    while first || !rest.starts_with(']') {
        first = false;
        if let Some((class, after)) = posix(rest)? {
            out.push_str(class);
            (rest, empty) = (after, false);
            continue;
        }
        if rest.starts_with('\\')
            && let Some((class, after)) = escaped(rest)?
        {
            out.push_str(&class);
            (rest, empty) = (after, false);
            continue;
        }
        let start = rest;
        let (low, after) = class_character(rest, text)?;
        rest = after;
        let mut high = low;
        if rest.len() >= 2 && rest.starts_with('-') && !rest.starts_with("-]") {
            (high, rest) = class_character(rest.get(1..).unwrap_or_default(), text)?;
            if high < low {
                let range = start.get(..start.len() - rest.len()).unwrap_or_default();
                return Err(fault("invalid character class range", range));
            }
        }
        empty &= !push_range(low, high, &mut out);
    }
    rest = rest.get(1..).unwrap_or_default();
    // Only surrogates were named, which no text has.
    if empty {
        let negated = out.starts_with("[^");
        return Ok((if negated { r"[\x{0}-\x{10FFFF}]" } else { NOTHING }.to_owned(), rest));
    }
    out.push(']');
    Ok((out, rest))
}

fn class_character<'a>(text: &'a str, class: &str) -> Result<(u32, &'a str), String> {
    match text.chars().next() {
        None => Err(fault("missing closing ]", class)),
        Some('\\') => character(text),
        Some(c) => Ok((c.into(), text.get(c.len_utf8()..).unwrap_or_default())),
    }
}

/// Whether there was anything to write.
fn push_range(low: u32, high: u32, out: &mut String) -> bool {
    let up = |c: u32| if (0xd800..0xe000).contains(&c) { 0xe000 } else { c };
    let down = |c: u32| if (0xd800..0xe000).contains(&c) { 0xd7ff } else { c };
    let (low, high) = (up(low), down(high));
    if low > high {
        return false;
    }
    write!(out, "\\x{{{low:X}}}-\\x{{{high:X}}}").expect("a String takes all text");
    true
}

/// `[:alpha:]` and the like.
fn posix(text: &str) -> Result<Option<(&str, &str)>, String> {
    let Some(inner) = text.strip_prefix("[:") else { return Ok(None) };
    let Some(end) = inner.find(":]") else { return Ok(None) };
    let name = inner.get(..end).unwrap_or_default();
    let (class, rest) = text.split_at(end + 4);
    if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
        return Err(fault("invalid character class range", class));
    }
    Ok(Some((class, rest)))
}

/// A class that is escaped, and what follows; none if it is a single character.
pub(super) fn escaped(text: &str) -> Result<Option<(String, &str)>, String> {
    let rest = text.get(2..).unwrap_or_default();
    let class = match text.chars().nth(1) {
        Some('d') => "[0-9]",
        Some('D') => "[^0-9]",
        Some('s') => r"[\t\n\f\r ]",
        Some('S') => r"[^\t\n\f\r ]",
        Some('w') => "[0-9A-Za-z_]",
        Some('W') => "[^0-9A-Za-z_]",
        Some('p' | 'P') => return unicode(text).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((class.to_owned(), rest)))
}

fn unicode(text: &str) -> Result<(String, &str), String> {
    let negative = text.starts_with(r"\P");
    let rest = text.get(2..).unwrap_or_default();
    let Some(first) = rest.chars().next() else {
        return Err(fault("invalid UTF-8", text));
    };
    let length = match first {
        '{' => match rest.find('}') {
            Some(end) => end + 1,
            None => return Err(fault("invalid character class range", text)),
        },
        c => c.len_utf8(),
    };
    let (name, after) = rest.split_at(length);
    let written = text.get(..2 + length).unwrap_or_default();
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let (negative, name) = match name.strip_prefix('^') {
        Some(name) => (!negative, name),
        None => (negative, name),
    };
    let known = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | ' '));
    let class = format!("\\{}{{{name}}}", if negative { 'P' } else { 'p' });
    if !known || regex::Regex::new(&class).is_err() {
        return Err(fault("invalid character class range", written));
    }
    Ok((class, after))
}

/// The character that an escape stands for, and what follows.
pub(super) fn character(text: &str) -> Result<(u32, &str), String> {
    let rest = text.get(1..).unwrap_or_default();
    let Some(c) = rest.chars().next() else {
        return Err(fault("trailing backslash at end of expression", ""));
    };
    let after = rest.get(c.len_utf8()..).unwrap_or_default();
    let invalid = |rest: &str| {
        let written = text.get(..text.len() - rest.len()).unwrap_or_default();
        Err(fault("invalid escape sequence", written))
    };
    let simple = match c {
        '1'..='7' if !after.starts_with(|c| matches!(c, '0'..='7')) => return invalid(after),
        '0'..='7' => {
            let length = rest.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let (digits, after) = rest.split_at(length);
            return Ok((u32::from_str_radix(digits, 8).unwrap_or_default(), after));
        }
        'x' => return hexadecimal(text, after),
        'a' => '\x07',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => c,
        _ => return invalid(after),
    };
    Ok((simple.into(), after))
}

/// `\x41` and `\x{41}`; `digits` is what follows the `x`.
fn hexadecimal<'a>(text: &'a str, digits: &'a str) -> Result<(u32, &'a str), String> {
    let invalid = |rest: &str| {
        let written = text.get(..text.len() - rest.len()).unwrap_or_default();
        Err(fault("invalid escape sequence", written))
    };
    if let Some(inner) = digits.strip_prefix('{') {
        let mut value: u32 = 0;
        for (index, c) in inner.char_indices() {
            let rest = inner.get(index + c.len_utf8()..).unwrap_or_default();
            match c.to_digit(16) {
                Some(digit) => {
                    value = value * 16 + digit;
                    if value > 0x0010_ffff {
                        return invalid(rest);
                    }
                }
                None if c == '}' && index > 0 => return Ok((value, rest)),
                None => return invalid(rest),
            }
        }
        return invalid("");
    }
    let mut chars = digits.chars();
    let (first, second) = (chars.next(), chars.next());
    let rest = chars.as_str();
    match (first, second) {
        (None, _) => invalid(""),
        (Some(_), None) => Err(fault("invalid UTF-8", "")),
        (Some(first), Some(second)) => match (first.to_digit(16), second.to_digit(16)) {
            (Some(first), Some(second)) => Ok((first * 16 + second, rest)),
            _ => invalid(rest),
        },
    }
}
