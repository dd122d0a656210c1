//! Numbers and texts as Go writes them.

/// A float in the shortest general notation.
pub(crate) fn general(value: f64) -> String {
    if let Some(special) = special(value) {
        return special.to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0".to_owned() } else { "0".to_owned() };
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let Ok(exponent) = exponent.parse::<i32>() else { return scientific };
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// A float without exponent, in as many digits as it needs.
pub(crate) fn plain(value: f64) -> String {
    special(value).map_or_else(|| format!("{value}"), str::to_owned)
}

/// A text in quotes, with escapes for what cannot be printed.
pub(crate) fn quoted(text: &str) -> String {
    quoted_but(text, |c| c.is_ascii_graphic() || c == ' ' || (!c.is_ascii() && is_printable(c)))
}

/// A text in quotes, with escapes for what has a short one and what is not kept.
pub(crate) fn quoted_but(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            char if is_kept(char) => quoted.push(char),
            char if char.is_ascii() => push_hex(&mut quoted, 'x', char, 2),
            char if u32::from(char) < 0x10000 => push_hex(&mut quoted, 'u', char, 4),
            char => push_hex(&mut quoted, 'U', char, 8),
        }
    }
    quoted.push('"');
    quoted
}

fn push_hex(text: &mut String, kind: char, char: char, digits: usize) {
    text.extend(['\\', kind]);
    let hex = format!("{:0digits$x}", u32::from(char));
    text.push_str(&hex);
}

fn is_printable(char: char) -> bool {
    let is_space = char.is_whitespace() && char != ' ';
    let is_mark = matches!(
        char,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    let is_private = matches!(char, '\u{e000}'..='\u{f8ff}' | '\u{fffe}' | '\u{ffff}');
    !(char.is_control() || is_space || is_mark || is_private)
}
