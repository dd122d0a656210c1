//! Functions of texts.
use crate::value::text::quoted_but;
use crate::value::{Fault, Outcome, Value, fault};

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match (id, args) {
        ("list_join", [list]) => return Some(join(list, "")),
        ("list_join_string", [list, Value::String(separator)]) => return Some(join(list, separator)),
        ("contains_string" | "ends_with_string" | "starts_with_string", [one, two]) => {
            let (Value::String(one), Value::String(two)) = (one, two) else {
                return Some(crate::value::no_such_overload());
            };
            return Some(Ok(Value::Bool(match id {
                "contains_string" => one.contains(&**two),
                "ends_with_string" => one.ends_with(&**two),
                _ => one.starts_with(&**two),
            })));
        }
        _ => {}
    }
    let (Some(Value::String(text)), rest) = (args.first(), args.get(1..).unwrap_or_default()) else { return None };
    let text: &str = text;
    Some(match (id, rest) {
        ("string_char_at_int", [Value::Int(at)]) => char_at(text, *at),
        ("string_index_of_string", [Value::String(part)]) => index_of(text, part, 0),
        ("string_index_of_string_int", [Value::String(part), Value::Int(from)]) => index_of(text, part, *from),
        ("string_last_index_of_string", [Value::String(part)]) => {
            let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            if part.is_empty() {
                Ok(Value::Int(length))
            } else if text.len() < part.len() {
                Ok(Value::Int(-1))
            } else {
                last_index_of(text, part, length - 1)
            }
        }
        ("string_last_index_of_string_int", [Value::String(part), Value::Int(from)]) => {
            last_index_of(text, part, *from)
        }
        ("string_lower_ascii", []) => Ok(Value::text(text.to_ascii_lowercase())),
        ("string_upper_ascii", []) => Ok(Value::text(text.to_ascii_uppercase())),
        ("string_replace_string_string", [Value::String(old), Value::String(new)]) => Ok(replace(text, old, new, -1)),
        ("string_replace_string_string_int", [Value::String(old), Value::String(new), Value::Int(count)]) => {
            Ok(replace(text, old, new, *count))
        }
        ("string_split_string", [Value::String(separator)]) => Ok(split(text, separator, -1)),
        ("string_split_string_int", [Value::String(separator), Value::Int(count)]) => {
            Ok(split(text, separator, *count))
        }
        ("string_substring_int", [Value::Int(start)]) => substring(text, *start, None),
        ("string_substring_int_int", [Value::Int(start), Value::Int(end)]) => substring(text, *start, Some(*end)),
        ("string_trim", []) => Ok(Value::text(text.trim_matches(is_space))),
        ("strings_quote", []) => Ok(Value::text(quoted_but(text, |_| true))),
        _ => return None,
    })
}

/// What Go trims: the white space of Unicode.
fn is_space(char: char) -> bool {
    char.is_whitespace()
}

fn out_of_range<R>(at: i64) -> Result<R, Fault> {
    fault(format!("index out of range: {at}"))
}

fn char_at<'a>(text: &str, at: i64) -> Outcome<'a> {
    let length = text.chars().count();
    match usize::try_from(at) {
        Ok(index) if index <= length => Ok(Value::text(text.chars().nth(index).map(String::from).unwrap_or_default())),
        _ => out_of_range(at),
    }
}

fn number<'a>(at: Option<usize>) -> Value<'a> {
    Value::Int(at.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

/// The characters before a byte.
fn chars_before(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or_default().chars().count()
}

fn byte_of(text: &str, char: usize) -> Option<usize> {
    text.char_indices().map(|(at, _)| at).nth(char)
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<'a> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let Ok(start) = usize::try_from(from) else { return out_of_range(from) };
    let found = byte_of(text, start).and_then(|byte| text.get(byte..)?.find(part).map(|at| byte + at));
    Ok(number(found.map(|byte| chars_before(text, byte))))
}

fn last_index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<'a> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let Ok(start) = usize::try_from(from) else { return out_of_range(from) };
    let found = byte_of(text, start).and_then(|byte| {
        let end = byte.saturating_add(part.len()).min(text.len());
        // The end may fall into a character when the part is not the text there.
        let end = (end..=text.len()).find(|end| text.is_char_boundary(*end))?;
        text.get(..end)?.rmatch_indices(part).map(|(at, _)| at).find(|at| *at <= byte)
    });
    Ok(number(found.map(|byte| chars_before(text, byte))))
}

fn replace<'a>(text: &str, old: &str, new: &str, count: i64) -> Value<'a> {
    Value::text(match usize::try_from(count) {
        Ok(count) => text.replacen(old, new, count),
        Err(_) => text.replace(old, new),
    })
}

fn split<'a>(text: &str, separator: &str, count: i64) -> Value<'a> {
    if count == 0 {
        return Value::list(Vec::new());
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if !separator.is_empty() {
        return Value::strings(text.splitn(count, separator).map(str::to_owned));
    }
    let mut parts: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        if parts.len() + 1 == count {
            parts.push(rest.to_owned());
            break;
        }
        parts.push(char.to_string());
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
    }
    Value::strings(parts)
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> Outcome<'a> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let last = end.unwrap_or(length);
    if end.is_some() && start > last {
        return fault(format!("invalid substring range. start: {start}, end: {last}"));
    }
    for at in [start, last] {
        if !(0..=length).contains(&at) {
            return out_of_range(at);
        }
    }
    let skip = usize::try_from(start).unwrap_or(0);
    let take = usize::try_from(last - start).unwrap_or(0);
    Ok(Value::text(text.chars().skip(skip).take(take).collect::<String>()))
}

fn join<'a>(list: &Value<'a>, separator: &str) -> Outcome<'a> {
    let Value::List(list) = list else { return crate::value::no_such_overload() };
    let mut joined = String::new();
    for (at, item) in list.iter().enumerate() {
        if at > 0 {
            joined.push_str(separator);
        }
        match item? {
            Value::String(text) => joined.push_str(&text),
            other => return fault(format!("join: invalid input: {other}")),
        }
    }
    Ok(Value::text(joined))
}
