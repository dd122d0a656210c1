//! Classes of characters.

use super::{BRACKET, Fault, Parser, RANGE, escape, taken};

const NAMED: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// A class such as `\d`, which means ASCII in Go.
pub(super) fn perl(letter: char) -> Option<&'static str> {
    Some(match letter {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => r"[\t\n\x0C\r ]",
        'S' => r"[^\t\n\x0C\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        _ => return None,
    })
}

/// A class such as `\p{Greek}`, and what follows it.
pub(super) fn unicode(text: &str) -> Result<(String, &str), Fault> {
    let letter = text.chars().nth(1).unwrap_or('p');
    let after = text.get(2..).unwrap_or_default();
    let (name, rest) = match after.chars().next() {
        None => return Err(("invalid UTF-8", String::new())),
        Some('{') => {
            let Some(end) = after.find('}') else { return Err((RANGE, text.to_owned())) };
            (after.get(1..end).unwrap_or_default(), after.get(end + 1..).unwrap_or_default())
        }
        Some(c) => after.split_at_checked(c.len_utf8()).unwrap_or((after, "")),
    };
    let (known, negated) = name.strip_prefix('^').map_or((name, false), |known| (known, true));
    let letter = match (letter, negated) {
        (letter, false) => letter,
        ('p', true) => 'P',
        (_, true) => 'p',
    };
    let class = match known {
        "Any" if letter == 'p' => r"[\s\S]".to_owned(),
        "Any" => r"[^\s\S]".to_owned(),
        known if known.chars().count() == 1 => format!("\\{letter}{known}"),
        known => format!("\\{letter}{{{known}}}"),
    };
    let is_name = !known.is_empty() && known.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_- ".contains(&byte));
    if is_name && regex::Regex::new(&class).is_ok() { Ok((class, rest)) } else { Err((RANGE, taken(text, rest))) }
}

impl Parser<'_> {
    pub(super) fn class(&mut self) -> Result<(), Fault> {
        let whole = self.rest;
        let mut rest = whole.get(1..).unwrap_or_default();
        let mut out = String::from("[");
        if let Some(after) = rest.strip_prefix('^') {
            rest = after;
            out.push('^');
        }
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            if let Some((class, after)) = named(rest)? {
                out.push_str(class);
                rest = after;
            } else if rest.starts_with(r"\p") || rest.starts_with(r"\P") {
                let (class, after) = unicode(rest)?;
                out.push_str(&class);
                rest = after;
            } else if let Some(class) = rest.strip_prefix('\\').and_then(|after| perl(after.chars().next()?)) {
                out.push_str(
                    class
                        .strip_prefix("[")
                        .and_then(|inner| inner.strip_suffix(']'))
                        .filter(|inner| !inner.starts_with('^'))
                        .unwrap_or(class),
                );
                rest = rest.get(2..).unwrap_or_default();
            } else {
                let (range, after) = range(rest, whole)?;
                out.push_str(&range);
                rest = after;
            }
        }
        out.push(']');
        self.rest = rest.get(1..).unwrap_or_default();
        self.leaf(&out)
    }
}

/// `[:alpha:]` and the like, within a class.
fn named(text: &str) -> Result<Option<(&str, &str)>, Fault> {
    let Some(inner) = text.strip_prefix("[:").filter(|inner| !inner.is_empty()) else { return Ok(None) };
    let Some((name, after)) = inner.split_once(":]") else { return Ok(None) };
    let shown = text.get(..text.len() - after.len()).unwrap_or_default();
    if NAMED.contains(&name.strip_prefix('^').unwrap_or(name)) {
        Ok(Some((shown, after)))
    } else {
        Err((RANGE, shown.to_owned()))
    }
}

/// A character or a range of them, within the class `whole`.
fn range<'a>(text: &'a str, whole: &str) -> Result<(String, &'a str), Fault> {
    let (low, mut rest) = character(text, whole)?;
    let mut high = low;
    if let Some(after) = rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']')) {
        (high, rest) = character(after, whole)?;
        if high < low {
            return Err((RANGE, taken(text, rest)));
        }
    }
    let written = match (low, high) {
        (Some(low), Some(high)) if low == high => escape::literal(low),
        (Some(low), Some(high)) => format!("{}-{}", escape::literal(low), escape::literal(high)),
        _ => String::new(),
    };
    Ok((written, rest))
}

fn character<'a>(text: &'a str, whole: &str) -> Result<(Option<char>, &'a str), Fault> {
    match text.chars().next() {
        None => Err((BRACKET, whole.to_owned())),
        Some('\\') => escape::character(text),
        Some(c) => Ok((Some(c), text.get(c.len_utf8()..).unwrap_or_default())),
    }
}
