//! What Go says when it cannot read a JSON object. Clients see these words when a registry's credentials are malformed.

use rolewright_core::quote::Quoted;

/// The most open objects and lists.
const DEPTH_MAX: usize = 10_000;

/// Why `text` is not a JSON object, or nothing where it is one; `null` is one for Go.
pub(super) fn object_fault(text: &[u8]) -> Option<String> {
    let mut scan = Scan { text, at: 0, out_of_range: None };
    if let Err(fault) = scan.document() {
        return Some(match fault {
            Fault::End => "unexpected end of JSON input".to_owned(),
            Fault::Byte(byte, context) => format!("invalid character {} {context}", shown(byte)),
        });
    }
    let mismatch = |found: &str| Some(format!("json: cannot unmarshal {found} into Go value of type {OBJECT}"));
    match text.iter().find(|byte| !is_space(**byte)) {
        Some(b'{') => {
            scan.out_of_range.map(|text| format!("json: cannot unmarshal number {text} into Go value of type float64"))
        }
        Some(b'[') => mismatch("array"),
        Some(b'"') => mismatch("string"),
        Some(b't' | b'f') => mismatch("bool"),
        Some(b'n') | None => None,
        Some(_) => mismatch("number"),
    }
}

const OBJECT: &str = "map[string]interface {}";

enum Fault {
    End,
    Byte(u8, String),
}

type Step<T = ()> = Result<T, Fault>;

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Object,
    List,
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// The first number that no float can hold.
    out_of_range: Option<String>,
}

