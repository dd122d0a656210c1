//! Request bodies of any kind, in any form.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_server::codec::{FieldValidation, Gvk, conform, decode};
use rolewright_server::facts;
use serde_json::Value;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    resource: usize,
    form: Form,
    bytes: &'a [u8],
}

#[derive(Debug, Arbitrary)]
enum Form {
    Json,
    Yaml,
    Protobuf,
    /// A message in an envelope that is right.
    Message,
}

fuzz_target!(|input: Input<'_>| {
    let resources = facts::resources();
    let resource = &resources[input.resource % resources.len()];
    let expected = Gvk { group: resource.group, version: resource.version, kind: resource.kind };
    let (content_type, body) = match input.form {
        Form::Json => ("application/json", input.bytes.to_vec()),
        Form::Yaml => ("application/yaml", input.bytes.to_vec()),
        Form::Protobuf => (PROTOBUF, [MAGIC, input.bytes].concat()),
        Form::Message => (PROTOBUF, envelope(input.bytes)),
    };
    let Ok(decoded) = decode(Some(content_type), &body, expected, FieldValidation::Warn) else { return };
    let ty = facts::type_of(resource.group, resource.version, resource.kind).expect("every resource has a type");
    if let Ok(again) = conform(ty, Value::Object(decoded.object)) {
        assert!(again.strict.is_empty(), "{:?}", again.strict);
    }
});

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const MAGIC: &[u8] = b"k8s\0";

fn envelope(message: &[u8]) -> Vec<u8> {
    let mut out = [MAGIC, &[0x12]].concat();
    let mut length = message.len();
    while length >= 0x80 {
        out.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(message);
    out
}
