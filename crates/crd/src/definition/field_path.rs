//! Paths to a field of a schema, such as `.spec.replicas` or `.spec['a b']`.

use super::props::{Additional, Props};

/// The field that a path leads to.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// The names on the way there.
    pub(super) steps: Vec<String>,
    /// Its schema; none where any value may be there.
    pub(super) schema: Option<Props<'a>>,
}

impl Found<'_> {
    /// The path as Kubernetes writes it.
    pub(super) fn text(&self) -> String {
        self.steps.concat()
    }
}

/// Follows a path from a schema, or says what is wrong with it. `brackets` allows names in brackets.
pub(super) fn follow<'a>(path: &str, schema: Props<'a>, brackets: bool) -> Result<Found<'a>, String> {
    let end = || "unexpected end of JSON path".to_owned();
    let mut found = Found { steps: Vec::new(), schema: Some(schema) };
    let mut rest = path;
    while let Some(token) = next_token(&mut rest) {
        match token {
            "." => {
                let name = next_token(&mut rest).ok_or_else(end)?;
                found.step(name)?;
            }
            "[" if !brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let token = next_token(&mut rest).ok_or_else(end)?;
                let quoted = token.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\''));
                let inner = quoted.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
                found.step(&unescape(inner)?)?;
                match next_token(&mut rest).ok_or_else(end)? {
                    "]" => {}
                    token => return Err(format!("expected ] but got {token}")),
                }
            }
            token => return Err(format!("expected [ or . but got: {token}")),
        }
    }
    Ok(found)
}

impl Found<'_> {
    fn step(&mut self, name: &str) -> Result<(), String> {
        let nowhere = || "does not refer to a valid field".to_owned();
        let schema = self.schema.ok_or_else(nowhere)?;
        if schema.filled("properties") {
            self.schema = Some(schema.property(name).ok_or_else(nowhere)?);
            let dot = if self.steps.is_empty() { "" } else { "." };
            self.steps.push(format!("{dot}{name}"));
        } else {
            self.schema = match schema.additional().ok_or_else(nowhere)? {
                Additional::Schema(schema) => Some(schema),
                Additional::Flag(_) => None,
            };
            self.steps.push(format!("[{name}]"));
        }
        Ok(())
    }
}

/// Takes a delimiter, a quoted text, or the text up to the next delimiter.
fn next_token<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let bytes = rest.as_bytes();
    let first = *bytes.first()?;
    let end = match first {
        b'.' | b'[' | b']' => 1,
        b'\'' => {
            let closing = (1..bytes.len()).find(|i| bytes.get(*i) == Some(&b'\'') && bytes.get(i - 1) != Some(&b'\\'));
            closing.map_or(bytes.len(), |closing| closing + 1)
        }
        _ => bytes.iter().position(|byte| matches!(byte, b'.' | b'[' | b']')).unwrap_or(bytes.len()),
    };
    let (token, after) = rest.split_at_checked(end)?;
    *rest = after;
    Some(token)
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    let mut fault = None;
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('a') => out.push('\x07'),
            Some('b') => out.push('\x08'),
            Some('f') => out.push('\x0c'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('v') => out.push('\x0b'),
            Some(c @ ('\'' | '\\')) => out.push(c),
            // Go's pattern does not match a line break, nor nothing.
            Some('\n') => out.push_str("\\\n"),
            None => out.push('\\'),
            Some(c) => fault = Some(format!("invalid string literal: invalid escape char \\{c}")),
        }
    }
    fault.map_or(Ok(out), Err)
}
