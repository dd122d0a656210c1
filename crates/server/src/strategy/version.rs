//! The version that a write is meant for.

use rolewright_core::quote::Quoted;
use rolewright_core::validate::{BadValue, FieldError, Path};

use super::{Object, Rules, fields};
use crate::status::{Failure, GroupResource};

const VERSION: [&str; 2] = ["metadata", "resourceVersion"];

/// Sees to it that the update of `old` names old's version, or says why it must not happen.
///
/// An update that names none is for the latest version, where the kind allows that (`unconditional`).
pub fn settle_version<'a>(
    rules: impl Into<Rules<'a>>,
    unconditional: bool,
    object: &mut Object,
    old: &Object,
) -> Result<(), Failure> {
    let rules = rules.into();
    let name = fields::text(old, &["metadata", "name"]);
    let latest = fields::text(old, &VERSION);
    let named = number(fields::text(object, &VERSION)).map_err(|why| Failure::new(500, "", why))?;
    if named == 0 && !unconditional {
        let at = Path::field("metadata");
        let detail = "must be specified for an update";
        let error = FieldError::invalid(at.child("resourceVersion"), BadValue::number(0), detail);
        return Err(Failure::invalid(rules.group, rules.plural, name, &[error]));
    }
    if named != 0 && Ok(named) != number(latest) {
        return Err(Failure::modified(GroupResource { group: rules.group, resource: rules.plural }, name));
    }
    fields::set_text(object, &VERSION, latest);
    Ok(())
}

/// Sees to it that a new object names no version, or says why it must not be created. Validation comes before that.
pub fn refuse_version(object: &mut Object) -> Result<(), Failure> {
    if number(fields::text(object, &VERSION)).is_ok_and(|version| version != 0) {
        return Err(Failure::new(500, "", "resourceVersion should not be set on objects to be created"));
    }
    fields::remove(object, &VERSION);
    Ok(())
}

/// Takes the version from what an update is about to create: any will do for what is not there, as long as it is one.
/// Returns whether there was one.
pub(crate) fn forget_version(object: &mut Object) -> Result<bool, Failure> {
    number(fields::text(object, &VERSION)).map_err(|why| Failure::new(500, "", why))?;
    Ok(fields::remove(object, &VERSION).is_some())
}

/// The number of a version, 0 for none; or what Go says of a text that is none.
fn number(version: &str) -> Result<u64, String> {
    if version.is_empty() {
        return Ok(0);
    }
    let fault = |why: &str| format!("strconv.ParseUint: parsing {}: {why}", Quoted(version));
    if !version.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fault("invalid syntax"));
    }
    version.parse().map_err(|_| fault("value out of range"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(version: &str) -> Object {
        let Value::Object(object) = json!({"metadata": {"name": "l", "resourceVersion": version}}) else { panic!() };
        object
    }

    #[test]
    fn an_update_is_for_one_version() {
        let facts = crate::facts::resources();
        let leases = facts.iter().find(|resource| resource.plural == "leases").unwrap();
        let invalid = "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must be \
                       specified for an update";
        let modified = "Operation cannot be fulfilled on leases.coordination.k8s.io \"l\": the object has been modified; \
                        please apply your changes to the latest version and try again";
        for (version, unconditional, code, message) in [
            ("", true, 0, ""),
            ("0", true, 0, ""),
            ("", false, 422, invalid),
            ("0", false, 422, invalid),
            ("7", false, 0, ""),
            ("007", true, 0, ""),
            ("6", true, 409, modified),
            ("x", true, 500, "strconv.ParseUint: parsing \"x\": invalid syntax"),
            ("+7", true, 500, "strconv.ParseUint: parsing \"+7\": invalid syntax"),
            (
                "18446744073709551616",
                true,
                500,
                "strconv.ParseUint: parsing \"18446744073709551616\": value out of range",
            ),
        ] {
            let mut new = object(version);
            match settle_version(leases, unconditional, &mut new, &object("7")) {
                Ok(()) => assert_eq!((code, fields::text(&new, &VERSION)), (0, "7"), "{version}"),
                Err(failure) => assert_eq!((failure.code, failure.message.as_str()), (code, message), "{version}"),
            }
        }
    }

    #[test]
    fn a_new_object_has_no_version() {
        for version in ["", "0", "x"] {
            let mut new = object(version);
            refuse_version(&mut new).unwrap();
            assert_eq!(new, *json!({"metadata": {"name": "l"}}).as_object().unwrap());
        }
        let failure = refuse_version(&mut object("5")).unwrap_err();
        assert_eq!(failure.message, "resourceVersion should not be set on objects to be created");
    }
}
