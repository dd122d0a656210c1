//! managedFields from hostile clients: nothing panics, and what is written is read again as the same.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_server::codec::conform;
use rolewright_server::facts;
use rolewright_server::managed::{Kind, Request, Set, apply, keep_times, update};
use serde_json::{Map, Value};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    kind: u8,
    fields: [&'a [u8]; 2],
    live: &'a [u8],
    new: &'a [u8],
    subresource: bool,
    force: bool,
}

fuzz_target!(|input: Input<'_>| {
    let sets =
        input.fields.map(|bytes| serde_json::from_slice(bytes).ok().and_then(|value| Set::from_fields(&value).ok()));
    if let [Some(a), Some(b)] = sets {
        laws(&a, &b);
    }
    let stored = facts::resources();
    let resource = &stored[usize::from(input.kind) % stored.len()];
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
    let object = |bytes: &[u8]| -> Option<Map<String, Value>> {
        let mut value: Value = serde_json::from_slice(bytes).ok()?;
        let fields = value.as_object_mut()?;
        fields.insert("apiVersion".into(), api_version.as_str().into());
        fields.insert("kind".into(), resource.kind.into());
        value.as_object().cloned()
    };
    let typed = |object: Map<String, Value>| match conform(ty, Value::Object(object)).ok()?.value {
        Value::Object(object) => Some(object),
        _ => None,
    };
    let live = object(input.live).and_then(typed);
    let Some(document) = object(input.new) else { return };
    if let Ok(mut applied) = apply(&request, live.as_ref(), &document, input.force) {
        // Applied once more, nothing is left to do.
        if let Ok(mut again) = apply(&request, Some(&applied), &document, input.force) {
            keep_times(request.kind, &applied, &mut again);
        }
        update(&request, live.as_ref(), &mut applied);
    }
    if let Some(mut new) = typed(document) {
        update(&request, live.as_ref(), &mut new);
        if let Some(live) = &live {
            keep_times(request.kind, live, &mut new);
        }
    }
});

fn laws(a: &Set, b: &Set) {
    assert_eq!(Set::from_fields(&a.to_fields()).as_ref(), Ok(a));
    let text: Value = serde_json::from_str(&a.to_text()).expect("FieldsV1 is JSON");
    assert_eq!(text, a.to_fields());
    let mut rest = a.clone();
    rest.subtract(b);
    assert_eq!(rest.clone().union(a.intersection(b)), *a);
    assert!(rest.intersection(b).is_empty());
    assert_eq!(a.clone().union(b.clone()), b.clone().union(a.clone()));
}
