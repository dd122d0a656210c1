//! One fault of an object, told as Kubernetes tells it.

use std::fmt;

use rustc_hash::FxHashSet;

use super::path::Path;
use crate::Name;
use crate::quote::{JsonText, Quoted};

/// A fault of one field. `Display` is the text that clients of Kubernetes know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// What is wrong with the field.
    pub kind: ErrorKind,
    /// Its path, such as `rules[0].verbs`.
    pub field: String,
    /// What was found there, for the kinds that show it.
    pub value: Option<BadValue>,
    /// Further explanation; may be empty.
    pub detail: String,
}

/// What can be wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Nothing is there, and something must be.
    Required,
    /// Something malformed is there.
    Invalid,
    /// Something of another type than the schema's is there.
    TypeInvalid,
    /// Something other than the few values that are known is there.
    NotSupported,
    /// Something is there that must not be set here.
    Forbidden,
    /// Something is there a second time.
    Duplicate,
    /// Something is named that does not exist.
    NotFound,
    /// Text or data over its limit is there.
    TooLong,
    /// A list over its limit is there.
    TooMany,
    /// The check itself failed.
    Internal,
}

impl ErrorKind {
    /// The reason in a Status' causes: `FieldValueRequired` and so on.
    pub fn type_text(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotFound => "FieldValueNotFound",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
        }
    }

    /// The words that open the message.
    fn title(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::NotFound => "Not found",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }
}

/// What was found in a field, in one of the two forms in which Kubernetes shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadValue {
    /// A plain string, shown as Go quotes it.
    Text(Name),
    /// Anything else, shown as JSON; strings of a type of their own count as such.
    Json(String),
}

impl BadValue {
    /// The absent value.
    pub fn null() -> Self {
        Self::Json("null".to_owned())
    }

    /// A string whose Go type is not `string`, such as a selector's operator.
    pub fn typed_text(text: &str) -> Self {
        Self::Json(JsonText(text).to_string())
    }

    /// A list of strings. Go tells an empty list from an absent one; lists that are empty here are absent there.
    pub fn list(texts: &[Name]) -> Self {
        if texts.is_empty() {
            return Self::null();
        }
        Self::Json(format!("[{}]", joined(texts.iter().map(|text| JsonText(text)), ",")))
    }

    /// A number, as Go prints it.
    pub fn number(number: i64) -> Self {
        Self::Json(number.to_string())
    }

    /// A struct of strings, under the names that its fields have in Go.
    pub fn fields<const N: usize>(fields: [(&str, &str); N]) -> Self {
        let fields = fields.into_iter().map(|(name, value)| format!("{}:{}", JsonText(name), JsonText(value)));
        Self::Json(format!("{{{}}}", joined(fields, ",")))
    }
}

impl From<&str> for BadValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => Quoted(text).fmt(f),
            Self::Json(json) => f.write_str(json),
        }
    }
}

impl FieldError {
    /// A value that is missing.
    pub fn required(at: Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Required, at, None, detail.into())
    }

    /// A value that is malformed.
    pub fn invalid(at: Path<'_>, value: impl Into<BadValue>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, at, Some(value.into()), detail.into())
    }

    /// A value that is none of those `supported`.
    pub fn not_supported(at: Path<'_>, value: impl Into<BadValue>, supported: &[&str]) -> Self {
        let detail = match supported {
            [] => String::new(),
            known => format!("supported values: {}", joined(known.iter().map(|text| Quoted(text)), ", ")),
        };
        Self::new(ErrorKind::NotSupported, at, Some(value.into()), detail)
    }

    /// A value that must not be given here.
    pub fn forbidden(at: Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, at, None, detail.into())
    }

    /// A value that was given before.
    pub fn duplicate(at: Path<'_>, value: impl Into<BadValue>) -> Self {
        Self::new(ErrorKind::Duplicate, at, Some(value.into()), String::new())
    }

    /// A value of more than `max` bytes, which the message leaves out.
    pub fn too_long(at: Path<'_>, max: usize) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        Self::new(ErrorKind::TooLong, at, None, format!("may not be more than {max} {unit}"))
    }

    /// The message without the field, as a Status' causes give it.
    pub fn body(&self) -> String {
        let mut text = self.kind.title().to_owned();
        if let Some(value) = &self.value {
            text = format!("{text}: {value}");
        }
        if self.detail.is_empty() { text } else { format!("{text}: {}", self.detail) }
    }

    fn new(kind: ErrorKind, at: Path<'_>, value: Option<BadValue>, detail: String) -> Self {
        Self { kind, field: at.to_string(), value, detail }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for FieldError {}

/// All errors in one line, as the message of a Status gives them: each text once, several in brackets.
pub fn summary(errors: &[FieldError]) -> String {
    let mut seen = FxHashSet::default();
    let texts: Vec<String> =
        errors.iter().map(FieldError::to_string).filter(|text| seen.insert(text.clone())).collect();
    match texts.as_slice() {
        [] => String::new(),
        [text] => text.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

fn joined(items: impl Iterator<Item = impl fmt::Display>, separator: &str) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(separator)
}
