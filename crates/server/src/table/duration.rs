//! Durations in a few characters, as kubectl's users know them: `5s`, `3m12s`, `4d2h`, `2y14d`.

use jiff::SignedDuration;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Go's durations count nanoseconds in 64 bits, so Kubernetes knows none beyond 292 years.
const LONGEST: i64 = i64::MAX / 1_000_000_000;

/// The duration with a precision of two or three digits. Clocks may differ by less than two seconds.
pub(super) fn human(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().clamp(-LONGEST, LONGEST);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair((seconds / MINUTE, 'm'), (seconds % MINUTE, 's')),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => pair((seconds / HOUR, 'h'), (seconds % HOUR / MINUTE, 'm')),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => pair((seconds / DAY, 'd'), (seconds % DAY / HOUR, 'h')),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => pair((seconds / YEAR, 'y'), (seconds % YEAR / DAY, 'd')),
        _ => format!("{}y", seconds / YEAR),
    }
}

fn pair((large, large_unit): (i64, char), (small, small_unit): (i64, char)) -> String {
    if small == 0 { format!("{large}{large_unit}") } else { format!("{large}{large_unit}{small}{small_unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_like_kubernetes_writes_them() {
        for (seconds, text) in [
            (i64::MIN, "<invalid>"),
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (1, "1s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (599, "9m59s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (10_859, "3h"),
            (10_860, "3h1m"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR, "8y"),
            (i64::MAX, "292y"),
        ] {
            assert_eq!(human(SignedDuration::from_secs(seconds)), text, "{seconds} s");
        }
        assert_eq!(human(SignedDuration::new(-1, -999_999_999)), "0s");
        assert_eq!(human(SignedDuration::new(1, 999_999_999)), "1s");
    }
}
