//! Fields by which objects can be selected.

use std::collections::HashSet;

use rolewright_core::validate::{FieldError, Path};
use serde_json::Value;

use super::faults::Faults;
use super::field_path::follow;
use super::props::Props;
use super::structural;

pub(super) const FIELDS_MAX: usize = 8;

pub(super) fn check(faults: &mut Faults, fields: &[Value], schema: Props<'_>, allow_many: bool, at: Path<'_>) {
    if let Some(why) = structural::unreadable(schema) {
        return faults.invalid(at_schema(at, &mut String::new()), "", why);
    }
    let mut seen = HashSet::new();
    for (i, field) in fields.iter().enumerate() {
        if faults.is_full() {
            return;
        }
        let path = field.get("jsonPath").and_then(Value::as_str).unwrap_or_default();
        let at = at.index(i);
        let at = at.child("jsonPath");
        if path.is_empty() {
            faults.required(at, "");
            continue;
        }
        let found = match follow(path, schema, false) {
            Ok(found) => found,
            Err(why) => {
                faults.invalid(at, path, format!("is an invalid path: {why}"));
                continue;
            }
        };
        if found.steps.first().is_some_and(|step| step == "metadata") {
            faults.invalid(at, path, "must not point to fields in metadata");
        }
        if !found.schema.is_some_and(|schema| matches!(schema.kind(), "string" | "boolean" | "integer")) {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                       with formats are allowed.";
            faults.invalid(at, path, why);
        }
        if !seen.insert(found.text()) {
            faults.push(FieldError::duplicate(at, path));
        }
    }
    if seen.len() > FIELDS_MAX && !allow_many {
        faults.too_many(at, seen.len(), FIELDS_MAX);
    }
}

fn at_schema<'a>(at: Path<'a>, room: &'a mut String) -> Path<'a> {
    "schema.openAPIV3Schema".clone_into(room);
    match at {
        Path::Field(parent, _) => parent.child(room),
        at => at,
    }
}
