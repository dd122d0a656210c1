//! Regular expressions.
use regex::{Regex, RegexBuilder};

use crate::value::{Fault, Outcome, Value, fault, no_such_overload};

/// A compiled pattern.
pub(crate) type Pattern = Regex;

/// Larger patterns are refused; Go's limit is on the size of the program as well.
const LARGEST: usize = 10 * 1024 * 1024;
/// So often a part may be repeated.
const MOST_REPEATS: u32 = 1000;

/// Compiles a pattern of RE2; what the two dialects read differently is translated or refused.
pub(crate) fn compile(pattern: &str) -> Result<Pattern, Fault> {
    let failed = |why: &str, part: &str| Fault::from(format!("error parsing regexp: {why}: `{part}`"));
    let translated = translate(pattern).map_err(|(why, part)| failed(why, &part))?;
    RegexBuilder::new(&translated).size_limit(LARGEST).build().map_err(|error| {
        let text = error.to_string();
        let why = if text.contains("unclosed group") {
            "missing closing )"
        } else if text.contains("unopened group") {
            "unexpected )"
        } else if text.contains("unclosed character class") {
            "missing closing ]"
        } else if text.contains("repetition operator missing expression") {
            "missing argument to repetition operator"
        } else if text.contains("look-around") {
            "invalid or unsupported Perl syntax"
        } else if text.contains("invalid character class range") {
            "invalid character class range"
        } else {
            "invalid escape sequence"
        };
        let part = match why {
            "missing closing ]" => pattern.find('[').and_then(|at| pattern.get(at..)).unwrap_or(pattern),
            "missing argument to repetition operator" => pattern.get(..1).unwrap_or(pattern),
            "invalid or unsupported Perl syntax" => {
                pattern.find("(?").and_then(|at| pattern.get(at..at + 3)).unwrap_or(pattern)
            }
            _ => pattern,
        };
        failed(why, part)
    })
}

/// Go's `\z` and `\Q...\E`, its ASCII classes, and its limits.
fn translate(pattern: &str) -> Result<String, (&'static str, String)> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.char_indices().peekable();
    let mut in_class = false;
    let mut class_start = 0;
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => {
                let Some((_, next)) = chars.next() else {
                    return Err(("trailing backslash at end of expression", String::new()));
                };
                match next {
                    // Perl's classes are of ASCII in RE2.
                    'd' => out.push_str(if in_class { "0-9" } else { "[0-9]" }),
                    'D' => out.push_str("[^0-9]"),
                    'w' => out.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                    'W' => out.push_str("[^0-9A-Za-z_]"),
                    's' => out.push_str(if in_class { "\\t\\n\\x0C\\r " } else { "[\\t\\n\\x0C\\r ]" }),
                    'S' => out.push_str("[^\\t\\n\\x0C\\r ]"),
                    'b' if !in_class => out.push_str("(?-u:\\b)"),
                    'B' if !in_class => out.push_str("(?-u:\\B)"),
                    'A' | 'z' if !in_class => out.extend(['\\', next]),
                    'C' if !in_class => out.push_str("(?s:.)"),
                    'Q' => {
                        let rest = pattern.get(at + 2..).unwrap_or_default();
                        let quoted = rest.split("\\E").next().unwrap_or_default();
                        out.push_str(&regex::escape(quoted));
                        let end = at + 2 + quoted.len() + if rest.len() > quoted.len() { 2 } else { 0 };
                        while chars.peek().is_some_and(|(next, _)| *next < end) {
                            chars.next();
                        }
                    }
                    'a' => out.push_str("\\x07"),
                    'f' => out.push_str("\\x0C"),
                    'v' => out.push_str("\\x0B"),
                    't' | 'n' | 'r' | 'x' | 'p' | 'P' => out.extend(['\\', next]),
                    '0'..='7' => out.push_str(&octal(next, &mut chars)?),
                    next if next.is_ascii_alphanumeric() => {
                        return Err(("invalid escape sequence", format!("\\{next}")));
                    }
                    next if next.is_ascii() => {
                        out.push_str(&regex::escape(&next.to_string()));
                    }
                    next => return Err(("invalid escape sequence", format!("\\{next}"))),
                }
            }
            '[' if in_class => {
                if pattern.get(at..).is_some_and(|rest| rest.starts_with("[:") && rest.contains(":]")) {
                    out.push('[');
                    let end = pattern.get(at..).and_then(|rest| rest.find(":]")).map_or(at, |end| at + end + 2);
                    while let Some((_, inner)) = chars.next_if(|(next, _)| *next < end) {
                        out.push(inner);
                    }
                } else {
                    out.push_str("\\[");
                }
            }
            '[' => {
                in_class = true;
                class_start = at;
                out.push('[');
                if chars.next_if(|(_, next)| *next == '^').is_some() {
                    out.push('^');
                }
                // A closing bracket that comes first is a member.
                if chars.next_if(|(_, next)| *next == ']').is_some() {
                    out.push_str("\\]");
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // What the other dialect reads as operations on classes.
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(char);
            }
            ']' => out.push_str("\\]"),
            '{' if !in_class => match repeat(pattern.get(at..).unwrap_or_default()) {
                Some((text, least, most)) => {
                    if least > MOST_REPEATS || most.is_some_and(|most| most > MOST_REPEATS || least > most) {
                        return Err(("invalid repeat count", text.to_owned()));
                    }
                    out.push('{');
                }
                None => out.push_str("\\{"),
            },
            '}' if !in_class && !closes_repeat(pattern, at) => out.push_str("\\}"),
            '$' if !in_class => out.push_str("\\z"),
            char => out.push(char),
        }
    }
    if in_class {
        return Err(("missing closing ]", pattern.get(class_start..).unwrap_or_default().to_owned()));
    }
    Ok(out)
}

