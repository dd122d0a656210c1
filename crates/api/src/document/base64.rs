//! Base64 as Go reads it: line breaks are skipped, and errors say where.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The same bytes in canonical form.
pub fn canonical(text: &str) -> Result<String, String> {
    let bytes = decode(text.as_bytes()).map_err(illegal)?;
    Ok(encode(&bytes))
}

/// The bytes of a text in the alphabet for URLs, without padding.
pub fn from_url(text: &str) -> Result<Vec<u8>, String> {
    read(text.as_bytes(), Alphabet::Url).map_err(illegal)
}

fn illegal(at: usize) -> String {
    format!("illegal base64 data at input byte {at}")
}

/// Bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes; the error is where they are wrong.
pub fn decode(src: &[u8]) -> Result<Vec<u8>, usize> {
    read(src, Alphabet::Standard)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// With padding.
    Standard,
    /// Without.
    Url,
}

fn read(src: &[u8], alphabet: Alphabet) -> Result<Vec<u8>, usize> {
    let standard = alphabet == Alphabet::Standard;
    let mut out = Vec::with_capacity(src.len() / 4 * 3);
    let mut at = 0;
    let (mut bits, mut held) = (0_u32, 0_usize);
    while let Some(&byte) = src.get(at) {
        at += 1;
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' if standard => 62,
            b'/' if standard => 63,
            b'-' if !standard => 62,
            b'_' if !standard => 63,
            b'\n' | b'\r' => continue,
            b'=' if standard && held >= 2 => {
                padding(src, at, held)?;
                rest(&mut out, bits, held);
                return Ok(out);
            }
            _ => return Err(at - 1),
        };
        bits = bits << 6 | u32::from(six);
        held += 1;
        if held == 4 {
            out.extend_from_slice(bits.to_be_bytes().get(1..).unwrap_or_default());
            (bits, held) = (0, 0);
        }
    }
    match held {
        0 => Ok(out),
        2 | 3 if !standard => {
            rest(&mut out, bits, held);
            Ok(out)
        }
        _ => Err(src.len() - held),
    }
}

/// The bytes of two or three letters at the end.
fn rest(out: &mut Vec<u8>, bits: u32, held: usize) {
    for shift in [16, 8].into_iter().take(held - 1) {
        out.push(((bits << (6 * (4 - held))) >> shift & 0xff) as u8);
    }
}

/// Checks what follows the first `=`.
fn padding(src: &[u8], mut at: usize, held: usize) -> Result<(), usize> {
    let line_break = |at: usize| matches!(src.get(at), Some(b'\n' | b'\r'));
    if held == 2 {
        while line_break(at) {
            at += 1;
        }
        match src.get(at) {
            None => return Err(src.len()),
            Some(b'=') => at += 1,
            Some(_) => return Err(at - 1),
        }
    }
    while line_break(at) {
        at += 1;
    }
    if at < src.len() { Err(at) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        for (text, want) in [
            ("", Ok("")),
            ("aGk=", Ok("aGk=")),
            ("aG\nk=\r\n", Ok("aGk=")),
            ("YQ=\n=", Ok("YQ==")),
            ("YR==", Ok("YQ==")),
            ("aGVsbG8h", Ok("aGVsbG8h")),
            ("a", Err(0)),
            ("aGVsb", Err(4)),
            ("aGVsbG", Err(4)),
            ("!", Err(0)),
            ("=", Err(0)),
            ("YQ=", Err(3)),
            ("YQ=a", Err(2)),
            ("YQ==a", Err(4)),
        ] {
            let want = want.map(str::to_owned).map_err(|at| format!("illegal base64 data at input byte {at}"));
            assert_eq!(canonical(text), want, "{text}");
        }
    }

    #[test]
    fn reads_what_go_reads_of_urls() {
        for (text, want) in [
            ("", Ok(&b""[..])),
            ("aGk", Ok(b"hi")),
            ("YR", Ok(b"a")),
            ("_-\n8", Ok(&[0xff, 0xef])),
            ("aGk=", Err(3)),
            ("a/", Err(1)),
            ("{{x}}", Err(0)),
            ("aGVsb", Err(4)),
        ] {
            assert_eq!(from_url(text), want.map(<[u8]>::to_vec).map_err(illegal), "{text}");
        }
    }
}
