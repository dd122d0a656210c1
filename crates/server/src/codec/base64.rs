//! Base64 as Go's standard encoding reads it: line breaks are skipped, and errors say where.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The same bytes in canonical form.
pub(super) fn canonical(text: &str) -> Result<String, String> {
    let bytes = decode(text.as_bytes()).map_err(|at| format!("illegal base64 data at input byte {at}"))?;
    Ok(encode(&bytes))
}

/// Bytes as text.
pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes; the error is where they are wrong.
pub(super) fn decode(src: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(src.len() / 4 * 3);
    let mut at = 0;
    let (mut bits, mut held) = (0_u32, 0_usize);
    while let Some(&byte) = src.get(at) {
        at += 1;
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'\n' | b'\r' => continue,
            b'=' if held >= 2 => {
                padding(src, at, held)?;
                for shift in [16, 8].into_iter().take(held - 1) {
                    out.push(((bits << (6 * (4 - held))) >> shift & 0xff) as u8);
                }
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
    if held == 0 { Ok(out) } else { Err(src.len() - held) }
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
}
