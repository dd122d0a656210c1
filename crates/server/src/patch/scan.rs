//! JSON with the eyes of Go: the same texts are valid, and the same words say why another is not.

use std::fmt::Write as _;

use rolewright_core::validate::BadValue;

use super::node::Node;

/// Deeper documents are refused; Go goes on to 10,000.
pub(super) const MAX_DEPTH: usize = 120;

const TRUNCATED: &str = "unexpected end of JSON input";

/// Reads a whole document.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut scanner = Scanner { text, at: 0, depth: 0 };
    let node = scanner.value()?;
    match scanner.visible() {
        None => Ok(node),
        Some(byte) => Err(unexpected(byte, "after top-level value")),
    }
}

fn unexpected(byte: u8, context: &str) -> String {
    let c = char::from(byte);
    let shown = match c {
        '\'' => r"\'".to_owned(),
        '"' => "\"".to_owned(),
        c => {
            let quoted = BadValue::from(&*c.to_string()).to_string();
            quoted.trim_matches('"').to_owned()
        }
    };
    format!("invalid character '{shown}' {context}")
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no space; it is not consumed.
    fn visible(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn value(&mut self) -> Result<Node, String> {
        match self.visible().ok_or(TRUNCATED)? {
            byte @ (b'{' | b'[') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(unexpected(byte, "exceeded max depth"));
                }
                let node = if byte == b'{' { self.object()? } else { self.array()? };
                self.depth -= 1;
                Ok(node)
            }
            b'"' => Ok(Node::Scalar(self.string()?.into())),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true").map(|()| Node::Scalar("true".into())),
            b'f' => self.word("false").map(|()| Node::Scalar("false".into())),
            b'n' => self.word("null").map(|()| Node::Null),
            byte => Err(unexpected(byte, "looking for beginning of value")),
        }
    }

    fn object(&mut self) -> Result<Node, String> {
        let mut members = Vec::new();
        if self.visible() == Some(b'}') {
            self.at += 1;
            return Ok(Node::Object(members));
        }
        loop {
            match self.visible().ok_or(TRUNCATED)? {
                b'"' => {}
                byte => return Err(unexpected(byte, "looking for beginning of object key string")),
            }
            let key = unescaped(self.string()?);
            match self.visible().ok_or(TRUNCATED)? {
                b':' => self.at += 1,
                byte => return Err(unexpected(byte, "after object key")),
            }
            members.push((key, self.value()?));
            match self.visible().ok_or(TRUNCATED)? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(Node::Object(members));
                }
                byte => return Err(unexpected(byte, "after object key:value pair")),
            }
        }
    }

    fn array(&mut self) -> Result<Node, String> {
        let mut items = Vec::new();
        if self.visible() == Some(b']') {
            self.at += 1;
            return Ok(Node::Array(items));
        }
        loop {
            items.push(self.value()?);
            match self.visible().ok_or(TRUNCATED)? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Node::Array(items));
                }
                byte => return Err(unexpected(byte, "after array element")),
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes() {
            let byte = self.inside();
            if byte != expected {
                return Err(unexpected(byte, &format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// To Go, the end of the text is a space, which no literal but a string may have.
    fn inside(&self) -> u8 {
        self.peek().unwrap_or(b' ')
    }

    fn number(&mut self) -> Result<Node, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.inside() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            byte => return Err(unexpected(byte, "in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(Node::Scalar(self.since(start).into()))
    }

    fn some_digits(&mut self, context: &str) -> Result<(), String> {
        match self.inside() {
            b'0'..=b'9' => {
                self.digits();
                Ok(())
            }
            byte => Err(unexpected(byte, context)),
        }
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    /// A string with its quotes and escapes.
    fn string(&mut self) -> Result<&str, String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek().ok_or(TRUNCATED)? {
                b'"' => {
                    self.at += 1;
                    return Ok(self.since(start));
                }
                b'\\' => {
                    self.at += 1;
                    match self.inside() {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
                        b'u' => {
                            self.at += 1;
                            for _ in 0..4 {
                                let byte = self.inside();
                                if !byte.is_ascii_hexdigit() {
                                    return Err(unexpected(byte, r"in \u hexadecimal character escape"));
                                }
                                self.at += 1;
                            }
                        }
                        byte => return Err(unexpected(byte, "in string escape code")),
                    }
                }
                byte @ ..b' ' => return Err(unexpected(byte, "in string literal")),
                _ => self.at += 1,
            }
        }
    }

    fn since(&self, start: usize) -> &str {
        self.text.get(start..self.at).unwrap_or_default()
    }
}

/// The text of a valid string literal. Half a surrogate pair is a replacement character.
pub(super) fn unescaped(literal: &str) -> String {
    let inner = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(literal);
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        match chars.next() {
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let first = unit(chars.as_str());
                chars = skip(chars.as_str(), 4).chars();
                let second = chars.as_str().strip_prefix("\\u").map(unit);
                match second {
                    Some(low @ 0xdc00..0xe000) if (0xd800..0xdc00).contains(&first) => {
                        let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                        chars = skip(chars.as_str(), 6).chars();
                    }
                    _ => out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

fn unit(text: &str) -> u32 {
    text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0xfffd)
}

fn skip(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}

/// Writes a literal as Go's encoder does: with an escape for what could end a script.
pub(super) fn push_safe(out: &mut String, literal: &str) {
    for c in literal.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes all text");
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_text() {
        let node = parse(r#" {"b" : 1.0, "a":[true,null,"\u0061<"], "b":{}} "#).unwrap();
        assert_eq!(node.text(), "{\"b\":1.0,\"a\":[true,null,\"\\u0061\\u003c\"],\"b\":{}}");
        assert_eq!(unescaped(r#""a\n\u00e9\ud83d\ude00\ud83d\u0041\"""#), "a\né😀\u{fffd}A\"");
    }

    #[test]
    fn errors_are_those_of_go() {
        for (text, want) in [
            ("", "unexpected end of JSON input"),
            ("{\"a", "unexpected end of JSON input"),
            ("nul", "invalid character ' ' in literal null (expecting 'l')"),
            ("\"\\", "invalid character ' ' in string escape code"),
            ("-", "invalid character ' ' in numeric literal"),
            ("x", "invalid character 'x' looking for beginning of value"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{}'", "invalid character '\\'' after top-level value"),
            ("trx", "invalid character 'x' in literal true (expecting 'u')"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("é", "invalid character 'Ã' looking for beginning of value"),
        ] {
            assert_eq!(parse(text).unwrap_err(), want, "{text}");
        }
        assert_eq!(parse(&"[".repeat(1_000_000)).unwrap_err(), "invalid character '[' exceeded max depth");
    }
}
