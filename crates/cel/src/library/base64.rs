//! Base64 of the alphabet for addresses, with padding.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The bytes a text stands for. Ends of lines do not count.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bits: u32 = 0;
    let mut count = 0;
    let mut padding = 0;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for byte in text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')) {
        if byte == b'=' {
            padding += 1;
            continue;
        }
        let value = ALPHABET.iter().position(|known| *known == byte)?;
        (padding == 0).then_some(())?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        count += 1;
        if count % 4 == 0 {
            bytes.extend_from_slice(bits.to_be_bytes().get(1..)?);
            bits = 0;
        }
    }
    match (count % 4, padding) {
        (0, 0) => {}
        (2, 2) => bytes.push(u8::try_from(bits >> 4).ok()?),
        (3, 1) => bytes.extend_from_slice((bits >> 2).to_be_bytes().get(2..)?),
        _ => return None,
    }
    Some(bytes)
}
