//! Configurations of custom kinds, with schemas and objects from hostile clients: nothing panics, and what was applied once
//! needs no second time.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_crd::Schema;
use rolewright_server::managed::{
    Converted, Kind, Request, Unconverted, Version, Versions, apply, keep_times, unchanged, update,
};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    schemas: [&'a [u8]; 2],
    live: &'a [u8],
    applied: [&'a [u8]; 2],
    others: bool,
    subresource: bool,
    force: bool,
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
    fn convert(&self, object: &Object, from: &str, to: &str) -> Result<Converted<'_>, Unconverted> {
        unchanged(object, from, to, |name| self.find(name))
    }
}

fuzz_target!(|input: Input<'_>| {
    let schema = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).map(|schema| Schema::compile(&schema));
    let [Ok(first), Ok(second)] = input.schemas.map(schema) else { return };
    let versions = Both([first, second]);
    let object = |bytes: &[u8], version: &str| -> Option<Object> {
        let mut object: Object = serde_json::from_slice(bytes).ok()?;
        object.insert("apiVersion".into(), format!("x/{version}").into());
        object.insert("kind".into(), "Thing".into());
        Some(object)
    };
    let mut live = object(input.live, "v1");
    for (bytes, version) in input.applied.into_iter().zip(["v1", if input.others { "v2" } else { "v1" }]) {
        let api_version = format!("x/{version}");
        let Some(found) = versions.find(version) else { return };
        let request = Request {
            kind: found.kind,
            name: "Thing",
            api_version: &api_version,
            manager: version,
            subresource: if input.subresource { "status" } else { "" },
            reset_fields: found.reset_fields,
            now: "2000-01-01T00:00:00Z",
            versions: Some(&versions),
        };
        let Some(document) = object(bytes, version) else { return };
        if let Some(live) = &mut live {
            live.insert("apiVersion".into(), api_version.as_str().into());
        }
        if let Ok(applied) = apply(&request, live.as_ref(), &document, input.force) {
            if let Ok(mut again) = apply(&request, Some(&applied), &document, true) {
                keep_times(request.kind, &applied, &mut again);
            }
            live = Some(applied);
        }
        let mut new = document;
        update(&request, live.as_ref(), &mut new);
    }
});
