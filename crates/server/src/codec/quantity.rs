//! Quantities: numbers with a suffix, in the form that Kubernetes gives them.

const FORMAT: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";

/// Kubernetes counts in nothing smaller than 1e-9 and rounds up to it.
const NANO: i64 = -9;

/// More decimal digits may not fit into 64 bits.
const MAX_DIGITS: i64 = 18;

/// The canonical form. Errors are those of Kubernetes.
pub(super) fn canonical(text: &str) -> Result<String, &'static str> {
    if text == "0" {
        return Ok(text.to_owned());
    }
    let parts = split(text)?;
    let (exponent, format) = interpret(parts.suffix).ok_or(SUFFIX)?;
    if let Some(amount) = parts.small(exponent, format)? {
        return Ok(if amount.is_kept(format) { text.to_owned() } else { amount.decimal.canonical(format) });
    }
    if parts.is_bare {
        return Err(NUMERIC);
    }
    Ok(parts.large(exponent, format))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `k`, `M`, ..
    Decimal,
    /// `e3`.
    Exponent,
    /// `Ki`, `Mi`, ..
    Binary,
}

struct Parts<'a> {
    negative: bool,
    /// Without a single digit, which passes for zero among small numbers.
    is_bare: bool,
    /// Before the point, without leading zeros.
    whole: &'a str,
    /// Behind it.
    fraction: &'a str,
    suffix: &'a str,
}

fn split(text: &str) -> Result<Parts<'_>, &'static str> {
    if text.is_empty() {
        return Err(FORMAT);
    }
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, rest) = unsigned.split_at(leading(unsigned, |byte| byte.is_ascii_digit()));
    let no_whole = whole.is_empty();
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(leading(rest, |byte| byte.is_ascii_digit())),
        None => ("", rest),
    };
    let exponent = &suffix.get(leading(suffix, |byte| b"eEinumkKMGTP".contains(&byte))..).unwrap_or_default();
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FORMAT);
    }
    Ok(Parts { negative, is_bare: no_whole && fraction.is_empty(), whole, fraction, suffix })
}

fn leading(text: &str, matches: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&byte| matches(byte)).count()
}

fn interpret(suffix: &str) -> Option<(i64, Format)> {
    let known = match suffix {
        "n" => (-9, Format::Decimal),
        "u" => (-6, Format::Decimal),
        "m" => (-3, Format::Decimal),
        "" => (0, Format::Decimal),
        "k" => (3, Format::Decimal),
        "M" => (6, Format::Decimal),
        "G" => (9, Format::Decimal),
        "T" => (12, Format::Decimal),
        "P" => (15, Format::Decimal),
        "E" => (18, Format::Decimal),
        "Ki" => (10, Format::Binary),
        "Mi" => (20, Format::Binary),
        "Gi" => (30, Format::Binary),
        "Ti" => (40, Format::Binary),
        "Pi" => (50, Format::Binary),
        "Ei" => (60, Format::Binary),
        _ => {
            let digits = suffix.strip_prefix(['e', 'E']).filter(|digits| !digits.is_empty())?;
            let exponent = digits.parse::<i64>().ok()?;
            // Kubernetes cuts to 32 bits without a word.
            #[expect(clippy::cast_possible_truncation, reason = "as Kubernetes does")]
            let exponent = i64::from(exponent as i32);
            (exponent, Format::Exponent)
        }
    };
    Some(known)
}

/// What fits into 64 bits, and whether its text is canonical already.
struct Small {
    decimal: Decimal,
    /// The digits before any binary factor.
    digits: String,
    value: i64,
}

