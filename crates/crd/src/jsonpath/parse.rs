//! From text to steps.

use std::str::Chars;

use super::{End, List, Node, Slice};

/// The lists in the braces of a template; none if it is malformed.
pub(super) fn template(text: &str) -> Option<Vec<List>> {
    let mut parser = Parser { rest: text };
    let mut lists = Vec::new();
    while let Some((_, after)) = parser.rest.split_once('{') {
        parser.rest = after;
        lists.push(parser.action()?);
    }
    Some(lists)
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    /// Takes the text until a character at which to stop, or the end.
    fn until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// The steps up to a closing brace.
    fn action(&mut self) -> Option<List> {
        let mut list = List::new();
        loop {
            if let Some(after) = self.rest.strip_prefix('}') {
                self.rest = after;
                return Some(list);
            }
            if let Some(after) = self.rest.strip_prefix("[?(") {
                self.rest = after;
                list.push(self.filter()?);
                continue;
            }
            if let Some(after) = self.rest.strip_prefix("..") {
                if let Some(Node::Recursive) = list.last() {
                    return None;
                }
                self.rest = after;
                list.push(Node::Recursive);
                if self.peek().is_some_and(is_word) {
                    list.push(self.field());
                }
                continue;
            }
            match self.peek()? {
                '\r' | '\n' => return None,
                ' ' | '@' | '$' => {
                    self.next();
                }
                '[' => {
                    self.next();
                    list.extend(self.array()?);
                }
                quote @ ('"' | '\'') => {
                    self.next();
                    list.push(Node::Text(self.quoted(quote)?));
                }
                '.' => {
                    self.next();
                    list.push(self.field());
                }
                c if c == '+' || c == '-' || c.is_numeric() => list.push(self.number()?),
                c if is_word(c) => {
                    list.push(match self.until(is_terminator) {
                        "true" => Node::Bool(true),
                        "false" => Node::Bool(false),
                        _ => Node::Word,
                    });
                }
                _ => return None,
            }
        }
    }

    /// A name up to a terminator that is not escaped.
    fn field(&mut self) -> Node {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| !is_terminator(*c)) {
            self.next();
            if c == '\\' {
                // What is escaped may be a terminator; a backslash itself never stays.
                name.extend(self.next().filter(|c| *c != '\\'));
            } else {
                name.push(c);
            }
        }
        if name == "*" { Node::Wildcard } else { Node::Field(name) }
    }

    fn number(&mut self) -> Option<Node> {
        let start = self.rest;
        if let Some('+' | '-') = self.peek() {
            self.next();
        }
        self.until(|c| c != '.' && !c.is_numeric());
        let text = start.get(..start.len() - self.rest.len())?;
        if let Ok(int) = text.parse() {
            return Some(Node::Int(int));
        }
        text.parse().ok().filter(|_| text.bytes().any(|byte| byte.is_ascii_digit())).map(Node::Float)
    }

    /// After an opening bracket.
    fn array(&mut self) -> Option<List> {
        let text = self.until(|c| c == ']' || c == '\n');
        if self.next()? != ']' {
            return None;
        }
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 1 {
            let parse = |part: &&str| action(&format!("[{}]", part.trim_matches(' ')));
            return Some(vec![Node::Union(parts.iter().map(parse).collect::<Option<_>>()?)]);
        }
        if let Some(key) =
            text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).filter(|key| !key.contains('\''))
        {
            return action(&format!(".{key}"));
        }
        slice(if text == "*" { ":" } else { text }).map(|slice| vec![Node::Slice(slice)])
    }

    /// After `[?(`.
    fn filter(&mut self) -> Option<Node> {
        let text = self.rest;
        let mut open: Option<char> = None;
        let mut closed = false;
        let mut before = '(';
        loop {
            let c = self.next()?;
            match c {
                '\n' => return None,
                '"' | '\'' => match open {
                    None => open = Some(c),
                    Some(pair) if pair == c && before != '\\' => closed = true,
                    Some(_) => {}
                },
                ')' if open.is_some() == closed => break,
                _ => {}
            }
            before = c;
        }
        let text = text.get(..text.len() - self.rest.len() - 1)?;
        if self.next()? != ']' {
            return None;
        }
        let is_operator = |c: char| "!<>=".contains(c);
        let start = text.find(is_operator).filter(|start| *start > 0);
        let Some((left, rest)) = start.and_then(|start| text.split_at_checked(start)) else {
            return Some(exists(action(text)?));
        };
        let mut end = rest.find(|c| !is_operator(c)).unwrap_or(rest.len());
        if end == rest.len() {
            // Something must be left to compare with.
            end -= 1;
        }
        if end == 0 {
            return Some(exists(action(text)?));
        }
        let (operator, right) = rest.split_at_checked(end)?;
        Some(Node::Filter { left: action(left)?, operator: operator.to_owned(), right: action(right)? })
    }

    /// After an opening quote.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let text = self.rest;
        let mut before = quote;
        loop {
            let c = self.next()?;
            if c == '\n' {
                return None;
            }
            if c == quote && before != '\\' {
                break;
            }
            before = c;
        }
        unquote(text.get(..text.len() - self.rest.len() - 1)?, quote)
    }
}

fn exists(left: List) -> Node {
    Node::Filter { left, operator: "exists".to_owned(), right: List::new() }
}

/// The steps of a text without braces.
fn action(text: &str) -> Option<List> {
    template(&format!("{{{text}}}"))?.into_iter().next()
}

fn slice(text: &str) -> Option<Slice> {
    let mut parts = text.split(':');
    let number = |part: &str| if part.is_empty() { Some(None) } else { part.parse::<i64>().ok().map(Some) };
    let is_known = |part: &str| !part.starts_with('+');
    let start = parts.next().filter(|part| is_known(part))?;
    let (end, step) = (parts.next(), parts.next());
    if parts.next().is_some() || !end.is_none_or(is_known) || !step.is_none_or(is_known) {
        return None;
    }
    let start = number(start)?;
    let end = match end {
        None => End::Next(start.unwrap_or_default().checked_add(1)?),
        Some(end) => number(end)?.map_or(End::Open, End::At),
    };
    Some(Slice { start, end, step: step.map_or(Some(None), number)? })
}

/// A quoted text without its quotes, and what its escapes stand for.
fn unquote(text: &str, quote: char) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            c if c == quote => return None,
            '\\' => out.push(escaped(&mut rest, quote)?),
            c => out.push(c),
        }
    }
    Some(out)
}

fn escaped(rest: &mut Chars<'_>, quote: char) -> Option<char> {
    let c = rest.next()?;
    let (first, digits, base) = match c {
        'x' => (0, 2, 16),
        'u' => (0, 4, 16),
        'U' => (0, 8, 16),
        '0'..='7' => (c.to_digit(8)?, 2, 8),
        _ => {
            let plain = match c {
                'a' => '\x07',
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\x0b',
                c if c == '\\' || c == quote => c,
                _ => return None,
            };
            return Some(plain);
        }
    };
    let digit = |value: u32, c: char| value.checked_mul(base)?.checked_add(c.to_digit(base)?);
    let value = (0..digits).try_fold(first, |value, _| digit(value, rest.next()?))?;
    char::from_u32(value)
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_terminator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}
