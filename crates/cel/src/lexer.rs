//! Tokens, and the errors of text that is none.
use crate::source::{Issues, Source};

/// The kinds of tokens, numbered as the grammar numbers them: expected tokens are told in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum T {
    Eof = 0,
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    LParen,
    RParen,
    Dot,
    Comma,
    Minus,
    Exclam,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float = 31,
    Int,
    Uint,
    String,
    Bytes,
    Ident,
    EscIdent,
}

/// How error messages call the kinds.
pub(crate) const NAMES: [(T, &str); 36] = [
    (T::Eof, "<EOF>"),
    (T::Equals, "'=='"),
    (T::NotEquals, "'!='"),
    (T::In, "'in'"),
    (T::Less, "'<'"),
    (T::LessEquals, "'<='"),
    (T::GreaterEquals, "'>='"),
    (T::Greater, "'>'"),
    (T::And, "'&&'"),
    (T::Or, "'||'"),
    (T::LBracket, "'['"),
    (T::RBracket, "']'"),
    (T::LBrace, "'{'"),
    (T::RBrace, "'}'"),
    (T::LParen, "'('"),
    (T::RParen, "')'"),
    (T::Dot, "'.'"),
    (T::Comma, "','"),
    (T::Minus, "'-'"),
    (T::Exclam, "'!'"),
    (T::Question, "'?'"),
    (T::Colon, "':'"),
    (T::Plus, "'+'"),
    (T::Star, "'*'"),
    (T::Slash, "'/'"),
    (T::Percent, "'%'"),
    (T::True, "'true'"),
    (T::False, "'false'"),
    (T::Null, "'null'"),
    (T::Float, "NUM_FLOAT"),
    (T::Int, "NUM_INT"),
    (T::Uint, "NUM_UINT"),
    (T::String, "STRING"),
    (T::Bytes, "BYTES"),
    (T::Ident, "IDENTIFIER"),
    (T::EscIdent, "ESC_IDENTIFIER"),
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: T,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Text that is no token.
pub(crate) struct NoToken {
    pub(crate) start: usize,
    pub(crate) end: usize,
    message: String,
}

/// How far a kind of token reaches, or the index of the character that ends the hope for one.
type Reach = Result<usize, usize>;

/// Cuts the text into tokens; what fits none is reported and skipped. The last token is the end.
pub(crate) fn tokens(source: &Source, issues: &mut Vec<NoToken>) -> Vec<Token> {
    let chars = source.chars();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match token(chars, at) {
            Ok((kind, end)) => {
                if let Some(kind) = kind {
                    tokens.push(Token { kind, start: at, end });
                }
                at = end;
            }
            Err(stop) => {
                let text = source.slice(at, stop + 1);
                issues.push(NoToken {
                    start: at,
                    end: stop + 1,
                    message: format!("token recognition error at: '{text}'"),
                });
                at = stop + 1;
            }
        }
    }
    tokens.push(Token { kind: T::Eof, start: chars.len(), end: chars.len() });
    tokens
}

