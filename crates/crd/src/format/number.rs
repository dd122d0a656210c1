//! Numbers with a check digit.

/// Cards by the prefixes of their issuers; anything that is no digit is passed over.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    let issued = match *digits.as_slice() {
        [4, ..] => matches!(digits.len(), 13 | 16),
        [5, 1..=5, ..] | [6, 0, 1, 1, ..] | [3 | 6, 5, ..] => digits.len() == 16,
        [3, 4 | 7, ..] | [2, 1, 3, 1, ..] | [1, 8, 0, 0, ..] => digits.len() == 15,
        [3, 0, 0..=5, ..] | [3, 6 | 8, ..] => digits.len() == 14,
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(position, digit)| match u32::from(*digit) * 2 {
            double if position % 2 == 0 => double / 2,
            double @ 10.. => double % 10 + 1,
            double => double,
        })
        .sum();
    issued && sum.is_multiple_of(10)
}

/// Ten digits, of which the last may be `X`.
pub(super) fn is_isbn10(text: &str) -> bool {
    let digits = bare(text);
    let [first @ .., check] = digits.as_slice() else { return false };
    if first.len() != 9 || !first.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let check = match check {
        b'X' => 10,
        digit if digit.is_ascii_digit() => u32::from(digit - b'0'),
        _ => return false,
    };
    let sum: u32 = first.iter().zip(1..).map(|(digit, factor)| factor * u32::from(digit - b'0')).sum();
    (sum + 10 * check).is_multiple_of(11)
}

/// Thirteen digits.
pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = bare(text);
    if digits.len() != 13 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 =
        digits.iter().zip([1, 3].into_iter().cycle()).map(|(digit, factor)| factor * u32::from(digit - b'0')).sum();
    sum.is_multiple_of(10)
}

fn bare(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'-')).collect()
}
