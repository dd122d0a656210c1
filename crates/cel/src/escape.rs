//! Names of properties as names of fields.

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a name means something else in expressions.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Whether expressions can have a variable of this name.
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !is_reserved(name)
}

/// The field's name of a property, when the property can be named.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix("__") {
            escaped.push_str("__underscores__");
            rest = tail;
            continue;
        }
        match char {
            '.' => escaped.push_str("__dot__"),
            '-' => escaped.push_str("__dash__"),
            '/' => escaped.push_str("__slash__"),
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => escaped.push(char),
            _ => return None,
        }
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
    }
    Some(escaped)
}

/// The property a field's name stands for, when it is well escaped.
pub fn unescape(field: &str) -> Option<String> {
    let mut plain = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(start) = rest.find("__") {
        let (before, from) = rest.split_at(start);
        plain.push_str(before);
        let inner = from.get(2..).unwrap_or_default();
        let word = inner.split('_').next().unwrap_or_default();
        let after = inner.get(word.len()..).unwrap_or_default();
        // Without a word between them, underscores stand for themselves; the search goes on one further.
        if word.is_empty() || !after.starts_with("__") {
            plain.push('_');
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        match word {
            "underscores" => plain.push_str("__"),
            "dot" => plain.push('.'),
            "dash" => plain.push('-'),
            "slash" => plain.push('/'),
            word if RESERVED.contains(&word) && word.len() + 4 == field.len() => plain.push_str(word),
            _ => return None,
        }
        rest = after.get(2..).unwrap_or_default();
    }
    plain.push_str(rest);
    Some(plain)
}
