//! Quantities such as `1500m` and `2Gi`.
use std::cmp::Ordering;
use std::sync::Arc;

use super::opaque::Opaque;
use crate::value::{Fault, Outcome, Value, fault};

const WRONG: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
/// Quantities are exact up to this many digits after the point.
const FINEST: i32 = -9;

/// A number of steps of a power of ten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    value: i128,
    scale: i32,
    /// Whether Go holds it in a machine word: only then it can be an integer.
    small: bool,
    /// Whether it is a sum or difference.
    pub(crate) computed: bool,
}

/// A value to a power of ten, as far as numbers go.
fn shifted(value: i128, by: i32) -> i128 {
    let factor = 10_i128.checked_pow(by.unsigned_abs().min(38));
    let limit = if value < 0 { i128::MIN } else { i128::MAX };
    match factor {
        Some(factor) => value.checked_mul(factor).unwrap_or(limit),
        None => limit,
    }
}

impl Quantity {
    fn aligned(self, other: Self) -> (i128, i128, i32) {
        let scale = self.scale.min(other.scale);
        (shifted(self.value, self.scale - scale), shifted(other.value, other.scale - scale), scale)
    }

    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let (one, two, _) = self.aligned(*other);
        one.cmp(&two)
    }

    fn combine(self, other: Self, with: impl Fn(i128, i128) -> i128) -> Self {
        if other.value == 0 {
            return Self { computed: true, ..self };
        }
        let (one, two, scale) = if self.value == 0 { (0, other.value, other.scale) } else { self.aligned(other) };
        let value = with(one, two);
        let fits = |value: i128| i64::try_from(value).is_ok();
        let small = self.small && other.small && fits(one) && fits(two) && fits(value);
        Self { value, scale, small, computed: true }
    }

    fn as_int(self) -> Option<i64> {
        if !self.small || self.scale < 0 {
            return None;
        }
        i64::try_from(shifted(self.value, self.scale)).ok()
    }

    #[expect(clippy::cast_precision_loss, reason = "the answer is approximate by name")]
    fn as_float(self) -> f64 {
        let base = self.value as f64;
        if self.scale == 0 { base } else { base * format!("1e{}", self.scale).parse::<f64>().unwrap_or(f64::INFINITY) }
    }
}

/// The base, exponent and kind of a suffix.
fn suffix(text: &str) -> Option<(u32, i32)> {
    Some(match text {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (2, 10),
        "Mi" => (2, 20),
        "Gi" => (2, 30),
        "Ti" => (2, 40),
        "Pi" => (2, 50),
        "Ei" => (2, 60),
        other => {
            let digits = other.strip_prefix(['e', 'E']).filter(|digits| !digits.is_empty())?;
            (10, digits.parse::<i64>().ok().map(|exponent| exponent.clamp(-1000, 1000))?.try_into().ok()?)
        }
    })
}

fn parse(text: &str) -> Result<Quantity, Fault> {
    if text.is_empty() {
        return fault(WRONG);
    }
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, mut rest) = rest.split_at(digits(rest));
    let mut denominator = "";
    if let Some(after) = rest.strip_prefix('.') {
        (denominator, rest) = after.split_at(digits(after));
    }
    let number = whole.trim_start_matches('0');
    let number = if number.is_empty() { "0" } else { number };
    let letters = rest.bytes().take_while(|byte| b"eEinumkKMGTP".contains(byte)).count();
    let after = rest.get(letters..).unwrap_or_default();
    let after = after.strip_prefix(['-', '+']).unwrap_or(after);
    if !after.bytes().all(|byte| byte.is_ascii_digit()) {
        return fault(WRONG);
    }
    let Some((base, exponent)) = suffix(rest) else { return fault("unable to parse quantity's suffix") };
    amount(negative, number, denominator, base, exponent)
}

fn amount(negative: bool, number: &str, denominator: &str, base: u32, exponent: i32) -> Result<Quantity, Fault> {
    let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX / 4);
    let signed = |value: i128| if negative { -value } else { value };
    let digits = format!("{number}{denominator}");
    let precision = match base {
        10 => 18 - length(number) - length(denominator),
        _ if denominator.is_empty() => 15 - length(number) - exponent * 3 / 10 - 1,
        _ => -1,
    };
    let scale = if base == 10 { exponent } else { 0 } - length(denominator);
    if precision >= 0 && scale >= FINEST {
        let Ok(value) = digits.parse::<i64>() else { return fault("unable to parse numeric part of quantity") };
        let mantissa = if base == 2 { 1_i64 << exponent } else { 1 };
        if let Some(value) = value.checked_mul(mantissa) {
            return Ok(Quantity { value: signed(i128::from(value)), scale, small: true, computed: false });
        }
    }
    let mut value: i128 = digits.parse().unwrap_or(i128::MAX / 2);
    let mut scale = scale;
    if base == 2 {
        value = value.saturating_mul(1_i128 << exponent);
    }
    if scale < FINEST && value != 0 {
        let factor = shifted(1, FINEST - scale);
        value = value / factor + i128::from(value % factor != 0);
        scale = FINEST;
    } else if value != 0 {
        value = shifted(value, scale - FINEST);
        scale = FINEST;
    }
    if base == 2 {
        let most = Quantity { value: i128::from(i64::MAX), scale: 0, small: true, computed: false };
        if (Quantity { value, scale, small: false, computed: false }).order(&most).is_gt() {
            (value, scale) = (most.value, most.scale);
        }
    }
    Ok(Quantity { value: signed(value), scale, small: false, computed: false })
}

fn of_int(value: i64) -> Quantity {
    Quantity { value: i128::from(value), scale: 0, small: true, computed: false }
}

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let opaque = |quantity: Quantity| Value::Opaque(Arc::new(Opaque::Quantity(quantity)));
    if let (Some(Value::String(text)), "string_to_quantity" | "is_quantity_string") = (args.first(), id) {
        let parsed = parse(text);
        return Some(if id == "is_quantity_string" { Ok(Value::Bool(parsed.is_ok())) } else { parsed.map(opaque) });
    }
    let receiver = match args.first() {
        Some(Value::Opaque(receiver)) => match &**receiver {
            Opaque::Quantity(quantity) => *quantity,
            _ => return None,
        },
        _ => return None,
    };
    let other = match args.get(1) {
        Some(Value::Int(number)) => Some(of_int(*number)),
        Some(Value::Opaque(other)) => match &**other {
            Opaque::Quantity(quantity) => Some(*quantity),
            _ => None,
        },
        _ => None,
    };
    Some(Ok(match (id, other) {
        ("quantity_sign", _) => Value::Int(i64::try_from(receiver.value.signum()).unwrap_or(0)),
        ("quantity_is_greater_than", Some(other)) => Value::Bool(receiver.order(&other).is_gt()),
        ("quantity_is_less_than", Some(other)) => Value::Bool(receiver.order(&other).is_lt()),
        ("quantity_compare_to", Some(other)) => Value::Int(receiver.order(&other) as i64),
        ("quantity_get_float", _) => Value::Double(receiver.as_float()),
        ("quantity_get_int", _) => match receiver.as_int() {
            Some(number) => Value::Int(number),
            None => return Some(fault("cannot convert value to integer")),
        },
        ("quantity_is_integer", _) => Value::Bool(receiver.as_int().is_some()),
        ("quantity_add" | "quantity_add_int", Some(other)) => opaque(receiver.combine(other, i128::saturating_add)),
        ("quantity_sub" | "quantity_sub_int", Some(other)) => opaque(receiver.combine(other, i128::saturating_sub)),
        _ => return None,
    }))
}
