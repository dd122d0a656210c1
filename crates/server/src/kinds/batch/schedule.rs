//! Schedules of cron jobs: five fields, or a word.

/// What is wrong with a schedule.
pub(super) fn fault(schedule: &str) -> Option<String> {
    let mut spec = schedule;
    if spec.starts_with("TZ=") || spec.starts_with("CRON_TZ=") {
        // The zone itself is not looked at; schedules with one are refused anyway.
        spec = spec.split_once(' ').map_or("", |(_, rest)| rest.trim());
    }
    if spec.starts_with('@') {
        return descriptor_fault(spec);
    }
    let fields: Vec<&str> = spec.split_whitespace().collect();
    let &[minute, hour, day, month, weekday] = fields.as_slice() else {
        return Some(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    };
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let bounds = [
        (minute, Bounds { min: 0, max: 59, names: &[] }),
        (hour, Bounds { min: 0, max: 23, names: &[] }),
        (day, Bounds { min: 1, max: 31, names: &[] }),
        (month, Bounds { min: 1, max: 12, names: &months }),
        (weekday, Bounds { min: 0, max: 6, names: &weekdays }),
    ];
    bounds.into_iter().find_map(|(field, bounds)| field_fault(field, &bounds))
}

fn descriptor_fault(text: &str) -> Option<String> {
    const KNOWN: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
    if KNOWN.contains(&text) || text.starts_with("@every ") {
        return None;
    }
    Some(format!("unrecognized descriptor: {text}"))
}

struct Bounds<'a> {
    min: u64,
    max: u64,
    names: &'a [&'a str],
}

fn field_fault(field: &str, bounds: &Bounds<'_>) -> Option<String> {
    field.split(',').filter(|part| !part.is_empty()).find_map(|part| range(part, bounds).err())
}

fn range(text: &str, bounds: &Bounds<'_>) -> Result<(), String> {
    let (span, step) = match text.split_once('/') {
        Some((span, step)) => (span, Some(step)),
        None => (text, None),
    };
    let (low, high) = match span.split_once('-') {
        Some((low, high)) => (low, Some(high)),
        None => (span, None),
    };
    let (start, mut end) = if matches!(low, "*" | "?") {
        (bounds.min, bounds.max)
    } else {
        let start = number(low, bounds)?;
        let end = match high {
            None => start,
            Some(high) if high.contains('-') => return Err(format!("too many hyphens: {text}")),
            Some(high) => number(high, bounds)?,
        };
        (start, end)
    };
    let step = match step {
        None => 1,
        Some(step) if step.contains('/') => return Err(format!("too many slashes: {text}")),
        Some(step) => {
            let step = plain_number(step)?;
            // `N/step` means `N-max/step`.
            if high.is_none() {
                end = bounds.max;
            }
            step
        }
    };
    if start < bounds.min {
        return Err(format!("beginning of range ({start}) below minimum ({}): {text}", bounds.min));
    }
    if end > bounds.max {
        return Err(format!("end of range ({end}) above maximum ({}): {text}", bounds.max));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn number(text: &str, bounds: &Bounds<'_>) -> Result<u64, String> {
    let name = bounds.names.iter().position(|name| name.eq_ignore_ascii_case(text));
    match name.and_then(|at| u64::try_from(at).ok()) {
        Some(at) => Ok(at + bounds.min),
        None => plain_number(text),
    }
}

/// As Go reads numbers.
fn plain_number(text: &str) -> Result<u64, String> {
    let number: i64 = text.parse().map_err(|error: std::num::ParseIntError| {
        let why = match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        let shown = rolewright_core::quote::Quoted(text);
        format!("failed to parse int from {text}: strconv.Atoi: parsing {shown}: {why}")
    })?;
    u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_as_the_cron_library_tells_them() {
        for good in ["* * * * *", "*/5 0-3 1,15 jan-MAR sun", "@daily", "@every 1h", "0 0 ? * 1/2"] {
            assert_eq!(fault(good), None, "{good}");
        }
        for (bad, why) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("@often", "unrecognized descriptor: @often"),
        ] {
            assert_eq!(fault(bad).as_deref(), Some(why), "{bad}");
        }
    }
}
