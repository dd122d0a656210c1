//! Points and spans of time.
use super::{Fault, fault};

/// The first second of year 1 and the last of year 9999.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;
const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// A point in time, and the offset it was written with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timestamp {
    pub(crate) seconds: i64,
    pub(crate) nanos: i64,
    /// Seconds east of UTC.
    pub(crate) offset: i64,
}

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) weekday: i64,
    pub(crate) year_day: i64,
}

fn overflow<R>(what: &str) -> Result<R, Fault> {
    fault(what)
}

fn checked(seconds: i64, nanos: i64, offset: i64) -> Result<Timestamp, Fault> {
    if (FIRST..=LAST).contains(&seconds) {
        Ok(Timestamp { seconds, nanos, offset })
    } else {
        overflow("timestamp overflow")
    }
}

pub(crate) fn timestamp_of_seconds(seconds: i64) -> Result<Timestamp, Fault> {
    checked(seconds, 0, 0)
}

impl Timestamp {
    pub(crate) fn key(&self) -> (i64, i64) {
        (self.seconds, self.nanos)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.seconds == FIRST && self.nanos == 0
    }

    pub(crate) fn plus(&self, nanos: i64) -> Result<Self, Fault> {
        let Some(seconds) = self.seconds.checked_add(nanos / SECOND) else { return overflow("integer overflow") };
        let sum = self.nanos + nanos % SECOND;
        checked(seconds + sum.div_euclid(SECOND), sum.rem_euclid(SECOND), self.offset)
    }

    pub(crate) fn minus(&self, nanos: i64) -> Result<Self, Fault> {
        match nanos.checked_neg() {
            Some(nanos) => self.plus(nanos),
            None => overflow("integer overflow"),
        }
    }

    /// The span from another point to this one.
    pub(crate) fn since(&self, other: &Self) -> Result<i64, Fault> {
        let span = (self.seconds - other.seconds).checked_mul(SECOND);
        match span.and_then(|span| span.checked_add(self.nanos - other.nanos)) {
            Some(span) => Ok(span),
            None => overflow("integer overflow"),
        }
    }

    pub(crate) fn civil(&self, offset: i64) -> Civil {
        let local = self.seconds + offset;
        let (days, rest) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = civil_date(days);
        Civil {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7),
            year_day: days - days_of(year, 1, 1),
        }
    }

    pub(crate) fn to_text(self) -> String {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil(self.offset);
        let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        if self.nanos != 0 {
            text.push_str(format!(".{:09}", self.nanos).trim_end_matches('0'));
        }
        if self.offset == 0 {
            text.push('Z');
        } else {
            let (sign, offset) = if self.offset < 0 { ('-', -self.offset) } else { ('+', self.offset) };
            let written = format!("{sign}{:02}:{:02}", offset / 3600, offset / 60 % 60);
            text.push_str(&written);
        }
        text
    }
}

fn civil_date(days: i64) -> (i64, i64, i64) {
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

fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn number(text: Option<&str>) -> Option<i64> {
    let text = text?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The days of a date `yyyy-mm-dd`.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let dashes = bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-');
    (text.len() == 10 && dashes).then_some(())?;
    let (year, month, day) = (number(text.get(..4))?, number(text.get(5..7))?, number(text.get(8..))?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=longest).contains(&day).then(|| days_of(year, month, day))
}

/// Midnight of a date.
pub(crate) fn date(text: &str) -> Option<Timestamp> {
    Some(Timestamp { seconds: parse_date(text)? * DAY, nanos: 0, offset: 0 })
}

/// A point in time as RFC 3339 writes it.
pub(crate) fn rfc3339(text: &str) -> Option<Timestamp> {
    let days = parse_date(text.get(..10)?)?;
    let bytes = text.as_bytes();
    let marks = bytes.get(10) == Some(&b'T') && bytes.get(13) == Some(&b':') && bytes.get(16) == Some(&b':');
    marks.then_some(())?;
    let (hour, minute) = (number(text.get(11..13))?, number(text.get(14..16))?);
    let second = number(text.get(17..19))?;
    (hour < 24 && minute < 60 && second < 60).then_some(())?;
    let mut rest = text.get(19..)?;
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(())?;
        let shown = fraction.get(..digits.min(9))?;
        nanos = format!("{shown:0<9}").parse().ok()?;
        rest = fraction.get(digits..)?;
    }
    let offset = if rest == "Z" {
        0
    } else {
        let sign = match rest.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        (rest.len() == 6 && rest.as_bytes().get(3) == Some(&b':')).then_some(())?;
        let (hours, minutes) = (number(rest.get(1..3))?, number(rest.get(4..))?);
        (hours <= 24 && minutes < 60).then_some(())?;
        sign * (hours * 3600 + minutes * 60)
    };
    let seconds = days * DAY + hour * 3600 + minute * 60 + second - offset;
    Some(Timestamp { seconds, nanos, offset })
}

pub(crate) fn parse_timestamp(text: &str) -> Result<Timestamp, Fault> {
    match rfc3339(text) {
        Some(time) => checked(time.seconds, time.nanos, time.offset),
        None => fault("type conversion error from 'string' to 'google.protobuf.Timestamp'"),
    }
}

pub(crate) fn parse_duration(text: &str) -> Result<i64, Fault> {
    go_duration(text).ok_or_else(|| Fault::from("type conversion error from 'string' to 'google.protobuf.Duration'"))
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

/// A span as Go reads it: `1h30m`, `-1.5s`.
pub(crate) fn go_duration(text: &str) -> Option<i64> {
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

/// Seconds as a float.
#[expect(clippy::cast_precision_loss, reason = "Go tells seconds as a float")]
pub(crate) fn in_seconds(nanos: i64) -> f64 {
    (nanos / SECOND) as f64 + (nanos % SECOND) as f64 / 1e9
}

/// A span as CEL writes it: seconds.
pub(crate) fn duration_text(nanos: i64) -> String {
    format!("{}s", super::text::plain(in_seconds(nanos)))
}

/// Seconds east of UTC of a zone: an offset, or one of the names that need no table of zones.
pub(crate) fn zone(name: &str) -> Result<i64, Fault> {
    let Some((hours, minutes)) = name.split_once(':') else {
        return match name {
            "" | "UTC" | "Local" => Ok(0),
            _ => fault(format!("unknown time zone {name}")),
        };
    };
    let parse = |text: &str| {
        text.parse::<i64>()
            .map_err(|_| Fault::from(format!("strconv.Atoi: parsing {}: invalid syntax", super::text::quoted(text))))
    };
    let (hours, minutes) = (parse(hours)?, parse(minutes)?);
    let offset = hours.saturating_mul(60);
    let offset = if name.starts_with('-') { offset.saturating_sub(minutes) } else { offset.saturating_add(minutes) };
    Ok(offset.clamp(-100_000_000, 100_000_000) * 60)
}
