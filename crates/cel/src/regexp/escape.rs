//! Backslashes.

use super::{ESCAPE, Fault, Parser, class, taken};

/// A character that stands for itself, for the regex crate.
pub(super) fn literal(c: char) -> String {
    match c {
        '#' | '&' | '-' | '~' => format!("\\{c}"),
        c => regex::escape(c.encode_utf8(&mut [0; 4])),
    }
}

impl Parser<'_> {
    pub(super) fn escaped(&mut self) -> Result<(), Fault> {
        let at = self.rest;
        let second = at.chars().nth(1);
        match second {
            Some(c @ ('A' | 'z')) => {
                self.skip(2);
                return self.leaf(&format!("\\{c}"));
            }
            Some(c @ ('b' | 'B')) => {
                self.skip(2);
                // Words are of ASCII in Go. The regex crate has no such `\B` for texts, so that one is Unicode's.
                return self.leaf(if c == 'b' { r"(?-u:\b)" } else { r"\B" });
            }
            Some('C') => return Err((ESCAPE, at.get(..2).unwrap_or_default().to_owned())),
            Some('Q') => {
                let quoted = at.get(2..).unwrap_or_default();
                let (inside, rest) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
                for c in inside.chars() {
                    self.literal(c)?;
                }
                self.rest = rest;
                return Ok(());
            }
            Some('p' | 'P') => {
                let (class, rest) = class::unicode(at)?;
                self.rest = rest;
                return self.leaf(&class);
            }
            Some(c) => {
                if let Some(class) = class::perl(c) {
                    self.skip(2);
                    return self.leaf(class);
                }
            }
            None => {}
        }
        let (c, rest) = character(at)?;
        self.rest = rest;
        // A number that is no character matches nothing that a text can hold.
        match c {
            Some(c) => self.literal(c),
            None => self.leaf(r"[^\s\S]"),
        }
    }
}

/// An escaped character, and what follows. Some numbers are no characters.
pub(super) fn character(text: &str) -> Result<(Option<char>, &str), Fault> {
    let rest = text.get(1..).unwrap_or_default();
    let Some(c) = rest.chars().next() else {
        return Err(("trailing backslash at end of expression", String::new()));
    };
    let mut rest = rest.get(c.len_utf8()..).unwrap_or_default();
    let is_octal = |text: &str| text.starts_with(|c: char| ('0'..='7').contains(&c));
    let plain = match c {
        '0' => None,
        '1'..='7' if is_octal(rest) => None,
        'x' => return hexadecimal(text, rest),
        'a' => Some('\x07'),
        'f' => Some('\x0c'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\x0b'),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c),
        _ => return Err((ESCAPE, taken(text, rest))),
    };
    if let Some(plain) = plain {
        return Ok((Some(plain), rest));
    }
    let mut value = c.to_digit(8).unwrap_or_default();
    for _ in 0..2 {
        let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(8)) else { break };
        value = value * 8 + digit;
        rest = rest.get(1..).unwrap_or_default();
    }
    Ok((char::from_u32(value), rest))
}

fn hexadecimal<'a>(text: &'a str, digits: &'a str) -> Result<(Option<char>, &'a str), Fault> {
    let mut rest = digits;
    let next = |rest: &mut &'a str| {
        let c = rest.chars().next()?;
        *rest = rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    };
    if let Some(braced) = digits.strip_prefix('{') {
        rest = braced;
        let (mut value, mut count) = (0_u32, 0);
        loop {
            match next(&mut rest) {
                Some('}') if count > 0 => return Ok((char::from_u32(value), rest)),
                Some(c) if c.is_ascii_hexdigit() && value <= 0x10_ffff => {
                    value = value * 16 + c.to_digit(16).unwrap_or_default();
                    count += 1;
                    if value > 0x10_ffff {
                        return Err((ESCAPE, taken(text, rest)));
                    }
                }
                _ => return Err((ESCAPE, taken(text, rest))),
            }
        }
    }
    let high = next(&mut rest).map(|c| c.to_digit(16));
    let low = high.and_then(|_| next(&mut rest)).map(|c| c.to_digit(16));
    match (high.flatten(), low.flatten()) {
        (Some(high), Some(low)) => Ok((char::from_u32(high * 16 + low), rest)),
        _ => Err((ESCAPE, taken(text, rest))),
    }
}
