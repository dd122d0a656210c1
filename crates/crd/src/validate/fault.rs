//! What the schema validator says, and what the API server makes of it.

use rolewright_core::quote::Quoted;
use rolewright_core::validate::{BadValue, ErrorKind, FieldError};
use serde_json::Value;

use super::place::Place;
use crate::go::{self, Data};

/// A fault, with the text by which the validator tells it from others.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) error: FieldError,
}

impl Fault {
    /// About as many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let shown = match &self.error.value {
            Some(BadValue::Text(text)) => text.len(),
            Some(BadValue::Json(text)) => text.len(),
            None => 0,
        };
        self.message.len() + self.error.detail.len() + self.error.field.len() + shown
    }

    /// A value of another type; `found` names its type or shows it.
    pub(super) fn kind(base: &str, at: &Place<'_>, wanted: &str, found: &str) -> Self {
        let message = format!("{at} in body must be of type {wanted}: {}", Quoted(found));
        Self::shown(ErrorKind::TypeInvalid, base, at, found.into(), message)
    }

    /// A value that breaks a rule.
    pub(super) fn invalid(base: &str, at: &Place<'_>, value: BadValue, rule: &str) -> Self {
        Self::shown(ErrorKind::Invalid, base, at, value, format!("{at} in body {rule}"))
    }

    /// A rule that cannot be followed.
    pub(super) fn bad_factor(base: &str, at: &Place<'_>, factor: &str) -> Self {
        let message = format!("factor MultipleOf declared for {at} must be positive: {factor}");
        Self::shown(ErrorKind::Invalid, base, at, BadValue::Json(factor.to_owned()), message)
    }

    pub(super) fn too_few(base: &str, at: &Place<'_>, size: i64, least: i64, unit: &str) -> Self {
        Self::invalid(base, at, BadValue::number(size), &format!("should have at least {least} {unit}"))
    }

    pub(super) fn too_many(base: &str, at: &Place<'_>, size: i64, most: i64, unit: &str) -> Self {
        let message = format!("{at} in body should have at most {most} {unit}");
        let detail = match most {
            1 => "must have at most 1 item".to_owned(),
            0.. => format!("must have at most {most} items"),
            _ => "has too many items".to_owned(),
        };
        Self::new(ErrorKind::TooMany, base, at, Some(BadValue::number(size)), detail, message)
    }

    pub(super) fn too_long(base: &str, at: &Place<'_>, most: i64) -> Self {
        let message = format!("{at} in body should be at most {most} chars long");
        let detail = match most {
            1 => "may not be more than 1 byte".to_owned(),
            0.. => format!("may not be more than {most} bytes"),
            _ => "value is too long".to_owned(),
        };
        Self::new(ErrorKind::TooLong, base, at, None, detail, message)
    }

    pub(super) fn duplicates(base: &str, at: &Place<'_>) -> Self {
        Self::invalid(base, at, "".into(), "shouldn't contain duplicates")
    }

    pub(super) fn forbidden_property(base: &str, at: &Place<'_>, name: &str) -> Self {
        let message = format!("{at}.{name} in body is a forbidden property");
        Self::shown(ErrorKind::Invalid, base, at, name.into(), message)
    }

    pub(super) fn required(base: &str, at: &Place<'_>, name: &str) -> Self {
        let at = at.value(name);
        let message = format!("{at} in body is required");
        Self::new(ErrorKind::Required, base, &at, None, String::new(), message)
    }

    pub(super) fn not_supported(base: &str, at: &Place<'_>, data: Data<'_>, known: &[Value]) -> Self {
        let printed: Vec<String> = known.iter().map(go::printed).collect();
        let message = format!("{at} in body should be one of [{}]", printed.join(" "));
        let quoted = |known: &Value| match known {
            Value::String(text) => Quoted(text).to_string(),
            known => Quoted(&go::json(known)).to_string(),
        };
        let known: Vec<String> = known.iter().map(quoted).collect();
        let detail = format!("supported values: {}", known.join(", "));
        Self::new(ErrorKind::NotSupported, base, at, Some(go::shown(data)), detail, message)
    }

    /// What has no place in the object by itself.
    pub(super) fn general(base: &str, message: String) -> Self {
        let field = if base.is_empty() { "<nil>" } else { base }.to_owned();
        let error = FieldError { kind: ErrorKind::Invalid, field, value: Some("".into()), detail: message.clone() };
        Self { message, error }
    }

    fn shown(kind: ErrorKind, base: &str, at: &Place<'_>, value: BadValue, message: String) -> Self {
        Self::new(kind, base, at, Some(value), message.clone(), message)
    }

    fn new(
        kind: ErrorKind,
        base: &str,
        at: &Place<'_>,
        value: Option<BadValue>,
        detail: String,
        message: String,
    ) -> Self {
        let place = at.to_string();
        let below = place.strip_prefix('.').unwrap_or(&place);
        let field = match (base, below) {
            ("", "") => "<nil>".to_owned(),
            ("", below) => below.to_owned(),
            (base, "") => base.to_owned(),
            (base, below) => format!("{base}.{below}"),
        };
        Self { message, error: FieldError { kind, field, value, detail } }
    }
}
