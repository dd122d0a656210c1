//! What belongs to a version beside its schema: warnings, subresources and columns.

use rolewright_core::quote::is_print;
use rolewright_core::validate::Path;
use serde_json::Value;

use super::faults::Faults;
use super::internal::Version;
use super::read::{self, Object};
use super::shown;

const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const WARNING_MAX: usize = 256;

/// A warning belongs to a deprecated version, and goes into a header.
pub(super) fn check_warning(faults: &mut Faults, version: &Version<'_>, at: Path<'_>) {
    let Some(warning) = version.warning else { return };
    let mut wrong = |why: &str| faults.invalid(at.child("deprecationWarning"), shown::pointer(Some(warning)), why);
    if !version.deprecated {
        return wrong("can only be set for deprecated versions");
    }
    if warning.len() > WARNING_MAX {
        wrong("must be <= 256 characters long");
    }
    if warning.is_empty() {
        wrong("must not be an empty string");
    }
    // What Go counts as a control character is not printable either.
    if let Some((i, _)) = warning.char_indices().find(|(_, c)| !is_print(*c)) {
        wrong(&format!("must only contain printable UTF-8 characters; non-printable character found at index {i}"));
    }
}

/// The paths of the subresource `scale` lead into the spec or the status.
pub(super) fn check_subresources(faults: &mut Faults, subresources: Option<&Object>, at: Path<'_>) {
    let Some(scale) = subresources.and_then(|all| read::child(all, "scale")) else { return };
    for (key, name, under) in [
        ("specReplicasPath", "scale.specReplicasPath", ".spec"),
        ("statusReplicasPath", "scale.statusReplicasPath", ".status"),
    ] {
        let (path, at) = (read::text(scale, key), at.child(name));
        if path.is_empty() {
            faults.required(at, "");
        } else if is_simple_path(faults, path, at) && !starts_under(path, under) {
            faults.invalid(at, path, format!("should be a json path under {under}"));
        }
    }
    let path = scale.get("labelSelectorPath").and_then(Value::as_str).unwrap_or_default();
    let at = at.child("scale.labelSelectorPath");
    if !path.is_empty()
        && is_simple_path(faults, path, at)
        && ![".spec", ".status"].iter().any(|under| starts_under(path, under))
    {
        faults.invalid(at, shown::pointer(Some(path)), "should be a json path under either .spec or .status");
    }
}

fn starts_under(path: &str, under: &str) -> bool {
    path.strip_prefix(under).is_some_and(|rest| rest.starts_with('.'))
}

pub(super) fn check_columns(faults: &mut Faults, columns: &[Value], at: Path<'_>) {
    let nothing = Object::new();
    for (i, column) in columns.iter().enumerate() {
        if faults.is_full() {
            return;
        }
        check_column(faults, column.as_object().unwrap_or(&nothing), at.index(i));
    }
}

fn check_column(faults: &mut Faults, column: &Object, at: Path<'_>) {
    let text = |key| read::text(column, key);
    if text("name").is_empty() {
        faults.required(at.child("name"), "");
    }
    let types = format!("must be one of {}", COLUMN_TYPES.join(","));
    match text("type") {
        "" => faults.required(at.child("type"), types),
        known if COLUMN_TYPES.contains(&known) => {}
        other => faults.invalid(at.child("type"), other, types),
    }
    let format = text("format");
    if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
        faults.invalid(at.child("format"), format, format!("must be one of {}", COLUMN_FORMATS.join(",")));
    }
    match text("jsonPath") {
        "" => faults.required(at.child("JSONPath"), ""),
        path => {
            is_simple_path(faults, path, at.child("JSONPath"));
        }
    }
}

fn is_simple_path(faults: &mut Faults, path: &str, at: Path<'_>) -> bool {
    let simple = path.starts_with('.');
    if !simple {
        faults.invalid(at, path, "must be a simple json path starting with .");
    }
    simple
}
