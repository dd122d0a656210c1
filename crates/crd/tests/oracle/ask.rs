//! One case, by both.

use anyhow::Result;
use rolewright_crd::Schema;
use rolewright_crd::metadata::Malformed;
use rolewright_crd::strategy::{Kind, Scale, finalizer_warnings};
use rolewright_testkit::Metadata;
use rolewright_testkit::oracle::Oracle;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An object on its way into the store.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) object: Value,
    #[serde(default)]
    pub(crate) old: Option<Value>,
    /// The kind has the status subresource.
    #[serde(default)]
    pub(crate) status: bool,
    /// Only the status is updated.
    #[serde(default)]
    pub(crate) status_only: bool,
    #[serde(default)]
    pub(crate) stored: bool,
    #[serde(default)]
    pub(crate) scale: bool,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Theirs>,
}

#[derive(Debug, Deserialize)]
struct Theirs {
    structural: Vec<String>,
    dropped: Vec<String>,
    refusals: Vec<String>,
    decoded: Option<Value>,
    prepared: Option<Value>,
    errors: Vec<String>,
    warnings: Vec<String>,
    #[serde(default)]
    error: String,
}

/// What came of a case.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) refusal: Option<String>,
    pub(crate) dropped: Vec<String>,
    pub(crate) decoded: Value,
    pub(crate) prepared: Value,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// What Kubernetes makes of the cases, beside what we make of them.
pub(crate) struct Compared {
    pub(crate) ours: Outcome,
    pub(crate) theirs: Outcome,
    /// The schema is one that a definition may have.
    pub(crate) structural: bool,
}

impl Compared {
    /// What differs, if anything does.
    pub(crate) fn difference(&self, case: &Case) -> Option<String> {
        let (ours, theirs) = (&self.ours, &self.theirs);
        if ours == theirs {
            return None;
        }
        let mut text = serde_json::to_string(case).expect("cases are JSON");
        let mut tell = |what: &str, ours: Value, theirs: Value| {
            if ours != theirs {
                text = format!("{text}\n{what}\n  ours       {ours:#}\n  Kubernetes {theirs:#}");
            }
        };
        tell("refusal", json!(ours.refusal), json!(theirs.refusal));
        tell("dropped", json!(ours.dropped), json!(theirs.dropped));
        tell("decoded", ours.decoded.clone(), theirs.decoded.clone());
        tell("prepared", ours.prepared.clone(), theirs.prepared.clone());
        tell("errors", json!(ours.errors), json!(theirs.errors));
        tell("warnings", json!(ours.warnings), json!(theirs.warnings));
        Some(text)
    }
}

pub(crate) fn compare(oracle: &mut Oracle, cases: &[Case]) -> Result<Vec<Compared>> {
    let items: Vec<Value> = cases.iter().map(item).collect();
    let answer: Answer = oracle.ask("custom", json!({"items": items}))?;
    anyhow::ensure!(answer.results.len() == cases.len(), "one result for each case");
    cases.iter().zip(answer.results).map(|(case, theirs)| both(case, theirs)).collect()
}

fn item(case: &Case) -> Value {
    let mut item = json!({
        "group": "example.com", "version": "v1", "kind": "Thing", "namespaced": true,
        "schema": case.schema, "object": case.object, "status": case.status, "stored": case.stored,
        "subresource": if case.status_only { "status" } else { "" },
    });
    if let Some(old) = &case.old {
        item["old"] = old.clone();
    }
    if case.scale {
        item["scale"] = json!({
            "specReplicasPath": ".spec.a", "statusReplicasPath": ".status.b", "labelSelectorPath": ".status.c.name",
        });
    }
    item
}

fn both(case: &Case, theirs: Theirs) -> Result<Compared> {
    anyhow::ensure!(theirs.error.is_empty(), "the oracle failed: {}", theirs.error);
    let structural = theirs.structural.is_empty();
    let mut ours = ours(case);
    let mut theirs_outcome = Outcome::default();
    if theirs.refusals.is_empty() {
        theirs_outcome = Outcome {
            refusal: None,
            dropped: theirs.dropped,
            decoded: plain(&theirs.decoded.unwrap_or_default()),
            prepared: plain(&theirs.prepared.unwrap_or_default()),
            errors: theirs.errors,
            warnings: theirs.warnings,
        };
        theirs_outcome.errors.sort();
    } else {
        // Any of them may be found first.
        let said = ours.refusal.take_if(|ours| theirs.refusals.contains(ours));
        theirs_outcome.refusal = said.or_else(|| theirs.refusals.first().cloned());
        ours.refusal =
            ours.refusal.or_else(|| theirs_outcome.refusal.clone().filter(|said| theirs.refusals.contains(said)));
    }
    Ok(Compared { ours, theirs: theirs_outcome, structural })
}

pub(crate) fn ours(case: &Case) -> Outcome {
    let mut schema = Schema::compile(&case.schema);
    schema.coerce_defaults(&Metadata);
    let scale = Scale {
        spec_replicas: ".spec.a".into(),
        status_replicas: ".status.b".into(),
        label_selector: Some(".status.c.name".into()),
    };
    let kind = Kind {
        schema: &schema,
        api_version: "example.com/v1",
        kind: "Thing",
        status: case.status,
        scale: case.scale.then_some(&scale),
        preserve_unknown_fields: false,
        meta: &Metadata,
    };
    let mut object = members(&case.object);
    let malformed = if case.stored { Malformed::Drop } else { Malformed::Refuse };
    let dropped = match kind.decode(&mut object, malformed) {
        Ok(dropped) => dropped,
        Err(refusal) => return Outcome { refusal: Some(refusal.to_string()), ..Outcome::default() },
    };
    let decoded = plain(&Value::Object(object.clone()));
    let old = case.old.as_ref().map(|old| {
        let mut old = members(old);
        kind.decode(&mut old, Malformed::Drop).expect("what is malformed is dropped");
        old
    });
    let (errors, warnings) = match &old {
        None => {
            kind.prepare_create(&mut object);
            (kind.validate_create(&object, Vec::new()), finalizer_warnings(&object, None))
        }
        Some(old) if case.status_only => {
            kind.prepare_status(&mut object, old);
            (kind.validate_status(&object, old, Vec::new()), Vec::new())
        }
        Some(old) => {
            kind.prepare_update(&mut object, old);
            (kind.validate_update(&object, old, Vec::new()), finalizer_warnings(&object, Some(old)))
        }
    };
    let mut errors: Vec<String> = errors.iter().map(|error| format!("{} {error}", error.kind.type_text())).collect();
    errors.sort();
    Outcome { refusal: None, dropped, decoded, prepared: plain(&Value::Object(object)), errors, warnings }
}

fn members(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().expect("objects are objects")
}

/// Numbers in one form: Go writes `1.0` as `1`.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e21 => json!(format!("{float}")),
            Some(float) if number.is_f64() => json!(format!("{float:e}")),
            _ => json!(number.to_string()),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}
