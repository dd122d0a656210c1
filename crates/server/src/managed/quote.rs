//! Text as Go prints it.

use std::fmt::Write as _;

/// A string as `%q` writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        // Writing into a String cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\x07' => out.write_str("\\a"),
            '\x08' => out.write_str("\\b"),
            '\x0c' => out.write_str("\\f"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\x0b' => out.write_str("\\v"),
            c if is_print(c) => out.write_char(c),
            c if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
            c if u32::from(c) <= 0xffff => write!(out, "\\u{:04x}", u32::from(c)),
            c => write!(out, "\\U{:08x}", u32::from(c)),
        };
    }
    out.push('"');
    out
}

/// Whether Go counts it as printable: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(super) fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // std's table of printable characters shows through here, and marks are left alone unless they come first.
    format!("a{c}").escape_debug().nth(1) == Some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_follows_go() {
        for (text, quote) in [
            ("a b", r#""a b""#),
            ("\"\\\n\x07", r#""\"\\\n\a""#),
            ("\u{7f}\u{1}", r#""\x7f\x01""#),
            ("é\u{a0}\u{301}", "\"é\\u00a0\u{301}\""),
            ("\u{e0001}", r#""\U000e0001""#),
        ] {
            assert_eq!(quoted(text), quote);
        }
    }
}
