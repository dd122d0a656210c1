//! Configurations of custom kinds, applied one after the other in two versions: what was applied once needs no second
//! time, and what an applier says is what the object says.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rolewright_crd::Schema;
use rolewright_fuzz::schema::{KindSchema, object_of};
use rolewright_server::managed::{
    Converted, Kind, Request, Unconverted, Version, Versions, apply, keep_times, unchanged, update,
};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

#[derive(Debug)]
struct Input {
    schemas: [Value; 2],
    live: Option<Object>,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    document: Object,
    second: bool,
    manager: bool,
    subresource: bool,
    force: bool,
    update: bool,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let KindSchema(first) = input.arbitrary()?;
        let second = if input.ratio(3, 4)? { first.clone() } else { input.arbitrary::<KindSchema>()?.0 };
        let live = if input.ratio(1, 2)? { Some(object_of(input, &first)?) } else { None };
        let mut steps = Vec::new();
        for _ in 0..input.int_in_range(1..=4)? {
            let other = input.ratio(1, 4)?;
            steps.push(Step {
                document: object_of(input, if other { &second } else { &first })?,
                second: other,
                manager: input.arbitrary()?,
                subresource: input.ratio(1, 6)?,
                force: input.arbitrary()?,
                update: input.ratio(1, 3)?,
            });
        }
        Ok(Self { schemas: [first, second], live, steps })
    }
}

/// Two versions of one kind.
#[derive(Debug)]
struct Both([Schema; 2]);

impl Both {
    fn find(&self, name: &str) -> Option<Version<'_>> {
        let [first, second] = &self.0;
        let schema = match name {
            "v1" => first,
            "v2" => second,
            _ => return None,
        };
        Some(Version { kind: Kind::Custom(schema), reset_fields: &["status"] })
    }
}

impl Versions for Both {
    fn convert(&self, object: &Object, from: &str, to: &str) -> std::result::Result<Converted<'_>, Unconverted> {
        unchanged(object, from, to, |name| self.find(name))
    }
}

fn of_kind(mut object: Object, api_version: &str) -> Object {
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), "Thing".into());
    if !object.get("metadata").is_none_or(Value::is_object) {
        object.remove("metadata");
    }
    object
}

fn has_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty() || items.iter().any(has_nothing),
        Value::Object(object) => object.is_empty() || object.values().any(has_nothing),
        _ => false,
    }
}

fuzz_target!(|input: Input| {
    let versions = Both(input.schemas.each_ref().map(Schema::compile));
    let mut live = input.live.map(|live| of_kind(live, "x/v1"));
    for step in input.steps {
        let version = if step.second { "v2" } else { "v1" };
        let api_version = format!("x/{version}");
        let Some(found) = versions.find(version) else { return };
        let request = Request {
            kind: found.kind,
            name: "Thing",
            api_version: &api_version,
            manager: if step.manager { "one" } else { "two" },
            subresource: if step.subresource { "status" } else { "" },
            reset_fields: found.reset_fields,
            now: "2000-01-01T00:00:00Z",
            versions: Some(&versions),
        };
        let later = Request { now: "2000-01-02T00:00:00Z", ..request };
        let document = of_kind(step.document, &api_version);
        live = live.map(|live| of_kind(live, &api_version));
        if step.update {
            let mut new = document;
            update(&request, live.as_ref(), &mut new);
            let mut again = new.clone();
            update(&later, Some(&new), &mut again);
            keep_times(request.kind, &new, &mut again);
            assert_eq!(again, new, "what stays as it is keeps its managers");
            live = Some(new);
        } else if let Ok(applied) = apply(&request, live.as_ref(), &document, step.force) {
            // Who owns nothing is no manager yet, and the next one finds an object without any. A list whose last item goes
            // is gone or nothing, and an empty list the next time.
            let managed = applied.get("metadata").is_some_and(|metadata| metadata.get("managedFields").is_some());
            if managed && !applied.values().chain(document.values()).any(has_nothing) {
                let again = apply(&later, Some(&applied), &document, false);
                let mut again = again.expect("what was applied can be applied");
                keep_times(request.kind, &applied, &mut again);
                assert_eq!(again, applied, "what was applied needs no second time");
            }
            live = Some(applied);
        }
    }
});
