//! Parts of points and spans of time.
use crate::value::time::{in_seconds, zone};
use crate::value::{Outcome, Value};

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let part = |id: &'_ str, prefix: &str| id.strip_prefix(prefix).map(str::to_owned);
    match args {
        [Value::Duration(nanos)] => {
            let part = part(id, "duration_to_")?;
            let whole = |unit: f64| to_int(in_seconds(*nanos) / unit);
            Some(Ok(Value::Int(match part.as_str() {
                "hours" => nanos / 3_600_000_000_000,
                "minutes" => nanos / 60_000_000_000,
                "seconds" => whole(1.0),
                "milliseconds" => nanos / 1_000_000,
                _ => return None,
            })))
        }
        [Value::Timestamp(time), rest @ ..] => {
            let part = part(id, "timestamp_to_")?;
            let part = part.strip_suffix("_with_tz").or_else(|| part.strip_suffix("_tz")).unwrap_or(&part);
            let offset = match rest.first() {
                Some(Value::String(name)) => match zone(name) {
                    Ok(offset) => offset,
                    Err(fault) => return Some(Err(fault)),
                },
                _ => 0,
            };
            let civil = time.civil(offset);
            Some(Ok(Value::Int(match part {
                "year" => civil.year,
                "month" => civil.month - 1,
                "day_of_year" => civil.year_day,
                "day_of_month" => civil.day - 1,
                "day_of_month_1_based" => civil.day,
                "day_of_week" => civil.weekday,
                "hours" => civil.hour,
                "minutes" => civil.minute,
                "seconds" => civil.second,
                "milliseconds" => time.nanos / 1_000_000,
                _ => return None,
            })))
        }
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "spans are shorter than integers")]
fn to_int(seconds: f64) -> i64 {
    seconds as i64
}
