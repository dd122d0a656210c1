//! Addresses of networks, as Go reads them: strictly, or as it did before 1.17, with zeros in front.

/// As `net.ParseIP` takes it.
pub(super) fn is_ip(text: &str) -> bool {
    match text.bytes().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
        Some(b'.') => is_v4(text.as_bytes(), false),
        Some(b':') => is_v6(text.as_bytes(), false),
        _ => false,
    }
}

/// The same, as Go did it before 1.17.
pub(super) fn is_sloppy_ip(text: &str) -> bool {
    match text.bytes().find(|byte| matches!(byte, b'.' | b':')) {
        Some(b'.') => is_v4(text.as_bytes(), true),
        Some(b':') => is_v6(text.as_bytes(), true),
        _ => false,
    }
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = if is_v4(address.as_bytes(), true) {
        32
    } else if is_v6(address.as_bytes(), true) {
        128
    } else {
        return false;
    };
    matches!(decimal(length.as_bytes()), Some((number, [])) if number <= most)
}

/// Six, eight or twenty bytes, by pairs of digits, by four of them or all in one.
pub(super) fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |group: &[u8], length: usize| group.len() == length && group.iter().all(u8::is_ascii_hexdigit);
    let (separator, length) = match (bytes.get(2), bytes.get(4)) {
        (Some(b':'), _) => (b':', 2),
        (Some(b'-'), _) => (b'-', 2),
        (_, Some(b'.')) => (b'.', 4),
        _ => return matches!(bytes.len(), 12 | 16 | 40) && digits(bytes, bytes.len()),
    };
    let mut groups = 0;
    for group in bytes.split(|byte| *byte == separator) {
        if !digits(group, length) {
            return false;
        }
        groups += 1;
    }
    matches!(groups * length / 2, 6 | 8 | 20)
}

fn is_v4(text: &[u8], sloppy: bool) -> bool {
    let mut parts = 0;
    for part in text.split(|byte| *byte == b'.') {
        let padded = part.len() > 1 && part.starts_with(b"0");
        if !matches!(decimal(part), Some((0..=255, []))) || (padded && !sloppy) {
            return false;
        }
        parts += 1;
    }
    parts == 4
}

fn is_v6(text: &[u8], sloppy: bool) -> bool {
    let mut rest = text;
    let mut shortened = false;
    if let Some(after) = rest.strip_prefix(b"::") {
        shortened = true;
        rest = after;
        if rest.is_empty() {
            return true;
        }
    }
    let mut length = 0;
    while length < 16 {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let (group, after) = rest.split_at(digits);
        if after.first() == Some(&b'.') {
            if (!shortened && length != 12) || length + 4 > 16 || !is_v4(rest, sloppy) {
                return false;
            }
            (length, rest) = (length + 4, &[]);
            break;
        }
        let zeros = group.iter().take_while(|byte| **byte == b'0').count();
        if group.is_empty() || group.len() - zeros > 4 || (group.len() > 4 && !sloppy) {
            return false;
        }
        length += 2;
        rest = after;
        if rest.is_empty() {
            break;
        }
        match rest.strip_prefix(b":") {
            None | Some([]) => return false,
            Some(after) => rest = after,
        }
        if let Some(after) = rest.strip_prefix(b":") {
            if shortened {
                return false;
            }
            shortened = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    rest.is_empty() && ((length < 16) == shortened)
}

/// The number in front, and what follows. Numbers of Go's old reader end at 2^24.
fn decimal(text: &[u8]) -> Option<(u32, &[u8])> {
    let mut number: u32 = 0;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    for digit in digits {
        number = number * 10 + u32::from(digit - b'0');
        if number >= 0x00ff_ffff {
            return None;
        }
    }
    (!digits.is_empty()).then_some((number, rest))
}