/// A text on one line, as the messages show it.
pub(crate) fn plain(text: &str) -> String {
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// The longest token at a place; none for what is not told to the parser.
fn token(chars: &[char], at: usize) -> Result<(Option<T>, usize), usize> {
    let peek = |ahead: usize| chars.get(at + ahead).copied();
    let first = peek(0).ok_or(at)?;
    let one = |kind| Ok((Some(kind), at + 1));
    let pair = |second: char, kind: T, single: Option<T>| match (peek(1), single) {
        (Some(next), _) if next == second => Ok((Some(kind), at + 2)),
        (_, Some(single)) => Ok((Some(single), at + 1)),
        _ => Err(at + 1),
    };
    match first {
        '\t' | ' ' | '\r' | '\n' | '\u{c}' => {
            Ok((None, run(chars, at, |char| matches!(char, '\t' | ' ' | '\r' | '\n' | '\u{c}'))))
        }
        '/' if peek(1) == Some('/') => Ok((None, run(chars, at, |char| char != '\n'))),
        '/' => one(T::Slash),
        '=' => pair('=', T::Equals, None),
        '!' => pair('=', T::NotEquals, Some(T::Exclam)),
        '<' => pair('=', T::LessEquals, Some(T::Less)),
        '>' => pair('=', T::GreaterEquals, Some(T::Greater)),
        '&' => pair('&', T::And, None),
        '|' => pair('|', T::Or, None),
        '[' => one(T::LBracket),
        ']' => one(T::RBracket),
        '{' => one(T::LBrace),
        '}' => one(T::RBrace),
        '(' => one(T::LParen),
        ')' => one(T::RParen),
        ',' => one(T::Comma),
        '-' => one(T::Minus),
        '?' => one(T::Question),
        ':' => one(T::Colon),
        '+' => one(T::Plus),
        '*' => one(T::Star),
        '%' => one(T::Percent),
        '.' if !peek(1).is_some_and(|char| char.is_ascii_digit()) => one(T::Dot),
        '.' | '0'..='9' => {
            let (kind, end) = number(chars, at);
            Ok((Some(kind), end))
        }
        '"' | '\'' => quoted(chars, at, false).map(|end| (Some(T::String), end)),
        '`' => escaped_identifier(chars, at).map(|end| (Some(T::EscIdent), end)),
        'a'..='z' | 'A'..='Z' | '_' => Ok(word(chars, at)),
        _ => Err(at),
    }
}

fn run(chars: &[char], at: usize, belongs: impl Fn(char) -> bool) -> usize {
    at + chars.iter().skip(at).take_while(|char| belongs(**char)).count()
}

fn digits(chars: &[char], at: usize) -> usize {
    run(chars, at, |char| char.is_ascii_digit())
}

/// The end of an exponent at a place, when one is there.
fn exponent(chars: &[char], at: usize) -> Option<usize> {
    matches!(chars.get(at), Some('e' | 'E')).then_some(())?;
    let sign = usize::from(matches!(chars.get(at + 1), Some('+' | '-')));
    let end = digits(chars, at + 1 + sign);
    (end > at + 1 + sign).then_some(end)
}

fn number(chars: &[char], at: usize) -> (T, usize) {
    let unsigned = |end: usize| matches!(chars.get(end), Some('u' | 'U'));
    if chars.get(at) == Some(&'0') && chars.get(at + 1) == Some(&'x') {
        let end = run(chars, at + 2, |char| char.is_ascii_hexdigit());
        if end > at + 2 {
            return if unsigned(end) { (T::Uint, end + 1) } else { (T::Int, end) };
        }
    }
    let whole = digits(chars, at);
    if chars.get(whole) == Some(&'.') {
        let end = digits(chars, whole + 1);
        if end > whole + 1 {
            return (T::Float, exponent(chars, end).unwrap_or(end));
        }
    }
    if let Some(end) = exponent(chars, whole) {
        return (T::Float, end);
    }
    if unsigned(whole) { (T::Uint, whole + 1) } else { (T::Int, whole) }
}

fn word(chars: &[char], at: usize) -> (Option<T>, usize) {
    if let Some(end) = prefixed(chars, at) {
        let bytes = matches!(chars.get(at), Some('b' | 'B'));
        return (Some(if bytes { T::Bytes } else { T::String }), end);
    }
    let end = run(chars, at, |char| char.is_ascii_alphanumeric() || char == '_');
    let text: String = chars.get(at..end).unwrap_or_default().iter().collect();
    let kind = match text.as_str() {
        "in" => T::In,
        "true" => T::True,
        "false" => T::False,
        "null" => T::Null,
        _ => T::Ident,
    };
    (Some(kind), end)
}

/// The end of a text with prefixes such as `r` and `b`; an unfinished one is a word and a quote.
fn prefixed(chars: &[char], at: usize) -> Option<usize> {
    let bytes = usize::from(matches!(chars.get(at), Some('b' | 'B')));
    let raw = usize::from(matches!(chars.get(at + bytes), Some('r' | 'R')));
    let quote = at + bytes + raw;
    (bytes + raw > 0 && matches!(chars.get(quote), Some('"' | '\''))).then_some(())?;
    quoted(chars, quote, raw == 1).ok()
}

/// The end of a text in quotes.
fn quoted(chars: &[char], at: usize, raw: bool) -> Reach {
    let quote = *chars.get(at).ok_or(at)?;
    let is_quote = |index: usize| chars.get(index) == Some(&quote);
    if is_quote(at + 1) && is_quote(at + 2) {
        // Without its end, three quotes are an empty text and the start of another.
        return Ok(tripled(chars, at + 3, quote, raw).unwrap_or(at + 2));
    }
    let mut index = at + 1;
    loop {
        match chars.get(index) {
            Some(char) if *char == quote => return Ok(index + 1),
            None | Some('\n' | '\r') => return Err(index),
            Some('\\') if !raw => index = escape(chars, index)?,
            Some(_) => index += 1,
        }
    }
}

fn tripled(chars: &[char], at: usize, quote: char, raw: bool) -> Option<usize> {
    let mut index = at;
    loop {
        let char = *chars.get(index)?;
        if char == quote && chars.get(index + 1) == Some(&quote) && chars.get(index + 2) == Some(&quote) {
            return Some(index + 3);
        }
        index = if char == '\\' && !raw { escape(chars, index).ok()? } else { index + 1 };
    }
}

/// The end of an escape sequence.
fn escape(chars: &[char], at: usize) -> Reach {
    let hex = |count: usize| {
        (at + 2..at + 2 + count).try_fold(at + 2, |_, index| {
            if chars.get(index).is_some_and(char::is_ascii_hexdigit) { Ok(index + 1) } else { Err(index) }
        })
    };
    match chars.get(at + 1) {
        Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`') => Ok(at + 2),
        Some('x' | 'X') => hex(2),
        Some('u') => hex(4),
        Some('U') => hex(8),
        Some('0'..='3') => (at + 2..at + 4).try_fold(at + 2, |_, index| {
            if matches!(chars.get(index), Some('0'..='7')) { Ok(index + 1) } else { Err(index) }
        }),
        _ => Err(at + 1),
    }
}

fn escaped_identifier(chars: &[char], at: usize) -> Reach {
    let end = run(chars, at + 1, |char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-' | '/' | ' '));
    if end > at + 1 && chars.get(end) == Some(&'`') { Ok(end + 1) } else { Err(end) }
}

/// Reports what the lexer found.
pub(crate) fn report(found: &[NoToken], source: &Source, issues: &mut Issues) {
    for NoToken { start, message, .. } in found {
        issues.report(source.location(u32::try_from(*start).unwrap_or(u32::MAX)), format!("Syntax error: {message}"));
    }
}
