//! JSON with the eyes of Go: the same documents are valid, and the same words say why another is not.

use std::borrow::Cow;

use super::text;

/// What is told of a document while it is read.
pub trait Listener<'a> {
    /// The most open objects and lists.
    const MAX_DEPTH: usize;

    /// An object or a list begins.
    fn open(&mut self, form: Form);

    /// The name of the next member.
    fn key(&mut self, name: Cow<'a, str>);

    /// A value without parts.
    fn scalar(&mut self, scalar: Scalar<'a>);

    /// What began last ends.
    fn close(&mut self);
}

/// What has parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "JSON's own names say it")]
pub enum Form {
    Object,
    List,
}

/// What has no parts.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "JSON's own names say it")]
pub enum Scalar<'a> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(Cow<'a, str>),
    /// As it is written, with its quotes, and as it is meant.
    String {
        literal: &'a [u8],
        text: Cow<'a, str>,
    },
}

/// Reads a whole document.
pub fn read<'a>(bytes: &'a [u8], listener: &mut impl Listener<'a>) -> Result<(), String> {
    let mut scanner = Scanner { bytes, at: 0 };
    scanner.document(listener)?;
    match scanner.peek_visible() {
        None => Ok(()),
        Some(byte) => Err(unexpected(byte, "after top-level value")),
    }
}

/// What a string means that is well written.
pub fn unescaped(literal: &str) -> String {
    let mut scanner = Scanner { bytes: literal.as_bytes(), at: 0 };
    scanner.string().map(Cow::into_owned).unwrap_or_default()
}

const TRUNCATED: &str = "unexpected end of JSON input";

