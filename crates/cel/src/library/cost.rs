//! What calls cost when they are evaluated.
use super::opaque::Opaque;
use crate::cost::factors::{PATTERN, TRAVERSAL, in_float as float, is_comparison, is_single_step, sorted_by};
use crate::value::Value;

/// A value that was seen; none when it was a fault.
type Seen<'a> = Option<Value<'a>>;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are positive, and far below the limit"
)]
fn whole(cost: f64) -> u64 {
    cost as u64
}

fn ceil(cost: f64) -> u64 {
    whole(cost.ceil())
}

/// The size of a value for the costs of Kubernetes' functions.
fn size(value: Option<&Seen<'_>>) -> u64 {
    value.and_then(Option::as_ref).and_then(Value::size).unwrap_or(1)
}

/// The size for CEL's own: that of what an optional holds.
fn inner_size(value: Option<&Seen<'_>>) -> u64 {
    let mut value = value.and_then(Option::as_ref);
    while let Some(Value::Optional(Some(inner))) = value {
        value = Some(inner);
    }
    value.and_then(Value::size).unwrap_or(1)
}

/// Why the cost of a call cannot be computed: cel-go looks into lists that are none.
pub(crate) fn cannot_cost(overload: &str, args: &[Seen<'_>]) -> Option<&'static str> {
    let compared = match overload {
        "list_distinct" => 0,
        "list_flatten_int" if matches!(args.get(1), Some(None)) => {
            return Some("internal error: interface conversion: ref.Val is *types.Err, not types.Int");
        }
        overload => sorted_by(overload)?.1,
    };
    matches!(args.get(compared), Some(None))
        .then_some("internal error: interface conversion: *types.Err is not traits.Lister: missing method Add")
}

/// The cost of a call.
pub(crate) fn call_cost(function: &str, overload: &str, args: &[Seen<'_>], result: Option<&Value<'_>>) -> u64 {
    list_cost(overload, args, result)
        .or_else(|| kubernetes_cost(function, overload, args, result))
        .unwrap_or_else(|| standard_cost(overload, args))
}

fn list_cost(overload: &str, args: &[Seen<'_>], result: Option<&Value<'_>>) -> Option<u64> {
    let allocating = |factor: f64, size: u64| whole(float(size) * factor) + 1 + 10;
    let compared = |list: Option<&Seen<'_>>| {
        let size = size(list);
        let first = match list.and_then(Option::as_ref) {
            Some(Value::List(list)) => list.get(0).and_then(Result::ok),
            _ => None,
        };
        let factor = match first {
            Some(Value::String(_) | Value::Bytes(_)) => 2.0 + TRAVERSAL,
            _ => 2.0,
        };
        allocating(factor, size.saturating_mul(size))
    };
    let sets = |factor: f64| 1 + whole(float(size(args.first()).saturating_mul(size(args.get(1)))) * factor);
    Some(match overload {
        "list_slice" | "lists_range" | "list_reverse" => allocating(1.0, result.and_then(Value::size).unwrap_or(1)),
        "list_flatten" => allocating(1.0, size(args.first())),
        "list_flatten_int" => {
            let size = size(args.first());
            match args.get(1) {
                // A negative depth is refused, after its cost was computed around the largest number.
                Some(Some(Value::Int(depth @ ..0))) => size.wrapping_mul(depth.cast_unsigned()).wrapping_add(11),
                Some(Some(Value::Int(depth))) => allocating(float(depth.cast_unsigned()), size),
                _ => allocating(1.0, size),
            }
        }
        "list_distinct" => compared(args.first()),
        "list_sets_contains_list" | "list_sets_intersects_list" => sets(1.0),
        "list_sets_equivalent_list" => sets(2.0),
        overload => compared(args.get(sorted_by(overload)?.1)),
    })
}

fn kubernetes_cost(function: &str, overload: &str, args: &[Seen<'_>], result: Option<&Value<'_>>) -> Option<u64> {
    let first = || size(args.first());
    let second = || size(args.get(1));
    let traversed = |size: u64, times: f64| ceil(float(size) * times * TRAVERSAL);
    if (function, overload) == ("ip", "string_to_ip") || (function == "ip" && overload.is_empty()) {
        return Some(traversed(first(), 1.0));
    }
    Some(match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            args.first().map_or(0, |value| traversal(value.as_ref()))
        }
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "quantity"
        | "isQuantity" | "semver" | "isSemver" => traversed(first(), 1.0),
        "replace" | "split" | "ip.isCanonical" => traversed(first(), 2.0),
        "join" => traversed(result.and_then(Value::size).unwrap_or(1), 2.0),
        "find" | "findAll" => matching(first(), second()),
        "ip" => 1,
        function if is_single_step(function) => 1,
        "containsIP" => {
            let parsed = if overload == "cidr_contains_ip_string" { traversed(second(), 1.0) } else { 0 };
            traversed(first() * 2, 1.0) + parsed
        }
        "containsCIDR" => {
            let parsed = if overload == "cidr_contains_cidr_string" { traversed(second(), 1.0) } else { 0 };
            traversed(first() * 2, 1.0) + traversed(first(), 1.0) + 1 + parsed
        }
        "validate" => match args.first() {
            Some(Some(Value::Opaque(format))) => match &**format {
                Opaque::Format(named) => matching(second(), named.size),
                _ => return None,
            },
            _ => return None,
        },
        "_==_" => match args.first() {
            Some(Some(Value::Opaque(_))) => 1,
            _ => return None,
        },
        _ => return None,
    })
}

fn matching(text: u64, pattern: u64) -> u64 {
    ceil((1.0 + float(text)) * TRAVERSAL).saturating_mul(ceil(float(pattern) * PATTERN))
}

/// The cost of looking at a whole value.
fn traversal(value: Option<&Value<'_>>) -> u64 {
    let bytes = |length: usize| whole(float(u64::try_from(length).unwrap_or(u64::MAX)) * TRAVERSAL);
    match value {
        Some(Value::String(text)) => bytes(text.len()),
        Some(Value::Bytes(data)) => bytes(data.len()),
        Some(Value::List(list)) => list.iter().map(|item| traversal(item.ok().as_ref())).sum(),
        Some(Value::Map(map)) => map
            .found()
            .iter()
            .map(|(key, found)| {
                let value = found.as_ref().ok().and_then(Option::as_ref);
                traversal(Some(key)) + traversal(value)
            })
            .sum(),
        _ => 1,
    }
}

fn standard_cost(overload: &str, args: &[Seen<'_>]) -> u64 {
    let first = || inner_size(args.first());
    let second = || inner_size(args.get(1));
    match overload {
        "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
        | "string_format" => ceil(float(first()) * TRAVERSAL),
        "in_list" => second(),
        overload if is_comparison(overload) => ceil(float(first().min(second())) * TRAVERSAL),
        "add_string" | "add_bytes" => ceil(float(first().saturating_add(second())) * TRAVERSAL),
        "matches_string" => matching(first(), second()),
        "contains_string" => ceil(float(first()) * TRAVERSAL).saturating_mul(ceil(float(second()) * TRAVERSAL)),
        _ => 1,
    }
}
