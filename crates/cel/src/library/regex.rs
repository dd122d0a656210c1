//! Regular expressions.
use crate::regexp;
use crate::value::{Fault, Outcome, Value, fault, no_such_overload};

/// A compiled pattern.
pub(crate) type Pattern = ::regex::Regex;

/// Compiles a pattern of Go.
pub(crate) fn compile(pattern: &str) -> Result<Pattern, Fault> {
    regexp::compile(pattern).map_err(Fault::from)
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