fn unexpected(byte: u8, context: &str) -> String {
    format!("invalid character {} {context}", text::quote_byte(byte))
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no space; it is not consumed.
    fn peek_visible(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Inside a literal the end of the text counts as a space, which no literal but a string may have.
    fn inside_literal(&self) -> u8 {
        self.peek().unwrap_or(b' ')
    }

    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// A value, without a call for each level of it: clients decide on those.
    fn document<L: Listener<'a>>(&mut self, listener: &mut L) -> Result<(), String> {
        let mut open = Vec::new();
        loop {
            let byte = self.peek_visible().ok_or(TRUNCATED)?;
            let (form, end) = match byte {
                b'{' => (Form::Object, b'}'),
                b'[' => (Form::List, b']'),
                byte => {
                    let scalar = self.scalar(byte)?;
                    listener.scalar(scalar);
                    if self.after_value(&mut open, listener)? {
                        continue;
                    }
                    return Ok(());
                }
            };
            self.at += 1;
            if open.len() == L::MAX_DEPTH {
                return Err(unexpected(byte, "exceeded max depth"));
            }
            open.push(form);
            listener.open(form);
            if self.peek_visible() == Some(end) {
                if !self.after_value(&mut open, listener)? {
                    return Ok(());
                }
            } else if form == Form::Object {
                self.key(listener)?;
            }
        }
    }

    /// What follows a value: ends of what is open, then a comma. Whether another value is to come.
    fn after_value(&mut self, open: &mut Vec<Form>, listener: &mut impl Listener<'a>) -> Result<bool, String> {
        while let Some(form) = open.last() {
            let byte = self.peek_visible().ok_or(TRUNCATED)?;
            match (form, byte) {
                (Form::Object, b'}') | (Form::List, b']') => {
                    self.at += 1;
                    open.pop();
                    listener.close();
                }
                (Form::Object, b',') => {
                    self.at += 1;
                    self.key(listener)?;
                    return Ok(true);
                }
                (Form::List, b',') => {
                    self.at += 1;
                    return Ok(true);
                }
                (Form::Object, byte) => return Err(unexpected(byte, "after object key:value pair")),
                (Form::List, byte) => return Err(unexpected(byte, "after array element")),
            }
        }
        Ok(false)
    }

    fn key(&mut self, listener: &mut impl Listener<'a>) -> Result<(), String> {
        match self.peek_visible().ok_or(TRUNCATED)? {
            b'"' => listener.key(self.string()?),
            byte => return Err(unexpected(byte, "looking for beginning of object key string")),
        }
        match self.peek_visible().ok_or(TRUNCATED)? {
            b':' => self.at += 1,
            byte => return Err(unexpected(byte, "after object key")),
        }
        Ok(())
    }

    fn scalar(&mut self, first: u8) -> Result<Scalar<'a>, String> {
        match first {
            b'"' => {
                let start = self.at;
                let text = self.string()?;
                Ok(Scalar::String { literal: self.since(start), text })
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Scalar::Bool(true)),
            b'f' => self.word("false", Scalar::Bool(false)),
            b'n' => self.word("null", Scalar::Null),
            byte => Err(unexpected(byte, "looking for beginning of value")),
        }
    }

    fn word(&mut self, word: &str, scalar: Scalar<'a>) -> Result<Scalar<'a>, String> {
        for expected in word.bytes() {
            let byte = self.inside_literal();
            if byte != expected {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(unexpected(byte, &context));
            }
            self.at += 1;
        }
        Ok(scalar)
    }

    fn number(&mut self) -> Result<Scalar<'a>, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.inside_literal() {
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
        Ok(Scalar::Number(text::lossy(self.since(start))))
    }

    fn some_digits(&mut self, context: &str) -> Result<(), String> {
        match self.inside_literal() {
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

    fn string(&mut self) -> Result<Cow<'a, str>, String> {
        self.at += 1;
        let plain = self.run();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(plain);
        }
        let mut out = plain.into_owned();
        loop {
            match self.peek().ok_or(TRUNCATED)? {
                b'"' => {
                    self.at += 1;
                    return Ok(Cow::Owned(out));
                }
                b'\\' => {
                    self.at += 1;
                    let c = self.escape()?;
                    out.push(c);
                }
                byte @ ..b' ' => return Err(unexpected(byte, "in string literal")),
                _ => out.push_str(&self.run()),
            }
        }
    }

    /// The text up to the next byte that ends it or has to be looked at.
    fn run(&mut self) -> Cow<'a, str> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).unwrap_or(rest.len());
        self.at += length;
        text::lossy(rest.get(..length).unwrap_or_default())
    }

    fn escape(&mut self) -> Result<char, String> {
        let byte = self.inside_literal();
        let c = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                let unit = self.hex()?;
                return self.code_point(unit);
            }
            _ => return Err(unexpected(byte, "in string escape code")),
        };
        self.at += 1;
        Ok(c)
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut unit = 0;
        for _ in 0..4 {
            let byte = self.inside_literal();
            let digit =
                char::from(byte).to_digit(16).ok_or_else(|| unexpected(byte, r"in \u hexadecimal character escape"))?;
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Half of a surrogate pair without the other is a replacement character.
    fn code_point(&mut self, unit: u32) -> Result<char, String> {
        if (0xd800..0xdc00).contains(&unit) && self.bytes.get(self.at..self.at + 2) == Some(b"\\u") {
            let after_first = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after_first;
        }
        Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::{MAX_DEPTH, Node};
    use super::super::tree::parse as tree;

    fn parse(bytes: &[u8]) -> Result<Node<'_>, String> {
        tree(bytes)
    }

    #[test]
    fn documents_keep_order_duplicates_and_digits() {
        let node = parse(br#" {"b":1.0,"a":[true,null,"x\u00e9\n\ud83d\ude00\ud83d"],"b":-1e5} "#).unwrap();
        let want = Node::Object(vec![
            ("b".into(), Node::Number("1.0".into())),
            (
                "a".into(),
                Node::Array(vec![Node::Bool(true), Node::Null, Node::String("x\u{e9}\n\u{1f600}\u{fffd}".into())]),
            ),
            ("b".into(), Node::Number("-1e5".into())),
        ]);
        assert_eq!(node, want);
        assert_eq!(parse(b"\"a\xffb\""), Ok(Node::String("a\u{fffd}b".into())));
    }

    #[test]
    fn errors_are_those_of_go() {
        for (text, want) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("{\"a", "unexpected end of JSON input"),
            ("x", "invalid character 'x' looking for beginning of value"),
            ("{x", "invalid character 'x' looking for beginning of object key string"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{}}", "invalid character '}' after top-level value"),
            ("nul", "invalid character ' ' in literal null (expecting 'l')"),
            ("trx", "invalid character 'x' in literal true (expecting 'u')"),
            ("-", "invalid character ' ' in numeric literal"),
            ("01", "invalid character '1' after top-level value"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("\u{feff}{}", "invalid character 'ï' looking for beginning of value"),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap_err(), want, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert!(parse("[".repeat(MAX_DEPTH).as_bytes()).unwrap_err().contains("unexpected end"));
        assert_eq!(parse("[".repeat(1_000_000).as_bytes()).unwrap_err(), "invalid character '[' exceeded max depth");
    }
}
