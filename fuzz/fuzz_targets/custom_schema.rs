//! Schemas of custom kinds, hostile or mostly right, and what they make of objects.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rolewright_crd::metadata::Malformed;
use rolewright_crd::strategy::{Kind, Scale, finalizer_warnings};
use rolewright_crd::{Rules, Schema, definition};
use rolewright_fuzz::schema::{KindSchema, object_of};
use rolewright_server::strategy::embedded::Metadata;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

#[derive(Debug)]
struct Input {
    schema: Value,
    new: Object,
    old: Object,
    status: bool,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let status = input.arbitrary()?;
        if input.ratio(1, 8)? {
            let text = |input: &mut Unstructured<'a>| -> Result<Value> {
                Ok(serde_json::from_str(input.arbitrary()?).unwrap_or_default())
            };
            let (new, old) = (object(text(input)?), object(text(input)?));
            return Ok(Self { schema: text(input)?, new, old, status });
        }
        let KindSchema(schema) = input.arbitrary()?;
        let old = object_of(input, &schema)?;
        // A change leaves most as it was.
        let mut new = old.clone();
        if input.ratio(3, 4)? {
            new.extend(object_of(input, &schema)?);
        }
        Ok(Self { schema, new, old, status })
    }
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other => [("spec".to_owned(), other)].into_iter().collect(),
    }
}

fuzz_target!(|input: Input| {
    let mut schema = Schema::compile(&input.schema);
    schema.coerce_defaults(&Metadata);
    let accepted = accepted(&input.schema);
    let scale = Scale {
        spec_replicas: ".spec.a".into(),
        status_replicas: ".status.b".into(),
        label_selector: Some(".status.name".into()),
    };
    let kind = Kind {
        schema: &schema,
        api_version: "a/v1",
        kind: "Thing",
        status: input.status,
        scale: Some(&scale),
        preserve_unknown_fields: false,
        meta: &Metadata,
    };
    let (mut new, mut old) = (input.new, input.old);
    let decoded = kind.decode(&mut new, Malformed::Refuse);
    if decoded.is_ok() && accepted {
        let once = new.clone();
        let again = kind.decode(&mut new, Malformed::Refuse);
        assert_eq!(again, Ok(Vec::new()), "what was decoded has nothing unknown");
        assert_eq!(once, new, "decoding is complete");
    }
    schema.prune(&mut new);
    assert!(schema.prune_and_tell(&mut new).is_empty(), "what is pruned has nothing more to prune");
    schema.apply_defaults(&mut new);
    let once = new.clone();
    schema.apply_defaults(&mut new);
    assert_eq!(once, new, "defaults are complete");
    if accepted {
        assert!(schema.prune_and_tell(&mut new).is_empty(), "defaults have nothing to prune");
    }
    let _ = kind.decode(&mut old, Malformed::Drop);
    let fresh = schema.validate(&new);
    for error in schema.validate_update(&new, &old) {
        assert!(fresh.contains(&error), "{error} is held against a change only");
    }
    if accepted && is_described(&schema, &new) {
        assert_eq!(schema.validate_update(&new, &new), [], "what stays as it is is not judged");
    }
    let _ = finalizer_warnings(&new, Some(&old));
    let faults = kind.validate_create(&new, Vec::new());
    kind.validate_update(&new, &old, Vec::new());
    kind.validate_status(&new, &old, Vec::new());
    if accepted {
        judge(&input.schema, &schema, &new, &old, &faults);
    }
    let mut prepared = new.clone();
    kind.prepare_create(&mut prepared);
    kind.prepare_update(&mut prepared, &old);
    kind.prepare_status(&mut prepared, &old);
});

/// Whether the schema describes every field: what it does not describe counts as changed.
fn is_described(schema: &Schema, object: &Object) -> bool {
    let value = |schema: &Schema, value: &Value| match value {
        Value::Object(object) => is_described(schema, object),
        // WHY: where items are not told apart by keys, none is the same as before.
        Value::Array(items) => items.is_empty(),
        _ => true,
    };
    object.iter().all(|(name, part)| schema.field(name).is_some_and(|schema| value(schema, part)))
}

/// Whether a definition with this schema is valid. What is, stays so in the form in which it is stored.
fn accepted(schema: &Value) -> bool {
    let Value::Object(mut definition) = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.a.io"},
        "spec": {
            "group": "a.io", "scope": "Namespaced", "conversion": {"strategy": "None"},
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
        "status": {"storedVersions": ["v1"]},
    }) else {
        unreachable!("it is an object")
    };
    if !definition::validate(&definition, &Metadata).is_empty() {
        return false;
    }
    definition::canonicalize(&mut definition, &Metadata);
    assert_eq!(definition::validate(&definition, &Metadata), [], "what is stored is valid");
    let stored = definition.clone();
    definition::canonicalize(&mut definition, &Metadata);
    assert_eq!(stored, definition, "what is stored needs no second time");
    assert_eq!(definition::validate_update(&definition, &stored, &Metadata), [], "what stays as it is is valid");
    true
}

/// The rules of a schema say the same each time, and nothing of what stays as it is.
fn judge(
    source: &Value,
    schema: &Schema,
    new: &Object,
    old: &Object,
    faults: &[rolewright_core::validate::FieldError],
) {
    let rules = Rules::compile(source);
    let once = rules.judge(schema, new, None, faults);
    assert_eq!(once.errors, rules.judge(schema, new, None, faults).errors, "rules have one answer");
    rules.judge(schema, new, Some(old), faults);
}
