//! Whole numbers as Go reads them, and as it complains about them.

use rolewright_core::validate::BadValue;

/// Reads a decimal number.
pub(crate) fn parse(text: &str) -> Result<i64, String> {
    let fault = |why: &str| Err(format!("strconv.ParseInt: parsing {}: {why}", BadValue::from(text)));
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() {
        return fault("invalid syntax");
    }
    // Go counts up to 64 bits without a sign before it looks at the next character.
    let mut value: u64 = 0;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return fault("invalid syntax");
        }
        match value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(byte - b'0'))) {
            Some(next) => value = next,
            None => return fault("value out of range"),
        }
    }
    let signed = if text.starts_with('-') { 0_i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() };
    signed.map_or_else(|| fault("value out of range"), Ok)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_first_fault_counts() {
        for (text, why) in [
            ("9999999999999999999x", "invalid syntax"),
            ("99999999999999999999x", "value out of range"),
            ("-", "invalid syntax"),
            ("1_0", "invalid syntax"),
            ("٣", "invalid syntax"),
        ] {
            assert_eq!(parse(text), Err(format!("strconv.ParseInt: parsing \"{text}\": {why}")));
        }
        assert_eq!(parse("-0"), Ok(0));
        assert_eq!(parse("007"), Ok(7));
    }
}
