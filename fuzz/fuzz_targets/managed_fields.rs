//! managedFields from hostile clients and objects of built-in kinds: what is written is read again as the same, sets keep
//! the laws of sets, and what was applied once needs no second time.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rolewright_fuzz::{fields::Fields, typed};
use rolewright_server::codec::conform;
use rolewright_server::facts::{self, Resource};
use rolewright_server::managed::{Kind, Request, Set, apply, keep_times, update};
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

#[derive(Debug)]
struct Input {
    resource: &'static Resource,
    fields: [Fields; 2],
    live: Option<Value>,
    new: Value,
    subresource: bool,
    force: bool,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let resource = input.choose(facts::resources())?;
        let fields = input.arbitrary()?;
        let ty = facts::type_of(resource.group, resource.version, resource.kind);
        let object = |input: &mut Unstructured<'a>| ty.map_or(Ok(json!({})), |ty| typed::object(input, ty));
        let live = if input.ratio(1, 3)? { None } else { Some(object(input)?) };
        Ok(Self {
            resource,
            fields,
            live,
            new: object(input)?,
            subresource: input.ratio(1, 6)?,
            force: input.arbitrary()?,
        })
    }
}

fuzz_target!(|input: Input| {
    if let [Ok(a), Ok(b)] = input.fields.each_ref().map(|fields| Set::from_fields(&fields.0)) {
        laws(&a, &b);
    }
    let resource = input.resource;
    let Some(ty) = facts::type_of(resource.group, resource.version, resource.kind) else { return };
    let api_version = match resource.group {
        "" => resource.version.to_owned(),
        group => format!("{group}/{}", resource.version),
    };
    let request = Request {
        kind: Kind::BuiltIn(ty),
        name: resource.kind,
        api_version: &api_version,
        manager: "fuzz",
        subresource: if input.subresource { "status" } else { "" },
        reset_fields: &["status"],
        versions: None,
        now: "2000-01-01T00:00:00Z",
    };
    let later = Request { now: "2000-01-02T00:00:00Z", ..request };
    let object = |mut value: Value| -> Option<Object> {
        let fields = value.as_object_mut()?;
        fields.insert("apiVersion".into(), api_version.as_str().into());
        fields.insert("kind".into(), resource.kind.into());
        value.as_object().cloned()
    };
    let typed = |object: Object| match conform(ty, Value::Object(object)).ok()?.value {
        Value::Object(object) => Some(object),
        _ => None,
    };
    let with_managers = |mut object: Object| -> Object {
        let entry = |manager: &str, operation: &str, fields: &Fields| {
            json!({
                "manager": manager, "operation": operation, "apiVersion": api_version, "fieldsType": "FieldsV1",
                "fieldsV1": fields.0, "time": "1999-01-01T00:00:00Z",
            })
        };
        let list = json!([entry("fuzz", "Apply", &input.fields[0]), entry("other", "Update", &input.fields[1])]);
        match object.get_mut("metadata") {
            Some(Value::Object(metadata)) => drop(metadata.insert("managedFields".into(), list)),
            _ => drop(object.insert("metadata".into(), json!({"managedFields": list}))),
        }
        object
    };
    let live = input.live.and_then(object).and_then(typed).map(with_managers);
    let Some(mut document) = object(input.new) else { return };
    if let Some(Value::Object(metadata)) = document.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    if let Ok(applied) = apply(&request, live.as_ref(), &document, input.force) {
        // Who owns nothing is no manager yet, and the next one finds an object without any.
        if applied.get("metadata").is_some_and(|metadata| metadata.get("managedFields").is_some()) {
            let mut again = apply(&later, Some(&applied), &document, false).expect("what was applied can be applied");
            keep_times(request.kind, &applied, &mut again);
            assert_eq!(again, applied, "what was applied needs no second time");
        }
        idle(&later, &applied);
    }
    if let Some(mut new) = typed(document) {
        update(&request, live.as_ref(), &mut new);
        if let Some(live) = &live {
            keep_times(request.kind, live, &mut new);
        }
        idle(&later, &new);
    }
});

/// What stays as it is keeps its managers.
fn idle(request: &Request<'_>, object: &Object) {
    let mut again = object.clone();
    update(request, Some(object), &mut again);
    keep_times(request.kind, object, &mut again);
    assert_eq!(again, *object);
}

fn laws(a: &Set, b: &Set) {
    assert_eq!(Set::from_fields(&a.to_fields()).as_ref(), Ok(a));
    let text: Value = serde_json::from_str(&a.to_text()).expect("FieldsV1 is JSON");
    assert_eq!(text, a.to_fields());
    let mut rest = a.clone();
    rest.subtract(b);
    assert_eq!(rest.clone().union(a.intersection(b)), *a);
    assert!(rest.intersection(b).is_empty());
    assert_eq!(a.clone().union(b.clone()), b.clone().union(a.clone()));
    assert_eq!(a.intersection(b), b.intersection(a));
    assert_eq!(a.clone().union(a.clone()), *a);
    assert_eq!(Set::union_all(vec![a.clone(), b.clone(), a.clone()]), a.clone().union(b.clone()));
    let mut trees = a.clone();
    trees.subtract_trees(b);
    assert_eq!(trees.intersection(b).is_empty(), true, "what is gone with its trees is gone");
}
