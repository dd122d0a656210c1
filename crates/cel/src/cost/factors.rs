//! What estimates and evaluations agree on: the price of a step, and which calls are one step.

/// Looking at one character or element.
pub(crate) const TRAVERSAL: f64 = 0.1;
/// Trying one character of a pattern.
pub(crate) const PATTERN: f64 = 0.25;

#[expect(clippy::cast_precision_loss, reason = "costs are computed in floats")]
pub(crate) fn in_float(size: u64) -> f64 {
    size as f64
}

/// Whether a function of Kubernetes costs one, whatever it is given.
pub(crate) fn is_single_step(function: &str) -> bool {
    matches!(
        function,
        "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery"
    )
}

/// Whether an overload goes over two texts as far as the shorter one reaches.
pub(crate) fn is_comparison(overload: &str) -> bool {
    matches!(
        overload,
        "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals"
    )
}

/// The type of what an overload sorts a list by, and the place of that among the arguments.
pub(crate) fn sorted_by(overload: &str) -> Option<(&str, usize)> {
    let kind = overload.strip_prefix("list_")?;
    match kind.strip_suffix("_sort") {
        Some(kind) => Some((kind, 0)),
        None => kind.strip_suffix("_sortByAssociatedKeys").map(|kind| (kind, 1)),
    }
}
