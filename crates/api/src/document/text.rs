//! How Go writes strings, bytes and numbers.

use std::borrow::Cow;

use rolewright_core::quote::{Quoted, json_float};
use serde_json::Number;

/// A string in double quotes, as `%q` writes it.
pub fn quote(text: &str) -> String {
    Quoted(text).to_string()
}

/// A byte in single quotes, as the errors of Go's JSON scanner have it.
pub fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => format!("'{}'", quote(char::from(byte).encode_utf8(&mut [0; 4])).trim_matches('"')),
    }
}

/// Bytes as a string; every byte that is not part of UTF-8 becomes a replacement character of its own.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(out)
}

/// A number as Go's encoder writes it: `1.0` is `1`, and exponents begin at `1e+21` and below `1e-06`.
pub fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => json_float(float),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_in_go() {
        for (text, want) in [
            ("a.b", r#""a.b""#),
            ("a\"b\\", r#""a\"b\\""#),
            ("\u{0}\u{7}\n\u{7f}", r#""\x00\a\n\x7f""#),
            ("ü€\u{200b}\u{a0}", "\"ü€\\u200b\\u00a0\""),
            ("\u{1f600}\u{e0001}", "\"\u{1f600}\\U000e0001\""),
        ] {
            assert_eq!(quote(text), want);
        }
        assert_eq!(quote_byte(b'\''), r"'\''");
        assert_eq!(quote_byte(0xe9), "'é'");
    }

    #[test]
    fn numbers_are_written_as_in_go() {
        for (float, want) in [
            (1.0, "1"),
            (-0.5, "-0.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e-7, "1.5e-7"),
            (0.0, "0"),
        ] {
            assert_eq!(number(&Number::from_f64(float).unwrap()), want);
        }
    }

    #[test]
    fn each_stray_byte_is_replaced() {
        assert_eq!(lossy(b"a\xe2\x82b\xff"), "a\u{fffd}\u{fffd}b\u{fffd}");
    }
}