impl Scan<'_> {
    fn document(&mut self) -> Step {
        let mut open: Vec<Open> = Vec::new();
        loop {
            // A value is to begin here.
            let byte = self.next_token()?;
            let inner = match byte {
                b'{' => Some(Open::Object),
                b'[' => Some(Open::List),
                byte => {
                    self.scalar(byte)?;
                    None
                }
            };
            if let Some(inner) = inner {
                if open.len() == DEPTH_MAX {
                    return Err(Fault::Byte(byte, "exceeded max depth".into()));
                }
                open.push(inner);
                let first = self.peek_token()?;
                match (inner, first) {
                    (Open::Object, b'}') | (Open::List, b']') => {}
                    (Open::Object, _) => {
                        self.key()?;
                        continue;
                    }
                    (Open::List, _) => continue,
                }
            }
            if !self.after_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// What follows a value: ends of what is open, then a comma. Whether another value is to come.
    fn after_value(&mut self, open: &mut Vec<Open>) -> Step<bool> {
        loop {
            let Some(inner) = open.last().copied() else {
                return match self.next_token() {
                    Err(_) => Ok(false),
                    Ok(byte) => Err(Fault::Byte(byte, "after top-level value".into())),
                };
            };
            match (inner, self.next_token()?) {
                (Open::Object, b'}') | (Open::List, b']') => {
                    open.pop();
                }
                (Open::Object, b',') => {
                    self.key()?;
                    return Ok(true);
                }
                (Open::List, b',') => return Ok(true),
                (Open::Object, byte) => return Err(Fault::Byte(byte, "after object key:value pair".into())),
                (Open::List, byte) => return Err(Fault::Byte(byte, "after array element".into())),
            }
        }
    }

    fn key(&mut self) -> Step {
        match self.next_token()? {
            b'"' => self.string()?,
            byte => return Err(Fault::Byte(byte, "looking for beginning of object key string".into())),
        }
        match self.next_token()? {
            b':' => Ok(()),
            byte => Err(Fault::Byte(byte, "after object key".into())),
        }
    }

    fn scalar(&mut self, first: u8) -> Step {
        match first {
            b'"' => self.string(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            b'-' | b'0'..=b'9' => self.number(first),
            byte => Err(Fault::Byte(byte, "looking for beginning of value".into())),
        }
    }

    fn literal(&mut self, word: &str) -> Step {
        for expected in word.chars().skip(1) {
            let byte = self.next()?;
            if char::from(byte) != expected {
                return Err(Fault::Byte(byte, format!("in literal {word} (expecting '{expected}')")));
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Step {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let byte = self.next()?;
                            if !byte.is_ascii_hexdigit() {
                                return Err(Fault::Byte(byte, "in \\u hexadecimal character escape".into()));
                            }
                        }
                    }
                    byte => return Err(Fault::Byte(byte, "in string escape code".into())),
                },
                byte if byte < b' ' => return Err(Fault::Byte(byte, "in string literal".into())),
                _ => {}
            }
        }
    }

    fn number(&mut self, first: u8) -> Step {
        let start = self.at - 1;
        let first = if first == b'-' { self.digit("in numeric literal")? } else { first };
        if first != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        let text = String::from_utf8_lossy(self.text.get(start..self.at).unwrap_or_default());
        if self.out_of_range.is_none() && text.parse().is_ok_and(|number: f64| number.is_infinite()) {
            self.out_of_range = Some(text.into_owned());
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Step<u8> {
        match self.next()? {
            byte if byte.is_ascii_digit() => Ok(byte),
            byte => Err(Fault::Byte(byte, context.to_owned())),
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Step<u8> {
        let byte = self.peek().ok_or(Fault::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn peek_token(&mut self) -> Step<u8> {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
        self.peek().ok_or(Fault::End)
    }

    fn next_token(&mut self) -> Step<u8> {
        self.peek_token()?;
        self.next()
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// A byte as Go quotes the character of the same number.
fn shown(byte: u8) -> String {
    match char::from(byte) {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        c => {
            let quoted = Quoted(c.encode_utf8(&mut [0; 4])).to_string();
            format!("'{}'", quoted.trim_matches('"'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_read_as_gos() {
        for (text, fault) in [
            ("{}", ""),
            ("null", ""),
            (r#" {"a": [1, -2.5e+3, true, {"b": null}], "c": "\u00e9\n"} "#, ""),
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            (r#"{"a""#, "unexpected end of JSON input"),
            ("-", "unexpected end of JSON input"),
            ("x", "invalid character 'x' looking for beginning of value"),
            ("'", "invalid character '\\'' looking for beginning of value"),
            ("\u{e9}", "invalid character 'Ã' looking for beginning of value"),
            ("\x01", "invalid character '\\x01' looking for beginning of value"),
            ("\\", "invalid character '\\\\' looking for beginning of value"),
            ("{}x", "invalid character 'x' after top-level value"),
            ("{a}", "invalid character 'a' looking for beginning of object key string"),
            (r#"{"a" "b"}"#, "invalid character '\"' after object key"),
            (r#"{"a": 1 2}"#, "invalid character '2' after object key:value pair"),
            (r#"{"a": 1,}"#, "invalid character '}' looking for beginning of object key string"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("[01]", "invalid character '1' after array element"),
            ("[-x]", "invalid character 'x' in numeric literal"),
            ("[1.x]", "invalid character 'x' after decimal point in numeric literal"),
            ("[1e+]", "invalid character ']' in exponent of numeric literal"),
            ("trxe", "invalid character 'x' in literal true (expecting 'u')"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            (r#""\x""#, "invalid character 'x' in string escape code"),
            (r#""\u00g0""#, "invalid character 'g' in \\u hexadecimal character escape"),
            ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
            ("\"\"", "json: cannot unmarshal string into Go value of type map[string]interface {}"),
            ("true", "json: cannot unmarshal bool into Go value of type map[string]interface {}"),
            ("1", "json: cannot unmarshal number into Go value of type map[string]interface {}"),
            (r#"{"a": [1e999]}"#, "json: cannot unmarshal number 1e999 into Go value of type float64"),
        ] {
            assert_eq!(object_fault(text.as_bytes()).unwrap_or_default(), fault, "{text}");
        }
        assert_eq!(object_fault("[".repeat(10_000).as_bytes()).unwrap(), "unexpected end of JSON input");
        assert_eq!(object_fault("[".repeat(10_001).as_bytes()).unwrap(), "invalid character '[' exceeded max depth");
    }
}
