//! Text as Go prints it: clients see these forms in error messages, so they must be the same here.

use std::fmt::{self, Write as _};

use crate::{Name, Rule};

/// A string the way Go's `%q` writes it.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a str);

/// A string the way Go's `encoding/json` writes it, which escapes more than JSON asks for.
#[derive(Clone, Copy, Debug)]
pub struct JsonText<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\x07' => f.write_str("\\a")?,
                '\x08' => f.write_str("\\b")?,
                '\x0c' => f.write_str("\\f")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\x0b' => f.write_str("\\v")?,
                c if is_print(c) => f.write_char(c)?,
                c if c.is_ascii() => write!(f, "\\x{:02x}", u32::from(c))?,
                c if u32::from(c) <= 0xffff => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "\\U{:08x}", u32::from(c))?,
            }
        }
        f.write_char('"')
    }
}

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\x08' => f.write_str("\\b")?,
                '\x0c' => f.write_str("\\f")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\0'..' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => write!(f, "\\u{:04x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Whether Go counts `c` as printable: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // WHY: std keeps its table of printable characters private, but `escape_debug` follows it, and leaves combining
    // marks alone unless they come first. The table is drawn by the same Unicode categories as Go's; the two differ only
    // in characters that are younger than the older one's version of Unicode.
    format!("a{c}").escape_debug().nth(1) == Some(c)
}

/// A list as Go's `%q` prints it: `["a" "b"]`.
pub(crate) fn quoted_list(texts: &[Name]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| Quoted(text).to_string()).collect();
    format!("[{}]", quoted.join(" "))
}

impl fmt::Display for Rule {
    /// As Kubernetes prints a rule in a refusal: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        f.write_char('{')?;
        for (position, (name, list)) in parts.into_iter().filter(|(_, list)| !list.is_empty()).enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{name}:{}", quoted_list(list))?;
        }
        f.write_char('}')
    }
}

/// A float with an exponent as Go writes it: with a sign, and at least two digits of a positive exponent; `least` is that of a negative one.
pub fn scientific(float: f64, least: usize) -> String {
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>least$}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

/// A float as `encoding/json` writes it.
pub fn json_float(float: f64) -> String {
    let size = float.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) { scientific(float, 1) } else { float.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_follows_go() {
        for (text, quoted) in [
            ("", r#""""#),
            ("it's \"a\" \\ b", r#""it's \"a\" \\ b""#),
            ("\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#),
            ("\0\x1b\x7f", r#""\x00\x1b\x7f""#),
            ("é 世界 🙂 e\u{301}", "\"é 世界 🙂 e\u{301}\""),
            ("\u{301}\u{fffd}", "\"\u{301}\u{fffd}\""),
            ("\u{85}\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}\u{e000}", r#""\u0085\u00a0\u00ad\u200b\u2028\ufeff\ue000""#),
            ("\u{e0001}\u{10ffff}", r#""\U000e0001\U0010ffff""#),
            ("<a&b>", r#""<a&b>""#),
        ] {
            assert_eq!(Quoted(text).to_string(), quoted);
        }
    }

    #[test]
    fn json_text_follows_go() {
        for (text, json) in [
            ("", r#""""#),
            ("it's \"a\" \\ b", r#""it's \"a\" \\ b""#),
            ("\x07\x08\x0c\n\r\t\x0b", r#""\u0007\b\f\n\r\t\u000b""#),
            ("\0\x1b\x7f", "\"\\u0000\\u001b\x7f\""),
            ("é\u{a0}\u{200b}\u{2028}\u{2029}", "\"é\u{a0}\u{200b}\\u2028\\u2029\""),
            ("<a&b>", r#""\u003ca\u0026b\u003e""#),
        ] {
            assert_eq!(JsonText(text).to_string(), json);
        }
    }
}