impl Parts<'_> {
    fn small(&self, exponent: i64, format: Format) -> Result<Option<Small>, &'static str> {
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let (scale, factor, spare) = match format {
            Format::Decimal | Format::Exponent => {
                (exponent, 1, MAX_DIGITS.saturating_sub(length(self.whole).saturating_add(length(self.fraction))))
            }
            Format::Binary if self.fraction.is_empty() => {
                (0, 1_i64 << exponent, 14_i64.saturating_sub(length(self.whole)) - exponent * 3 / 10)
            }
            Format::Binary => return Ok(None),
        };
        let scale = scale.saturating_sub(length(self.fraction));
        if spare < 0 || scale < NANO {
            return Ok(None);
        }
        let digits = format!("{}{}", self.whole, self.fraction);
        let value = digits.parse::<i64>().map_err(|_| NUMERIC)?;
        let Some(product) = value.checked_mul(factor) else { return Ok(None) };
        let decimal = Decimal { negative: self.negative, digits: product.to_string(), scale };
        Ok(Some(Small { decimal, digits, value }))
    }

    fn large(&self, exponent: i64, format: Format) -> String {
        let digits = format!("{}{}", self.whole, self.fraction);
        let mut scale = -i64::try_from(self.fraction.len()).unwrap_or(i64::MAX);
        let mut digits = digits.trim_start_matches('0').to_owned();
        match format {
            Format::Binary => digits = times(&digits, 1 << exponent),
            Format::Decimal | Format::Exponent => scale = scale.saturating_add(exponent),
        }
        if digits.is_empty() {
            return "0".to_owned();
        }
        let mut decimal = Decimal { negative: self.negative, digits, scale };
        decimal.round_up(NANO);
        let mut format = format;
        if format == Format::Binary {
            if decimal.exceeds(i64::MAX) {
                (decimal.digits, decimal.scale) = (i64::MAX.to_string(), 0);
            }
            if decimal.is_below_one() {
                format = Format::Decimal;
            }
        }
        decimal.canonical(format)
    }
}

impl Small {
    /// Kubernetes keeps texts that look canonical to it, signs and leading zeros included.
    fn is_kept(&self, format: Format) -> bool {
        match format {
            Format::Binary => self.value & 7 != 0,
            Format::Decimal | Format::Exponent => {
                self.decimal.scale % 3 == 0 && !self.digits.ends_with("000") && !self.digits.starts_with('0')
            }
        }
    }
}

/// `digits * 10^scale`; no leading zeros.
struct Decimal {
    negative: bool,
    digits: String,
    scale: i64,
}

impl Decimal {
    fn is_zero(&self) -> bool {
        self.digits.bytes().all(|digit| digit == b'0')
    }

    /// How many digits stand before the point; not positive below one.
    fn magnitude(&self) -> i64 {
        i64::try_from(self.digits.len()).unwrap_or(i64::MAX).saturating_add(self.scale)
    }

    fn is_below_one(&self) -> bool {
        !self.is_zero() && self.magnitude() <= 0
    }

    /// Away from zero, to a multiple of `10^scale`.
    fn round_up(&mut self, scale: i64) {
        if self.scale >= scale {
            return;
        }
        let kept = usize::try_from(self.magnitude().saturating_sub(scale)).unwrap_or(0).min(self.digits.len());
        let (head, tail) = self.digits.split_at(kept);
        let inexact = tail.bytes().any(|digit| digit != b'0');
        self.digits = if inexact { increment(head) } else { head.to_owned() };
        if self.digits.is_empty() {
            "0".clone_into(&mut self.digits);
        }
        self.scale = scale;
    }

    /// The integer, where it is one that fits.
    fn as_integer(&self) -> Option<u64> {
        let digits = self.digits.trim_end_matches('0');
        let zeros = i64::try_from(self.digits.len() - digits.len()).ok()?.checked_add(self.scale)?;
        let zeros = u32::try_from(zeros).ok()?;
        digits.parse::<u64>().ok()?.checked_mul(10_u64.checked_pow(zeros)?)
    }

