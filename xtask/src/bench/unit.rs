//! Numbers for people.

const TIME: &[(&str, f64)] = &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const SIZE: &[(&str, f64)] =
    &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1024.0 * 1024.0), ("GiB", 1024.0 * 1024.0 * 1024.0)];

/// A measured value in the largest unit that keeps it at one or more.
pub(super) fn measured(value: f64, unit: &str) -> String {
    if let Some((_, factor)) = TIME.iter().find(|(name, _)| *name == unit) {
        return scaled(value * factor, TIME);
    }
    if matches!(unit, "bytes" | "B") {
        return scaled(value, SIZE);
    }
    format!("{} {unit}", number(value)).trim_end().to_owned()
}

/// How many times.
pub(super) fn times(ratio: f64) -> String {
    format!("{}x", number(ratio))
}

fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    let fitting = units.iter().rev().find(|(_, factor)| value.abs() >= *factor).or(units.first());
    fitting.map_or_else(String::new, |(name, factor)| format!("{} {name}", number(value / factor)))
}

/// Three significant digits; from a thousand on whole numbers, in groups of three.
fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 {
        return grouped(&format!("{value:.0}"));
    }
    let decimals = if value.fract() == 0.0 || size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_unit_that_fits() {
        for (value, unit, expected) in [
            (0.5, "ns", "0.50 ns"),
            (38.0, "ns", "38 ns"),
            (2_812_345.0, "ns", "2.81 ms"),
            (25.0, "s", "25 s"),
            (1500.0, "ms", "1.50 s"),
            (999.0, "us", "999 us"),
            (48.0, "bytes", "48 B"),
            (1536.0, "bytes", "1.50 KiB"),
            (1_234_567.0, "decisions", "1,234,567 decisions"),
            (3.0, "", "3"),
        ] {
            assert_eq!(measured(value, unit), expected);
        }
    }

    #[test]
    fn ratios_are_grouped() {
        for (ratio, expected) in
            [(73_684.2, "73,684x"), (1000.0, "1,000x"), (52.34, "52.3x"), (0.8, "0.80x"), (123.4, "123x")]
        {
            assert_eq!(times(ratio), expected);
        }
    }
}
