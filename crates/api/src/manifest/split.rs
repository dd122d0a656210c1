//! The documents of a text: YAML between lines of three dashes, or one JSON value after another.

use std::sync::Arc;

use serde_json::Value;

use super::{Manifest, Place, Problem};
use crate::document::{text, yaml};

/// All documents that hold something.
pub(super) fn documents(file: &str, bytes: &[u8], problems: &mut Vec<Problem>) -> Vec<Manifest> {
    let file: Arc<str> = file.into();
    let text = text::lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim_start().starts_with('{') {
        match json(&file, text) {
            Ok(documents) => return documents,
            Err(problem) if file.ends_with(".json") => {
                problems.push(problem);
                return Vec::new();
            }
            // It may still be YAML in the style of JSON.
            Err(_) => {}
        }
    }
    split(text).filter_map(|(first_line, text)| document(&file, first_line, text, problems)).collect()
}

fn json(file: &Arc<str>, text: &str) -> Result<Vec<Manifest>, Problem> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut documents = Vec::new();
    loop {
        let start = values.byte_offset();
        let Some(value) = values.next() else { return Ok(documents) };
        let object = value.map_err(|error| {
            let message = error.to_string();
            let message = message.split_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            Problem { line: Some(error.line()), ..Problem::of_file(file, format!("this is no JSON: {message}")) }
        })?;
        let (before, rest) = text.split_at(start);
        let written = rest.get(..values.byte_offset() - start).unwrap_or_default();
        let first_line = before.matches('\n').count() + 1;
        let place = Place { file: Arc::clone(file), text: written.into(), first_line, within: Vec::new() };
        documents.push(Manifest { object, place });
    }
}

/// The documents with the lines where they begin, from 1.
fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = Some((1, text));
    std::iter::from_fn(move || {
        let (first_line, text) = rest.take()?;
        let mut at = 0;
        for (line, written) in text.split_inclusive('\n').enumerate() {
            if line > 0 && separates(written) {
                let (document, after) = text.split_at(at);
                rest = Some((first_line + line, after));
                return Some((first_line, document));
            }
            at += written.len();
        }
        Some((first_line, text))
    })
}

/// Whether a document ends before this line.
fn separates(line: &str) -> bool {
    let marker = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
    marker.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

fn document(file: &Arc<str>, first_line: usize, text: &str, problems: &mut Vec<Problem>) -> Option<Manifest> {
    // The mark of an end belongs to no document.
    let text = if text.starts_with("...") { text.replacen("...", "", 1) } else { text.to_owned() };
    let at = |line: usize, message: String| Problem {
        line: Some(first_line + line.saturating_sub(1)),
        ..Problem::of_file(file, message)
    };
    let yaml = match yaml::parse(text.as_bytes()) {
        Ok(yaml) => yaml,
        Err(why) => {
            let why = why.strip_prefix("yaml: ").unwrap_or(&why);
            let (line, why) = of_line(why);
            problems.push(at(line, format!("this is no YAML: {why}")));
            return None;
        }
    };
    for twice in &yaml.duplicates {
        let (line, why) = of_line(twice);
        problems.push(at(line, why.to_owned()).hint("keep one of them"));
    }
    let object = match yaml.node.into_value() {
        Ok(Value::Null) => return None,
        Ok(object) => object,
        Err(number) => {
            problems.push(at(1, format!("the number `{number}` is too large")));
            return None;
        }
    };
    let place = Place { file: Arc::clone(file), text: text.into(), first_line, within: Vec::new() };
    Some(Manifest { object, place })
}

/// Takes `line 3: ` from the front of a message.
fn of_line(message: &str) -> (usize, &str) {
    let found = message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    found.and_then(|(line, rest)| Some((line.parse().ok()?, rest))).unwrap_or((1, message))
}
