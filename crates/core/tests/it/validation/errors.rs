//! The forms of the errors themselves.

use std::slice;

use rolewright_core::validate::{BadValue, ErrorKind, FieldError, Path, summary};

#[test]
fn every_form_of_error() {
    let at = Path::field("f");
    let cases = [
        (FieldError::required(at, ""), "FieldValueRequired", "f: Required value"),
        (FieldError::required(at, "why"), "FieldValueRequired", "f: Required value: why"),
        (FieldError::invalid(at, "a\"b", "why"), "FieldValueInvalid", "f: Invalid value: \"a\\\"b\": why"),
        (FieldError::invalid(at, BadValue::null(), "why"), "FieldValueInvalid", "f: Invalid value: null: why"),
        (FieldError::invalid(at, BadValue::list(&[]), ""), "FieldValueInvalid", "f: Invalid value: null"),
        (FieldError::not_supported(at, "x", &[]), "FieldValueNotSupported", "f: Unsupported value: \"x\""),
        (
            FieldError::not_supported(at, "x", &["", "y"]),
            "FieldValueNotSupported",
            "f: Unsupported value: \"x\": supported values: \"\", \"y\"",
        ),
        (FieldError::forbidden(at, "why"), "FieldValueForbidden", "f: Forbidden: why"),
        (FieldError::duplicate(at, "x"), "FieldValueDuplicate", "f: Duplicate value: \"x\""),
        (FieldError::too_long(at, 1), "FieldValueTooLong", "f: Too long: may not be more than 1 byte"),
        (FieldError::too_long(at, 63), "FieldValueTooLong", "f: Too long: may not be more than 63 bytes"),
    ];
    for (error, kind, text) in cases {
        assert_eq!(error.to_string(), text);
        assert_eq!(error.kind.type_text(), kind, "{text}");
        assert_eq!(Some(error.body().as_str()), text.strip_prefix("f: "));
    }
    assert_eq!(ErrorKind::NotFound.type_text(), "FieldValueNotFound");
    assert_eq!(ErrorKind::TooMany.type_text(), "FieldValueTooMany");
    assert_eq!(ErrorKind::Internal.type_text(), "InternalError");
}

#[test]
fn the_summary_names_each_text_once() {
    let (a, b) = (FieldError::required(Path::field("a"), ""), FieldError::required(Path::field("b"), "why"));
    assert_eq!(summary(&[]), "");
    assert_eq!(summary(slice::from_ref(&a)), "a: Required value");
    assert_eq!(summary(&[a.clone(), a.clone()]), "a: Required value");
    assert_eq!(summary(&[a.clone(), b, a]), "[a: Required value, b: Required value: why]");
}
