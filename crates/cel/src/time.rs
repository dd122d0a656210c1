//! The calendar, and spans of time as Go reads them.

pub(crate) const SECOND: i64 = 1_000_000_000;
pub(crate) const DAY: i64 = 86_400;

/// The year, month and day that are so many days after 1970-01-01.
pub fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The days from 1970-01-01 to a day of the Gregorian calendar.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// How many days a month has.
pub fn days_in(month: i64, year: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

pub(crate) fn number(text: Option<&str>) -> Option<i64> {
    let text = text?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The days of a date `yyyy-mm-dd`.
pub fn parse_date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let dashes = bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-');
    (text.len() == 10 && dashes).then_some(())?;
    let (year, month, day) = (number(text.get(..4))?, number(text.get(5..7))?, number(text.get(8..))?);
    ((1..=12).contains(&month) && (1..=days_in(month, year)).contains(&day)).then(|| days_of(year, month, day))
}

const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];

/// A span as Go reads it: `1h30m`, `-1.5s`; in nanoseconds.
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    (!rest.is_empty()).then_some(())?;
    let most = 1_u64 << 63;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut value = 0_u64;
        for digit in rest.get(..whole)?.bytes() {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0')).filter(|value| *value <= most)?;
        }
        rest = rest.get(whole..)?;
        let (mut fraction, mut scale, mut has_fraction) = (0_u64, 1.0_f64, false);
        if let Some(after) = rest.strip_prefix('.') {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let mut full = false;
            for digit in after.get(..digits)?.bytes() {
                let next = fraction.checked_mul(10).and_then(|next| next.checked_add(u64::from(digit - b'0')));
                match next.filter(|next| *next <= most && !full && fraction <= (most - 1) / 10) {
                    Some(next) => {
                        fraction = next;
                        scale *= 10.0;
                    }
                    None => full = true,
                }
            }
            has_fraction = digits > 0;
            rest = after.get(digits..)?;
        }
        (whole > 0 || has_fraction).then_some(())?;
        let name: usize =
            rest.chars().take_while(|char| *char != '.' && !char.is_ascii_digit()).map(char::len_utf8).sum();
        let (name, after) = rest.split_at_checked(name)?;
        let unit = UNITS.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)?;
        let unit = u64::try_from(unit).ok()?;
        value = value.checked_mul(unit).filter(|value| *value <= most)?;
        if fraction > 0 {
            value = value.checked_add(scaled(fraction, unit, scale)).filter(|value| *value <= most)?;
        }
        total = total.checked_add(value).filter(|total| *total <= most)?;
        rest = after;
    }
    if negative {
        return Some(i64::try_from(total).map_or(i64::MIN, |total| -total));
    }
    i64::try_from(total).ok()
}

/// A fraction of a unit in nanoseconds.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "Go computes the fraction in floats, and the result is below the unit"
)]
fn scaled(fraction: u64, unit: u64, scale: f64) -> u64 {
    (fraction as f64 * (unit as f64 / scale)) as u64
}
