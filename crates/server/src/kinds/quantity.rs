//! Amounts of resources, such as `1500m` and `2Gi`: exact to a billionth, written in Kubernetes' canonical form.

use std::cmp::Ordering;

/// Billionths in one.
const ONE: i128 = 1_000_000_000;
/// Beyond this, Kubernetes says that it is this.
const MAX: i128 = i64::MAX as i128 * ONE;

/// The amount and the way in which it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    nanos: i128,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Decimal,
    Binary,
    Exponent,
}

impl Quantity {
    /// Nothing.
    pub(crate) const NONE: Self = Self { nanos: 0, format: Format::Decimal };
    /// One.
    pub(crate) const ONE: Self = Self { nanos: ONE, format: Format::Decimal };

    /// Reads a quantity.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let (base, exponent, format) = read_suffix(suffix)?;
        let mut nanos = scaled(whole, fraction, base, exponent)?.min(MAX);
        if negative {
            nanos = -nanos;
        }
        Some(Self { nanos, format })
    }

    /// Rounds up to thousandths.
    pub(crate) fn rounded_to_milli(self) -> Self {
        let milli = ONE / 1000;
        let down = self.nanos.div_euclid(milli) * milli;
        let nanos = if down == self.nanos { down } else { down + milli };
        Self { nanos, ..self }
    }

    /// The sum, in the form of the first one that is not zero.
    pub(crate) fn plus(self, other: Self) -> Self {
        let format = if self.nanos == 0 { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    /// Less than, equal to or more than nothing.
    pub(crate) fn sign(self) -> Ordering {
        self.nanos.cmp(&0)
    }

    /// Compares the amounts.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    /// The next whole number away from zero.
    pub(crate) fn value(self) -> i128 {
        self.nanos / ONE + if self.is_whole() { 0 } else { self.nanos.signum() }
    }

    /// The nearest number that a processor has.
    #[expect(clippy::cast_precision_loss, reason = "Kubernetes divides such numbers too")]
    pub(crate) fn to_f64(self) -> f64 {
        self.nanos as f64 / ONE as f64
    }

    /// Whether it is a whole number.
    pub(crate) fn is_whole(self) -> bool {
        self.nanos % ONE == 0
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let binary = self.format == Format::Binary && self.is_whole() && self.nanos.abs() >= 1024 * ONE;
        if binary {
            let (mut number, mut power) = (self.nanos / ONE, 0);
            while number % 1024 == 0 && power < 6 {
                number /= 1024;
                power += 1;
            }
            let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(power).copied().unwrap_or_default();
            return write!(f, "{number}{suffix}");
        }
        let (mut number, mut exponent) = (self.nanos, -9_i32);
        while number % 1000 == 0 && exponent < 18 && (number != 0 || exponent < 0) {
            number /= 1000;
            exponent += 3;
        }
        if self.format == Format::Exponent {
            return if exponent == 0 { write!(f, "{number}") } else { write!(f, "{number}e{exponent}") };
        }
        let suffix = match exponent {
            -9 => "n",
            -6 => "u",
            -3 => "m",
            3 => "k",
            6 => "M",
            9 => "G",
            12 => "T",
            15 => "P",
            18 => "E",
            _ => "",
        };
        write!(f, "{number}{suffix}")
    }
}

fn read_suffix(suffix: &str) -> Option<(i128, i32, Format)> {
    let decimal = |exponent| Some((10, exponent, Format::Decimal));
    let binary = |exponent| Some((1024, exponent, Format::Binary));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            Some((10, exponent.parse().ok()?, Format::Exponent))
        }
    }
}

/// The number in billionths, rounded up.
fn scaled(whole: &str, fraction: &str, base: i128, exponent: i32) -> Option<i128> {
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    // More digits than any amount in billionths has: the first ones decide, and what follows rounds up.
    let point = i32::try_from(fraction.len()).ok()?;
    let mut number: i128 = 0;
    let mut dropped = 0;
    let mut inexact = false;
    for digit in digits.bytes() {
        if number > i128::MAX / 100_000 {
            dropped += 1;
            inexact |= digit != b'0';
        } else {
            number = number * 10 + i128::from(digit - b'0');
        }
    }
    let mut power = 9_i32.checked_sub(point)?.checked_add(dropped)?;
    if base == 10 {
        power = power.checked_add(exponent)?;
    } else {
        for _ in 0..exponent {
            number = number.checked_mul(1024).unwrap_or(i128::MAX);
        }
    }
    if power >= 0 {
        return Some((0..power.min(60)).fold(number, |number, _| number.saturating_mul(10)));
    }
    for _ in 0..power.unsigned_abs().min(60) {
        inexact |= number % 10 != 0;
        number /= 10;
    }
    Some(number + i128::from(inexact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_forms() {
        for (text, canonical) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1500", "1500"),
            ("2000", "2k"),
            ("1024Ki", "1Mi"),
            ("0.5Gi", "512Mi"),
            ("512", "512"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("12E0", "12"),
            ("0", "0"),
            ("-1", "-1"),
            ("0.0000000001", "1n"),
            ("1.5Ki", "1536"),
            ("99999999999999999999", "9223372036854775807"),
        ] {
            assert_eq!(Quantity::parse(text).unwrap().to_string(), canonical, "{text}");
        }
        for text in ["", "m", "1.2.3", "1x", "1 ", "--1", "1e", "1ki"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn rounding_is_up() {
        for (text, rounded) in
            [("1u", "1m"), ("1000001u", "1001m"), ("1999999u", "2"), ("-1u", "0"), ("1500m", "1500m")]
        {
            assert_eq!(Quantity::parse(text).unwrap().rounded_to_milli().to_string(), rounded, "{text}");
        }
    }
}
