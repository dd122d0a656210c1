//! Addresses of mail, as Go's `mail.ParseAddress` takes them: with names, comments and groups of one.

use super::net;

pub(super) fn is_address(text: &str) -> bool {
    let mut parser = Parser { rest: text };
    parser.address(true) == Some(1) && parser.skip_comments().is_some() && parser.rest.is_empty()
}

/// Every step returns none where Go's gives up.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// How many addresses there are: one, unless it is a group.
    fn address(&mut self, groups: bool) -> Option<usize> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        let start = self.rest;
        if self.spec().is_some() {
            self.skip_space();
            if self.rest.starts_with('(') {
                self.name_comment()?;
            }
            return Some(1);
        }
        self.rest = start;
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if groups && self.take(':') {
            return self.group();
        }
        if !self.take('<') {
            return None;
        }
        self.spec()?;
        self.take('>').then_some(1)
    }

    fn group(&mut self) -> Option<usize> {
        self.skip_space();
        if self.take(';') {
            self.skip_comments()?;
            return Some(0);
        }
        let mut count = 0;
        loop {
            self.skip_space();
            count += self.address(false)?;
            self.skip_comments()?;
            if self.take(';') {
                self.skip_comments()?;
                return Some(count);
            }
            if !self.take(',') {
                return None;
            }
        }
    }

    /// The local part, an at sign and the domain.
    fn spec(&mut self) -> Option<()> {
        self.skip_space();
        if self.rest.starts_with('"') {
            self.quoted().filter(|text| !text.is_empty())?;
        } else {
            self.strict_atom()?;
        }
        if !self.take('@') {
            return None;
        }
        self.skip_space();
        if self.rest.starts_with('[') { self.literal() } else { self.strict_atom() }
    }

    fn phrase(&mut self) -> Option<()> {
        let (mut words, mut encoded) = (false, false);
        loop {
            if words {
                self.skip_comments()?;
            }
            self.skip_space();
            if self.rest.is_empty() {
                return Some(());
            }
            let word =
                if self.rest.starts_with('"') { self.quoted().map(|_| Word::Plain) } else { self.atom().map(word) };
            match word {
                Some(Word::Plain) => words = true,
                Some(Word::Encoded(empty)) => encoded |= !empty,
                // What went wrong after a first word is not looked at.
                Some(Word::Foreign) | None => return (words || encoded).then_some(()),
            }
        }
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let mut escaped = false;
        for (index, c) in self.rest.char_indices().skip(1) {
            match c {
                c if escaped && (is_visible(c) || is_space(c)) => escaped = false,
                _ if escaped => return None,
                '"' => {
                    let text = self.rest.get(1..index);
                    self.rest = self.rest.get(index + 1..).unwrap_or_default();
                    return text;
                }
                '\\' => escaped = true,
                c if is_visible(c) || is_space(c) => {}
                _ => return None,
            }
        }
        None
    }

    fn atom(&mut self) -> Option<&'a str> {
        let end = self.rest.find(|c: char| !is_atom(c)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!atom.is_empty()).then_some(atom)
    }

    /// Dots stand alone, and inside.
    fn strict_atom(&mut self) -> Option<()> {
        let atom = self.atom()?;
        (!atom.split('.').any(str::is_empty)).then_some(())
    }

    fn literal(&mut self) -> Option<()> {
        let (text, rest) = self.rest.strip_prefix('[')?.split_once(']')?;
        self.rest = rest;
        (text.chars().all(|c| is_visible(c) && !matches!(c, '[' | '\\')) && net::is_ip(text)).then_some(())
    }

    fn name_comment(&mut self) -> Option<()> {
        self.take('(');
        let text = self.comment()?;
        let text = String::from_utf8_lossy(&text);
        (!text.split([' ', '\t']).any(|text| matches!(word(text), Word::Foreign))).then_some(())
    }

    fn skip_comments(&mut self) -> Option<()> {
        self.skip_space();
        while self.take('(') {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    /// Up to the parenthesis that closes; the first one is behind.
    fn comment(&mut self) -> Option<Vec<u8>> {
        let mut depth = 1;
        let mut text = Vec::new();
        let mut bytes = self.rest.bytes().enumerate().peekable();
        while let Some((index, byte)) = bytes.next() {
            let byte = match byte {
                b'\\' if bytes.peek().is_some() => bytes.next().map_or(byte, |(_, byte)| byte),
                b'(' => {
                    depth += 1;
                    byte
                }
                b')' => {
                    depth -= 1;
                    byte
                }
                byte => byte,
            };
            if depth == 0 {
                self.rest = self.rest.get(index + 1..).unwrap_or_default();
                return Some(text);
            }
            text.push(byte);
        }
        None
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

fn is_visible(c: char) -> bool {
    c.is_ascii_graphic() || !c.is_ascii()
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_atom(c: char) -> bool {
    is_visible(c) && !"()<>[]:;@\\,\"".contains(c)
}

/// What a word is, once it is decoded.
enum Word {
    Plain,
    /// An encoded word, and whether it is empty.
    Encoded(bool),
    /// An encoded word of characters that Go does not know.
    Foreign,
}

fn word(text: &str) -> Word {
    let inner = text.strip_prefix("=?").and_then(|text| text.strip_suffix("?="));
    let Some(inner) = inner.filter(|_| text.len() >= 8 && text.matches('?').count() == 4) else { return Word::Plain };
    let mut parts = inner.splitn(3, '?');
    let (Some(charset), Some(encoding), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
        return Word::Plain;
    };
    let decodes = match encoding {
        "B" | "b" => is_base64(text),
        "Q" | "q" => is_quoted_printable(text.as_bytes()),
        _ => false,
    };
    if charset.is_empty() || !decodes {
        return Word::Plain;
    }
    let known = ["utf-8", "iso-8859-1", "us-ascii"].iter().any(|known| charset.eq_ignore_ascii_case(known));
    if known { Word::Encoded(text.is_empty()) } else { Word::Foreign }
}

fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let padding = text.len() - bare.len();
    text.len().is_multiple_of(4)
        && padding <= 2
        && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

fn is_quoted_printable(text: &[u8]) -> bool {
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'=' => match rest {
                [high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest = after,
                _ => return false,
            },
            b' '..=b'~' | b'\n' | b'\r' | b'\t' => {}
            _ => return false,
        }
    }
    true
}
