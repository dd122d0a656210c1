//! The options of `create`, `update` and `patch`.

use rolewright_core::validate::{BadValue, FieldError, Path};

use super::Query;
use crate::status::Failure;

/// How to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Everything but the storing.
    pub dry_run: bool,
    /// Who owns the fields that are written; empty where the client does not say.
    pub field_manager: String,
    /// What happens to unknown and repeated fields.
    pub field_validation: FieldValidation,
    /// An apply takes fields from other owners.
    pub force: bool,
}

/// What happens to unknown and repeated fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Nothing.
    Ignore,
    /// The client is told.
    #[default]
    Warn,
    /// The request fails.
    Strict,
}

impl WriteOptions {
    /// The options of a `create`.
    pub fn create(query: &Query) -> Result<Self, Failure> {
        Self::read(query, "CreateOptions", Vec::new())
    }

    /// The options of an `update`.
    pub fn update(query: &Query) -> Result<Self, Failure> {
        Self::read(query, "UpdateOptions", Vec::new())
    }

    /// The options of a `patch`; `apply` for a server-side apply.
    pub fn patch(query: &Query, apply: bool) -> Result<Self, Failure> {
        let force = query.switch("force");
        let mut faults = Vec::new();
        if apply && query.text("fieldManager").is_empty() {
            faults.push(FieldError::required(Path::field("fieldManager"), "is required for apply patch"));
        }
        if !apply && force.is_some() {
            faults.push(FieldError::forbidden(Path::field("force"), "may not be specified for non-apply patch"));
        }
        let options = Self::read(query, "PatchOptions", faults)?;
        Ok(Self { force: force.unwrap_or_default(), ..options })
    }

    fn read(query: &Query, kind: &str, mut faults: Vec<FieldError>) -> Result<Self, Failure> {
        let field_manager = query.text("fieldManager");
        faults.extend(manager_faults(&field_manager, Path::field("fieldManager")));
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        faults.extend(dry_run_fault(&dry_run));
        let field_validation = match query.first("fieldValidation").unwrap_or_default() {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                faults.push(FieldError::not_supported(Path::field("fieldValidation"), other, &supported));
                FieldValidation::Warn
            }
        };
        if !faults.is_empty() {
            return Err(Failure::invalid("meta.k8s.io", kind, "", &faults));
        }
        Ok(Self { dry_run: !dry_run.is_empty(), field_manager, field_validation, force: false })
    }
}

/// What is wrong with the name of an owner of fields.
pub(crate) fn manager_faults(name: &str, at: Path<'_>) -> Vec<FieldError> {
    let mut faults = Vec::new();
    if name.len() > 128 {
        faults.push(FieldError::too_long(at, 128));
    }
    for (position, c) in name.char_indices().filter(|(_, c)| !is_print(*c)) {
        let why = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
        faults.push(FieldError::invalid(at, name, why));
    }
    faults
}

/// What is wrong with the values of `dryRun`.
pub(super) fn dry_run_fault(values: &[&str]) -> Option<FieldError> {
    if values.iter().all(|value| *value == "All") {
        return None;
    }
    let values: Vec<rolewright_core::Name> = values.iter().map(|value| (*value).into()).collect();
    Some(FieldError::not_supported(Path::field("dryRun"), BadValue::list(&values), &["All"]))
}

/// Whether Go counts a character as printable; that is whether it quotes it as it is.
fn is_print(c: char) -> bool {
    let mut text = [0; 4];
    matches!(c, '"' | '\\') || BadValue::from(&*c.encode_utf8(&mut text)).to_string() == format!("\"{c}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = WriteOptions::create(&Query::parse("dryRun=All&fieldManager=me&fieldValidation=Strict&x=y"));
        let expected = WriteOptions {
            dry_run: true,
            field_manager: "me".into(),
            field_validation: FieldValidation::Strict,
            force: false,
        };
        assert_eq!(options, Ok(expected));
        assert_eq!(WriteOptions::update(&Query::parse("")), Ok(WriteOptions::default()));
        assert!(WriteOptions::patch(&Query::parse("fieldManager=me&force"), true).unwrap().force);
    }

    #[test]
    fn faults_are_told_in_kubernetes_words() {
        let long = format!("fieldManager={}", "x".repeat(129));
        let supported = "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"";
        for (apply, text, message) in [
            (false, "dryRun=All&dryRun=x", "dryRun: Unsupported value: [\"All\",\"x\"]: supported values: \"All\"".to_owned()),
            (false, "dryRun=", "dryRun: Unsupported value: [\"\"]: supported values: \"All\"".to_owned()),
            (false, "fieldValidation=x", format!("fieldValidation: Unsupported value: \"x\": {supported}")),
            (false, "force=0", "force: Forbidden: may not be specified for non-apply patch".to_owned()),
            (true, "force=1", "fieldManager: Required value: is required for apply patch".to_owned()),
            (false, &long, "fieldManager: Too long: may not be more than 128 bytes".to_owned()),
            (
                false,
                "fieldManager=a%0Ab%C2%A0&dryRun=1",
                "[fieldManager: Invalid value: \"a\\nb\\u00a0\": invalid character U+000A (at position 1), fieldManager: \
                 Invalid value: \"a\\nb\\u00a0\": invalid character U+00A0 (at position 3), dryRun: Unsupported value: \
                 [\"1\"]: supported values: \"All\"]"
                    .to_owned(),
            ),
        ] {
            let failure = WriteOptions::patch(&Query::parse(text), apply).unwrap_err();
            let expected = format!("PatchOptions.meta.k8s.io \"\" is invalid: {message}");
            assert_eq!((failure.code, failure.message), (422, expected), "{text}");
        }
        let failure = WriteOptions::update(&Query::parse("dryRun=x")).unwrap_err();
        assert!(failure.message.starts_with("UpdateOptions.meta.k8s.io"), "{}", failure.message);
        assert!(WriteOptions::update(&Query::parse("fieldManager=%22%5C%C3%A9%20%EF%BF%BD")).is_ok());
    }
}