    fn exceeds(&self, limit: i64) -> bool {
        let limit = limit.to_string();
        let magnitude = self.magnitude();
        let length = i64::try_from(limit.len()).unwrap_or(i64::MAX);
        if magnitude != length {
            return magnitude > length;
        }
        let whole = self.digits.get(..limit.len().min(self.digits.len())).unwrap_or_default();
        let rest = self.digits.get(whole.len()..).unwrap_or_default();
        let whole = format!("{whole:0<width$}", width = limit.len());
        whole > limit || whole == limit && rest.bytes().any(|digit| digit != b'0')
    }

    fn canonical(self, format: Format) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        let sign = if self.negative { "-" } else { "" };
        if format == Format::Binary
            && let Some(mut integer) = self.as_integer()
            && integer >= 1024
        {
            let mut power = 0;
            while integer >= 1024 && integer % 1024 == 0 {
                integer /= 1024;
                power += 1;
            }
            let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(power).copied().unwrap_or_default();
            return format!("{sign}{integer}{suffix}");
        }
        let digits = self.digits.trim_end_matches('0');
        let zeros = i64::try_from(self.digits.len() - digits.len()).unwrap_or(0);
        let exponent = self.scale.saturating_add(zeros);
        let extra = exponent.rem_euclid(3);
        let exponent = exponent - extra;
        let pad = ["", "0", "00"].get(usize::try_from(extra).unwrap_or(0)).copied().unwrap_or_default();
        let suffix = match format {
            Format::Exponent if exponent == 0 => String::new(),
            Format::Exponent => format!("e{exponent}"),
            // Beyond these Kubernetes writes no suffix at all.
            Format::Decimal | Format::Binary => match exponent {
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
            }
            .to_owned(),
        };
        format!("{sign}{digits}{pad}{suffix}")
    }
}

/// The next number after that of the digits.
fn increment(digits: &str) -> String {
    let nines = digits.len() - digits.trim_end_matches('9').len();
    let head = digits.get(..digits.len() - nines).unwrap_or_default();
    let mut out = String::with_capacity(digits.len() + 1);
    match head.as_bytes().split_last() {
        None => out.push('1'),
        Some((last, _)) => {
            out.push_str(head.get(..head.len() - 1).unwrap_or_default());
            out.push(char::from(last + 1));
        }
    }
    out.extend(std::iter::repeat_n('0', nines));
    out
}

/// The product of a number of any length and one of 61 bits.
fn times(digits: &str, factor: u64) -> String {
    let mut out = Vec::with_capacity(digits.len() + 20);
    let mut carry = 0_u128;
    for digit in digits.bytes().rev() {
        carry += u128::from(digit - b'0') * u128::from(factor);
        out.push(b'0' + u8::try_from(carry % 10).unwrap_or(0));
        carry /= 10;
    }
    while carry > 0 {
        out.push(b'0' + u8::try_from(carry % 10).unwrap_or(0));
        carry /= 10;
    }
    out.iter().rev().map(|&digit| char::from(digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_forms() {
        for (text, want) in [
            ("0", "0"),
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1024Ki", "1Mi"),
            ("1.5Gi", "1536Mi"),
            ("100m", "100m"),
            ("+5", "+5"),
            ("-1000", "-1k"),
            ("1e3", "1e3"),
            ("1000e0", "1e3"),
            ("1E6", "1E6"),
            ("0.0000000001", "1n"),
            ("1e-12", "1e-9"),
            ("1e-2000000000", "1e-9"),
            ("12345678901234567890", "12345678901234567890"),
            ("9999999999999999999999Ki", "9223372036854775807"),
            ("0.1Ki", "102400m"),
            ("0.0001Ki", "102400u"),
            ("1000E", "1"),
            (".", "0"),
            ("-", "0"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(want), "{text}");
        }
        for (text, want) in [
            ("", FORMAT),
            ("1x", FORMAT),
            ("1 ", FORMAT),
            ("1Kx", FORMAT),
            ("1KK", SUFFIX),
            ("e-12", NUMERIC),
            ("1e", SUFFIX),
        ] {
            assert_eq!(canonical(text), Err(want), "{text}");
        }
    }
}
