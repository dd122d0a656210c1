//! From Go's syntax of regular expressions to that of the regex crate.
//!
//! They differ in: `\d`, `\s`, `\w` and `\b`, which are of ASCII in Go; `{` that opens no repetition, `[` and the set
//! operators `&&`, `--` and `~~` in classes, which are plain characters; octal escapes and `\Q..\E`; repeated names of
//! groups; repetitions of repetitions and of more than 1,000, which Go refuses.

use std::fmt::Write as _;

use super::class;

/// An error as Go prints it.
pub(super) fn fault(what: &str, part: &str) -> String {
    format!("error parsing regexp: {what}: `{part}`")
}

pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut parser = Parser {
        pattern,
        rest: pattern,
        out: String::with_capacity(pattern.len() + 16),
        groups: vec![Group::default()],
    };
    parser.run()?;
    Ok(parser.out)
}

struct Parser<'a> {
    pattern: &'a str,
    rest: &'a str,
    out: String,
    /// The groups that are open, and the whole.
    groups: Vec<Group>,
}

/// How often something can be repeated inside.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The most of all that stands here.
    most: u64,
    /// That of the last thing; none where there is nothing to repeat.
    last: Option<u64>,
}

impl Default for Group {
    fn default() -> Self {
        Self { most: 1, last: None }
    }
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<(), String> {
        let mut repeated = None;
        while let Some(c) = self.rest.chars().next() {
            let before = self.rest;
            let mut repetition = None;
            match c {
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    self.plain("|", c);
                    self.atom(None);
                }
                '^' | '$' | '.' => {
                    let mut text = [0; 4];
                    self.plain(c.encode_utf8(&mut text), c);
                    self.atom(Some(1));
                }
                '[' => {
                    let (class, rest) = class::bracketed(self.rest)?;
                    self.out.push_str(&class);
                    self.rest = rest;
                    self.atom(Some(1));
                }
                '*' | '+' | '?' => {
                    self.rest = self.rest.get(1..).unwrap_or_default();
                    self.repeat(before, repeated, 1)?;
                    repetition = Some(before);
                }
                '{' => match counts(self.rest) {
                    None => self.literal(c, 1),
                    Some((least, most, rest)) => {
                        self.rest = rest;
                        let written = before.get(..before.len() - rest.len()).unwrap_or_default();
                        let top = most.unwrap_or(least);
                        if least > 1000 || top > 1000 || least > top {
                            return Err(fault("invalid repeat count", written));
                        }
                        self.repeat(before, repeated, top)?;
                        repetition = Some(before);
                    }
                },
                '\\' => self.escape()?,
                c => self.literal(c, c.len_utf8()),
            }
            repeated = repetition;
        }
        if self.groups.len() > 1 { Err(fault("missing closing )", self.pattern)) } else { Ok(()) }
    }

    /// Writes what means the same in both.
    fn plain(&mut self, text: &str, c: char) {
        self.out.push_str(text);
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
    }

    fn literal(&mut self, c: char, length: usize) {
        push(c, &mut self.out);
        self.rest = self.rest.get(length..).unwrap_or_default();
        self.atom(Some(1));
    }

    /// Something stands here that can be repeated, or nothing does.
    fn atom(&mut self, weight: Option<u64>) {
        if let Some(group) = self.groups.last_mut() {
            group.last = weight;
            group.most = group.most.max(weight.unwrap_or(1));
        }
    }

    fn open(&mut self) -> Result<(), String> {
        if !self.rest.starts_with("(?") {
            self.plain("(?:", '(');
            self.groups.push(Group::default());
            return Ok(());
        }
        let start = if self.rest.len() > 4 && self.rest.starts_with("(?P<") {
            Some(4)
        } else if self.rest.len() > 3 && self.rest.starts_with("(?<") {
            Some(3)
        } else {
            None
        };
        let Some(start) = start else { return self.flags() };
        let Some(end) = self.rest.find('>') else { return Err(fault("invalid named capture", self.rest)) };
        let name = self.rest.get(start..end).unwrap_or_default();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(fault("invalid named capture", self.rest.get(..=end).unwrap_or_default()));
        }
        self.out.push_str("(?:");
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        self.groups.push(Group::default());
        Ok(())
    }

    /// `(?flags)` and `(?flags:`.
    fn flags(&mut self) -> Result<(), String> {
        let (mut negative, mut seen) = (false, false);
        for (index, c) in self.rest.char_indices().skip(2) {
            let end = index + c.len_utf8();
            match c {
                'i' | 'm' | 's' | 'U' => seen = true,
                '-' if !negative => (negative, seen) = (true, false),
                ':' | ')' if !negative || seen => {
                    let written = self.rest.get(..end).unwrap_or_default();
                    // Nothing between the marks is nothing to say, which only Go lets one say.
                    self.out.push_str(if written == "(?)" { "" } else { written });
                    self.rest = self.rest.get(end..).unwrap_or_default();
                    if c == ':' {
                        self.groups.push(Group::default());
                    }
                    return Ok(());
                }
                _ => {
                    let part = self.rest.get(..end).unwrap_or_default();
                    return Err(fault("invalid or unsupported Perl syntax", part));
                }
            }
        }
        Err(fault("invalid or unsupported Perl syntax", self.rest))
    }

    fn close(&mut self) -> Result<(), String> {
        if self.groups.len() < 2 {
            return Err(fault("unexpected )", self.pattern));
        }
        let inner = self.groups.pop().unwrap_or_default();
        self.plain(")", ')');
        self.atom(Some(inner.most));
        Ok(())
    }

    /// A repetition that has been read up to a question mark which may follow.
    fn repeat(&mut self, before: &'a str, repeated: Option<&'a str>, times: u64) -> Result<(), String> {
        self.rest = self.rest.strip_prefix('?').unwrap_or(self.rest);
        let written = |from: &'a str, rest: &str| from.get(..from.len() - rest.len()).unwrap_or_default();
        if let Some(repeated) = repeated {
            return Err(fault("invalid nested repetition operator", written(repeated, self.rest)));
        }
        let text = written(before, self.rest);
        let Some(weight) = self.groups.last().and_then(|group| group.last) else {
            return Err(fault("missing argument to repetition operator", text));
        };
        // What is repeated never has no weight of its own.
        let weight = if times == 0 { 1 } else { weight.saturating_mul(times) };
        if weight > 1000 && times >= 2 {
            return Err(fault("invalid repeat count", text));
        }
        self.out.push_str(text);
        self.atom(Some(weight));
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let mut chars = self.rest.chars();
        chars.next();
        match chars.next() {
            Some('A') => self.out.push_str(r"\A"),
            Some('z') => self.out.push_str(r"\z"),
            Some('b') => self.out.push_str(r"(?-u:\b)"),
            Some('B') => self.out.push_str(r"(?-u:\B)"),
            Some('C') => return Err(fault("invalid escape sequence", r"\C")),
            Some('Q') => {
                let text = self.rest.get(2..).unwrap_or_default();
                let (text, rest) = text.split_once(r"\E").unwrap_or((text, ""));
                for c in text.chars() {
                    push(c, &mut self.out);
                    self.atom(Some(1));
                }
                self.rest = rest;
                return Ok(());
            }
            _ => {
                self.rest = if let Some((class, rest)) = class::escaped(self.rest)? {
                    self.out.push_str(&class);
                    rest
                } else {
                    let (c, rest) = class::character(self.rest)?;
                    match char::from_u32(c) {
                        Some(c) => push(c, &mut self.out),
                        None => self.out.push_str(class::NOTHING),
                    }
                    rest
                };
                self.atom(Some(1));
                return Ok(());
            }
        }
        self.rest = self.rest.get(2..).unwrap_or_default();
        self.atom(Some(1));
        Ok(())
    }
}

/// A character that means itself.
fn push(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() || !c.is_ascii() {
        out.push(c);
    } else {
        write!(out, "\\x{{{:X}}}", u32::from(c)).expect("a String takes all text");
    }
}

/// `{2}`, `{2,}` and `{2,3}`, and what follows; none if the brace is one.
fn counts(text: &str) -> Option<(u64, Option<u64>, &str)> {
    let (least, rest) = count(text.strip_prefix('{')?)?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((least, Some(least), rest));
    }
    let rest = rest.strip_prefix(',')?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((least, None, rest));
    }
    let (most, rest) = count(rest)?;
    Some((least, Some(most), rest.strip_prefix('}')?))
}

fn count(text: &str) -> Option<(u64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    // However many digits: beyond a thousand all are too many.
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}
