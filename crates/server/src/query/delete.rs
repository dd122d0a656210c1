//! The options of `delete` and `deletecollection`, from the query or from the body.

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::Query;
use super::write::dry_run_fault;
use crate::status::Failure;
use crate::strategy::Object;

/// How to delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// How long the object may take to end.
    pub grace_period_seconds: Option<i64>,
    /// Only the object with this uid.
    pub uid: Option<String>,
    /// Only the object in this version.
    pub resource_version: Option<String>,
    /// The old way to say [`Propagation::Orphan`].
    pub orphan_dependents: Option<bool>,
    /// What happens to objects that the object owns.
    pub propagation: Option<Propagation>,
    /// Everything but the deleting.
    pub dry_run: bool,
}

/// What happens to objects that a deleted object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of Kubernetes")]
pub enum Propagation {
    Foreground,
    Background,
    Orphan,
}

impl DeleteOptions {
    /// Reads and checks the options of a request without a body.
    pub fn from_query(query: &Query) -> Result<Self, Failure> {
        let precondition = |name| query.first(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let options = Self {
            grace_period_seconds: query.number("gracePeriodSeconds")?,
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
            orphan_dependents: query.switch("orphanDependents"),
            ..Self::default()
        };
        options.checked(query.first("propagationPolicy"), &query.all("dryRun").collect::<Vec<_>>())
    }

    /// Reads and checks the options that a body gives. It must have been conformed to `DeleteOptions`.
    pub fn from_object(object: &Object) -> Result<Self, Failure> {
        let preconditions = object.get("preconditions");
        let precondition = |name| preconditions?.get(name)?.as_str().map(str::to_owned);
        let options = Self {
            grace_period_seconds: object.get("gracePeriodSeconds").and_then(Value::as_i64),
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
            orphan_dependents: object.get("orphanDependents").and_then(Value::as_bool),
            ..Self::default()
        };
        let dry_run = object.get("dryRun").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let dry_run: Vec<&str> = dry_run.iter().filter_map(Value::as_str).collect();
        options.checked(object.get("propagationPolicy").and_then(Value::as_str), &dry_run)
    }

    fn checked(self, propagation: Option<&str>, dry_run: &[&str]) -> Result<Self, Failure> {
        let at = Path::field("propagationPolicy");
        let mut faults = Vec::new();
        if let Some(policy) = propagation
            && self.orphan_dependents.is_some()
        {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            faults.push(FieldError::invalid(at, BadValue::typed_text(policy), why));
        }
        let policy = match propagation {
            None => None,
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Background") => Some(Propagation::Background),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                faults.push(FieldError::not_supported(at, BadValue::typed_text(other), &supported));
                None
            }
        };
        faults.extend(dry_run_fault(dry_run));
        if !faults.is_empty() {
            return Err(Failure::invalid("meta.k8s.io", "DeleteOptions", "", &faults));
        }
        Ok(Self { propagation: policy, dry_run: !dry_run.is_empty(), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn query_and_body_say_the_same() {
        let query = "gracePeriodSeconds=5&uid=u&resourceVersion=7&propagationPolicy=Foreground&dryRun=All";
        let body = json!({
            "gracePeriodSeconds": 5, "propagationPolicy": "Foreground", "dryRun": ["All"],
            "preconditions": {"uid": "u", "resourceVersion": "7"},
        });
        let expected = DeleteOptions {
            grace_period_seconds: Some(5),
            uid: Some("u".into()),
            resource_version: Some("7".into()),
            orphan_dependents: None,
            propagation: Some(Propagation::Foreground),
            dry_run: true,
        };
        assert_eq!(DeleteOptions::from_query(&Query::parse(query)), Ok(expected.clone()));
        assert_eq!(DeleteOptions::from_object(body.as_object().unwrap()), Ok(expected));
        assert_eq!(DeleteOptions::from_query(&Query::parse("uid=")), Ok(DeleteOptions::default()));
    }

    #[test]
    fn faults_are_told_in_kubernetes_words() {
        let supported = "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
        for (text, code, message) in [
            ("gracePeriodSeconds=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax".to_owned()),
            ("propagationPolicy=x", 422, format!("propagationPolicy: Unsupported value: \"x\": {supported}")),
            ("propagationPolicy=", 422, format!("propagationPolicy: Unsupported value: \"\": {supported}")),
            ("dryRun=x", 422, "dryRun: Unsupported value: [\"x\"]: supported values: \"All\"".to_owned()),
            (
                "propagationPolicy=Orphan&orphanDependents=true",
                422,
                "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set"
                    .to_owned(),
            ),
        ] {
            let failure = DeleteOptions::from_query(&Query::parse(text)).unwrap_err();
            let expected =
                if code == 422 { format!("DeleteOptions.meta.k8s.io \"\" is invalid: {message}") } else { message };
            assert_eq!((failure.code, failure.message), (code, expected), "{text}");
        }
    }
}
