//! Dates, times and durations.

/// `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text.as_bytes() else { return false };
    let number = |digits: &[u8]| {
        digits
            .iter()
            .try_fold(0u32, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (number(&[y1, y2, y3, y4]), number(&[m1, m2]), number(&[d1, d2])) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=last).contains(&day)
}

/// A date, and what follows the first `t`; what follows a second one is not looked at.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

fn is_time(text: &str) -> bool {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text.as_bytes() else { return false };
    let digits = [h1, h2, m1, m2, s1, s2];
    if !digits.iter().all(|digit| digit.is_ascii_digit()) || (*h1, *h2) > (b'2', b'3') || *m1 > b'5' || *s1 > b'5' {
        return false;
    }
    if is_zone(rest) {
        return true;
    }
    // Any one character opens the fraction.
    let Some(rest) = std::str::from_utf8(rest).ok().and_then(|rest| {
        let first = rest.chars().next().filter(|first| *first != '\n')?;
        rest.get(first.len_utf8()..)
    }) else {
        return false;
    };
    let fraction = rest.bytes().take_while(u8::is_ascii_digit).count();
    fraction > 0 && rest.as_bytes().get(fraction..).is_some_and(is_zone)
}

fn is_zone(text: &[u8]) -> bool {
    match text {
        [b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit()),
        _ => false,
    }
}

/// What Go takes, or anything that has numbers with a unit in it.
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text) || has_units(text)
}

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// As `time.ParseDuration` takes it.
fn is_go_duration(text: &str) -> bool {
    const LIMIT: u64 = 1 << 63;
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(whole);
        let number = digits.bytes().try_fold(0u64, |number, digit| {
            number.checked_mul(10)?.checked_add(u64::from(digit - b'0')).filter(|number| *number <= LIMIT)
        });
        let Some(number) = number else { return false };
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(after.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("", after),
        };
        if digits.is_empty() && fraction.is_empty() {
            return false;
        }
        let unit = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let Some((_, scale)) = UNITS.into_iter().find(|(name, _)| *name == unit) else { return false };
        let Some(mut value) = number.checked_mul(scale).filter(|value| *value <= LIMIT) else { return false };
        value += part(fraction, scale);
        total = match total.checked_add(value) {
            Some(total) if value <= LIMIT && total <= LIMIT => total,
            _ => return false,
        };
        rest = after;
    }
    negative || total < LIMIT
}

/// The fraction of a unit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "as Go does")]
fn part(digits: &str, scale: u64) -> u64 {
    let (mut number, mut power) = (0u64, 1.0);
    for digit in digits.bytes() {
        // Digits beyond these change nothing.
        let Some(next) = number.checked_mul(10).and_then(|next| next.checked_add(u64::from(digit - b'0'))) else {
            break;
        };
        if next > i64::MAX as u64 {
            break;
        }
        number = next;
        power *= 10.0;
    }
    (number as f64 * (scale as f64 / power)) as u64
}

/// Words for units; the last of each only has to begin a word.
const WORDS: [(&[&str], &str); 8] = [
    (&["ns"], "nano"),
    (&["us", "\u{b5}s"], "micro"),
    (&["ms"], "milli"),
    (&["s"], "sec"),
    (&["m"], "min"),
    (&["h", "hr"], "hour"),
    (&["d"], "day"),
    (&["w", "wk"], "week"),
];

fn has_units(text: &str) -> bool {
    let mut found = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = rest.get(start..).unwrap_or_default();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(length);
        rest = after;
        let word = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let length = word.find(|c: char| !(c.is_ascii_alphabetic() || c == '\u{b5}')).unwrap_or(word.len());
        if length == 0 {
            continue;
        }
        let (word, after) = word.split_at(length);
        rest = after;
        if digits.parse::<i64>().is_err() {
            return false;
        }
        let word = word.to_lowercase();
        found |= WORDS.iter().any(|(exact, start)| exact.contains(&word.as_str()) || word.starts_with(start));
    }
    found
}
