//! Points and spans of time.
use super::{Fault, fault};
use crate::time::{DAY, SECOND, date_of, days_of, number, parse_date, parse_duration as go_duration};

/// The first second of year 1 and the last of year 9999.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

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
        let (year, month, day) = date_of(days);
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
