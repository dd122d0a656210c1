//! The value of a quoted text.

const BAD: &str = "unable to unescape string";
const BAD_OCTAL: &str = "unable to unescape octal sequence in string";
const BAD_POINT: &str = "invalid unicode code point";

/// The bytes a literal stands for; the literal is as the lexer cut it, without the `b` of bytes.
pub(super) fn unescape(literal: &str, bytes: bool) -> Result<Vec<u8>, &'static str> {
    let literal = literal.replace("\r\n", "\n").replace('\r', "\n");
    let (raw, quoted) = match literal.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, literal.as_str()),
    };
    let inner = ["'''", "\"\"\""]
        .iter()
        .filter(|_| quoted.len() >= 6)
        .find_map(|quotes| quoted.strip_prefix(quotes)?.strip_suffix(quotes))
        .or_else(|| quoted.get(1..quoted.len().checked_sub(1)?))
        .ok_or(BAD)?;
    if raw || !inner.contains('\\') {
        return Ok(inner.as_bytes().to_vec());
    }
    let mut value = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        if char == '\\' {
            escape(&mut chars, bytes, &mut value)?;
        } else {
            push(&mut value, char);
        }
    }
    Ok(value)
}

fn push(value: &mut Vec<u8>, char: char) {
    value.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

fn escape(chars: &mut std::str::Chars<'_>, bytes: bool, value: &mut Vec<u8>) -> Result<(), &'static str> {
    let char = chars.next().ok_or("unable to unescape string, found '\\' as last character")?;
    let plain = match char {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => u8::try_from(char).map_err(|_| BAD)?,
        'x' | 'X' => return numbered(chars, 16, 2, 0, bytes, value, BAD),
        'u' if !bytes => return numbered(chars, 16, 4, 0, bytes, value, BAD),
        'U' if !bytes => return numbered(chars, 16, 8, 0, bytes, value, BAD),
        '0'..='3' => {
            let first = char.to_digit(8).ok_or(BAD_OCTAL)?;
            return numbered(chars, 8, 2, first, bytes, value, BAD_OCTAL);
        }
        _ => return Err(BAD),
    };
    value.push(plain);
    Ok(())
}

/// A code point (in bytes: a byte) by its number.
fn numbered(
    chars: &mut std::str::Chars<'_>,
    base: u32,
    digits: usize,
    first: u32,
    bytes: bool,
    value: &mut Vec<u8>,
    bad: &'static str,
) -> Result<(), &'static str> {
    let mut number = first;
    for _ in 0..digits {
        let digit = chars.next().and_then(|char| char.to_digit(base)).ok_or(bad)?;
        number = number.wrapping_mul(base) + digit;
    }
    if bytes {
        value.push(u8::try_from(number & 0xff).map_err(|_| bad)?);
    } else {
        push(value, char::from_u32(number).ok_or(BAD_POINT)?);
    }
    Ok(())
}