type Chars<'p> = std::iter::Peekable<std::str::CharIndices<'p>>;

fn octal(first: char, chars: &mut Chars<'_>) -> Result<String, (&'static str, String)> {
    let is_octal = |char: char| ('0'..='7').contains(&char);
    if first != '0' && !chars.peek().is_some_and(|(_, next)| is_octal(*next)) {
        return Err(("invalid escape sequence", format!("\\{first}")));
    }
    let mut value = first.to_digit(8).unwrap_or(0);
    for _ in 0..2 {
        let Some((_, next)) = chars.next_if(|(_, next)| is_octal(*next)) else { break };
        value = value * 8 + next.to_digit(8).unwrap_or(0);
    }
    Ok(format!("\\x{{{value:x}}}"))
}

/// A repeat count at the start of a text, with its bounds.
fn repeat(text: &str) -> Option<(&str, u32, Option<u32>)> {
    let end = text.find('}')?;
    let inner = text.get(1..end)?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u32>().unwrap_or(u32::MAX))
    };
    let (least, most) = match inner.split_once(',') {
        Some((least, "")) => (number(least)?, None),
        Some((least, most)) => (number(least)?, Some(number(most)?)),
        None => (number(inner)?, Some(number(inner)?)),
    };
    Some((text.get(..=end)?, least, most))
}

fn closes_repeat(pattern: &str, at: usize) -> bool {
    let start = pattern.get(..at).and_then(|before| before.rfind('{'));
    start.and_then(|start| pattern.get(start..)).is_some_and(|text| {
        repeat(text).is_some_and(|(text, ..)| start.is_some_and(|start| start + text.len() == at + 1))
    })
}

/// `matches`, `find` and `findAll` with a compiled pattern.
pub(crate) fn call<'a>(function: &str, pattern: &Pattern, text: &str, limit: Option<&Value<'_>>) -> Outcome<'a> {
    Ok(match function {
        "matches" => Value::Bool(pattern.is_match(text)),
        "find" => Value::text(pattern.find(text).map_or("", |found| found.as_str())),
        _ => {
            let limit = match limit {
                None => usize::MAX,
                Some(Value::Int(limit)) => usize::try_from(*limit).unwrap_or(usize::MAX),
                Some(_) => return no_such_overload(),
            };
            Value::strings(pattern.find_iter(text).take(limit).map(|found| found.as_str().to_owned()))
        }
    })
}

/// `find` and `findAll` with a pattern that is only known now.
pub(super) fn dynamic<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let (function, text, pattern, limit) = match (id, args) {
        ("string_find_string", [Value::String(text), Value::String(pattern)]) => ("find", text, pattern, None),
        ("string_find_all_string", [Value::String(text), Value::String(pattern)]) => ("findAll", text, pattern, None),
        ("string_find_all_string_int", [Value::String(text), Value::String(pattern), limit]) => {
            ("findAll", text, pattern, Some(limit))
        }
        _ => return None,
    };
    Some(match compile(pattern) {
        Ok(pattern) => call(function, &pattern, text, limit),
        Err(error) => fault(format!("Illegal regex: {error}")),
    })
}
