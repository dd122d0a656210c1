//! Points in time as Go reads RFC 3339, and as Kubernetes writes them: in UTC.

use std::fmt::Write as _;

use rolewright_cel::time::{date_of, days_in, days_of};

/// How a type writes and reads time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    Seconds,
    Micros,
}

impl Precision {
    fn layout(self) -> &'static str {
        match self {
            Self::Seconds => "2006-01-02T15:04:05Z07:00",
            Self::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// The same point in time in UTC; none for Go's zero, the first second of the year 1.
pub(super) fn canonical(text: &str, precision: Precision) -> Result<Option<String>, String> {
    let mut reader = Reader { layout: precision.layout(), text, rest: text };
    let (seconds, nanos) = reader.read(precision)?;
    Ok(format(seconds, nanos, precision))
}

/// A point in time; none for Go's zero. Seconds count from 1970.
pub(super) fn format(seconds: i64, nanos: u32, precision: Precision) -> Option<String> {
    if seconds == ZERO && nanos == 0 {
        return None;
    }
    let days = seconds.div_euclid(86_400);
    let second = seconds.rem_euclid(86_400);
    let (year, month, day) = date_of(days);
    let mut out = String::with_capacity(27);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let sign = if year < 0 { "-" } else { "" };
    let written = write!(out, "{sign}{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", year.abs())
        .and_then(|()| match precision {
            Precision::Seconds => Ok(()),
            Precision::Micros => write!(out, ".{:06}", nanos / 1000),
        });
    written.expect("a String takes all text");
    out.push('Z');
    Some(out)
}

/// The text of Go's zero time.
pub(super) fn go_zero(precision: Precision) -> String {
    match precision {
        Precision::Seconds => "0001-01-01T00:00:00Z",
        Precision::Micros => "0001-01-01T00:00:00.000000Z",
    }
    .to_owned()
}

/// Go's zero time in seconds from 1970.
const ZERO: i64 = -62_135_596_800;

struct Reader<'a> {
    layout: &'static str,
    text: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    fn cannot(&self, rest: &str, element: &str) -> String {
        let (text, layout) = (quote(self.text), quote(self.layout));
        format!("parsing time {text} as {layout}: cannot parse {} as {}", quote(rest), quote(element))
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", quote(self.text))
    }

    fn literal(&mut self, c: &'static str) -> Result<(), String> {
        self.rest = self.rest.strip_prefix(c).ok_or_else(|| self.cannot(self.rest, c))?;
        Ok(())
    }

    /// Two digits, or one where Go is lenient.
    fn pair(&mut self, element: &str, lenient: bool) -> Result<i64, String> {
        let (number, length) = pair(self.rest, lenient).ok_or_else(|| self.cannot(self.rest, element))?;
        self.rest = self.rest.get(length..).unwrap_or_default();
        Ok(number)
    }

    fn read(&mut self, precision: Precision) -> Result<(i64, u32), String> {
        let year = match self.rest.get(..4).and_then(|year| year.parse::<i64>().ok()) {
            Some(year) if self.rest.starts_with(|c: char| c.is_ascii_digit()) => year,
            _ => return Err(self.cannot(self.rest, "2006")),
        };
        self.rest = self.rest.get(4..).unwrap_or_default();
        self.literal("-")?;
        let month = self.pair("01", false)?;
        if !(1..=12).contains(&month) {
            return Err(self.out_of_range("month"));
        }
        self.literal("-")?;
        let day = self.pair("02", false)?;
        self.literal("T")?;
        let hour = self.pair("15", true)?;
        if hour >= 24 {
            return Err(self.out_of_range("hour"));
        }
        self.literal(":")?;
        let minute = self.pair("04", false)?;
        if minute >= 60 {
            return Err(self.out_of_range("minute"));
        }
        self.literal(":")?;
        let second = self.pair("05", false)?;
        if second >= 60 {
            return Err(self.out_of_range("second"));
        }
        let nanos = self.fraction(precision)?;
        let offset = self.zone()?;
        if !self.rest.is_empty() {
            return Err(format!("parsing time {}: extra text: {}", quote(self.text), quote(self.rest)));
        }
        if day < 1 || day > days_in(month, year) {
            return Err(self.out_of_range("day"));
        }
        Ok((days_of(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset, nanos))
    }

    fn fraction(&mut self, precision: Precision) -> Result<u32, String> {
        let digits = self.rest.strip_prefix(['.', ',']).unwrap_or_default();
        match precision {
            Precision::Seconds => {
                let length = digits.bytes().take_while(u8::is_ascii_digit).count();
                if length == 0 {
                    return Ok(0);
                }
                let counted = digits.get(..length.min(9)).unwrap_or_default();
                self.rest = digits.get(length..).unwrap_or_default();
                Ok(format!("{counted:0<9}").parse().unwrap_or(0))
            }
            Precision::Micros => {
                // Go takes a sign among the six for what it is.
                let micros = digits.get(..6).and_then(|six| six.parse::<i32>().ok());
                let micros = micros.ok_or_else(|| self.cannot(self.rest, ".000000"))?;
                let micros = u32::try_from(micros).map_err(|_| self.out_of_range("fractional second"))?;
                self.rest = digits.get(6..).unwrap_or_default();
                Ok(micros * 1000)
            }
        }
    }

    fn zone(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let held = self.rest;
        let bad = || self.cannot(held, "Z07:00");
        let bytes = held.as_bytes();
        if bytes.len() < 6 || bytes.get(3) != Some(&b':') {
            return Err(bad());
        }
        // The sign is looked at last, after the ranges.
        let number =
            |from: usize| held.get(from..from + 2).and_then(|text| pair(text, false)).map(|(number, _)| number);
        let hours = number(1);
        let minutes = hours.and_then(|_| number(4));
        if hours.is_some_and(|hours| hours > 24) {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes.is_some_and(|minutes| minutes > 60) {
            return Err(self.out_of_range("time zone offset minute"));
        }
        let (Some(hours), Some(minutes)) = (hours, minutes) else { return Err(bad()) };
        let offset = (hours * 60 + minutes) * 60;
        let offset = match bytes.first() {
            Some(b'+') => offset,
            Some(b'-') => -offset,
            _ => return Err(bad()),
        };
        self.rest = held.get(6..).ok_or_else(bad)?;
        Ok(offset)
    }
}

fn pair(text: &str, lenient: bool) -> Option<(i64, usize)> {
    let digit =
        |at: usize| text.as_bytes().get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| i64::from(byte - b'0'));
    match (digit(0)?, digit(1)) {
        (tens, Some(ones)) => Some((tens * 10 + ones, 2)),
        (ones, None) if lenient => Some((ones, 1)),
        _ => None,
    }
}

/// Package time has a way of its own: everything that is not plain ASCII is shown byte by byte.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=0x7f => out.push(char::from(byte)),
            _ => write!(out, "\\x{byte:02x}").expect("a String takes all text"),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_normalised() {
        for (text, want) in [
            ("2024-02-29T12:00:00Z", Some("2024-02-29T12:00:00Z")),
            ("2024-01-01T00:30:00+01:00", Some("2023-12-31T23:30:00Z")),
            ("2024-01-01T1:30:00.999999-00:30", Some("2024-01-01T02:00:00Z")),
            ("0000-01-01T00:00:00+24:00", Some("-0001-12-31T00:00:00Z")),
            ("0001-01-01T00:00:00Z", None),
            ("9999-12-31T23:59:59-01:00", Some("10000-01-01T00:59:59Z")),
        ] {
            assert_eq!(canonical(text, Precision::Seconds).unwrap().as_deref(), want, "{text}");
        }
        let micro = canonical("2024-01-01T00:00:00.123456+01:00", Precision::Micros);
        assert_eq!(micro.unwrap().as_deref(), Some("2023-12-31T23:00:00.123456Z"));
    }

    #[test]
    fn errors_are_those_of_go() {
        for (text, want) in [
            ("", r#" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006""#),
            ("2024-13-01T00:00:00Z", ": month out of range"),
            ("2024-02-30T00:00:00Z", ": day out of range"),
            ("2024-02-20T00:00:00", r#" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00""#),
            ("2024-02-20 00:00:00Z", r#" as "2006-01-02T15:04:05Z07:00": cannot parse " 00:00:00Z" as "T""#),
            ("2024-02-20T00:00:00Zx", r#": extra text: "x""#),
            ("2024-02-20T00:00:00+25:00", ": time zone offset hour out of range"),
        ] {
            let want = format!("parsing time {}{want}", quote(text));
            assert_eq!(canonical(text, Precision::Seconds).unwrap_err(), want);
        }
    }
}
