//! Random bodies in JSON and protobuf.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use rolewright_server::codec::FieldValidation;
use rolewright_testkit::strategy::document::{Document, document};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Body, JSON, PROTOBUF, YAML, compare_bodies};
use rolewright_testkit::compare::{compare, decisions};

fn bodies(flawed: bool, body: impl Fn(&Document, u32, u8) -> Body + Copy) -> impl Strategy<Value = Vec<Body>> {
    let one =
        (document(flawed), any::<u32>(), any::<u8>()).prop_map(move |(document, at, byte)| body(&document, at, byte));
    prop::collection::vec(one, 1..20)
}

/// A kind or version that is not that of the document, or only another way to say it.
fn disguised(document: &Document, at: u32) -> String {
    let Document { group, version, kind, .. } = document;
    let own = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
    let kinds = [
        kind.as_str(),
        "",
        "Secret",
        "Pod",
        "Nope",
        "Scale",
        "HorizontalPodAutoscaler",
        "ClusterRole",
        "Event",
        "List",
    ];
    let versions = [
        own.as_str(),
        "",
        "v1",
        "v2",
        "apps/v1",
        "apps/",
        "a/b/c",
        "/",
        "/v1",
        "autoscaling/v1",
        "events.k8s.io/v1",
        "nope.io/v1",
    ];
    let at_index = at as usize;
    let kind = kinds.get(at_index % kinds.len()).expect("within");
    let version = versions.get(at_index / kinds.len() % versions.len()).expect("within");
    let rest = document.body.trim_start_matches('{');
    let comma = if rest == "}" { "" } else { "," };
    match at >> 24 {
        0..20 => format!(r#"{{"Kind":"{kind}","APIVERSION":"{version}"{comma}{rest}"#),
        20..24 => format!(r#"{{"kind":5{comma}{rest}"#),
        24..28 => format!(r#"{{"apiVersion":["{version}"]{comma}{rest}"#),
        28..32 => format!(r#"["{kind}"]"#),
        32..36 => "null".to_owned(),
        36..40 => format!(r#"{{"kind":null,"kind":"{kind}"{comma}{rest}"#),
        _ => format!(r#"{{"kind":"{kind}","apiVersion":"{version}"{comma}{rest}"#),
    }
}

/// The same text with one character gone, doubled or replaced.
fn broken(text: &str, at: u32, byte: u8) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = at as usize % letters.len();
    match byte {
        0..60 => letters.truncate(at),
        60..120 => {
            letters.remove(at);
        }
        120..160 => letters.insert(at, '"'),
        _ => {
            let with: Vec<char> = "{}[],:\"\\ 0123-+.eEtfnx\u{0}\n\u{7f}é日'".chars().collect();
            letters.splice(at..=at, with.get(usize::from(byte) % with.len()).copied());
        }
    }
    letters.into_iter().collect()
}

#[test]
fn json_is_read_as_by_kubernetes() {
    for (suite, flawed, strict) in
        [("decode_valid", false, false), ("decode_strict", true, true), ("decode_lax", true, false)]
    {
        let body = |document: &Document, _, _| Body::new(JSON, document.body.as_bytes(), document, strict);
        compare(suite, decisions() / 250, bodies(flawed, body), |oracle, bodies| compare_bodies(oracle, bodies));
    }
}

#[test]
fn broken_json_is_refused_as_by_kubernetes() {
    let body = |document: &Document, at, byte| {
        Body::new(JSON, broken(&document.body, at, byte).as_bytes(), document, at % 2 == 0)
    };
    compare("decode_broken", decisions() / 250, bodies(false, body), |oracle, bodies| compare_bodies(oracle, bodies));
}

#[test]
fn kinds_and_versions_are_told_apart_as_by_kubernetes() {
    let body = |document: &Document, at, _| Body::new(JSON, disguised(document, at).as_bytes(), document, at % 2 == 0);
    compare("decode_kind", decisions() / 250, bodies(true, body), |oracle, bodies| compare_bodies(oracle, bodies));
}

#[test]
fn protobuf_is_read_as_by_kubernetes() {
    #[derive(Deserialize)]
    struct Encoded {
        results: Vec<Envelope>,
    }
    #[derive(Deserialize)]
    struct Envelope {
        base64: String,
    }
    let case = prop::collection::vec((document(false), any::<u32>(), any::<u8>()), 1..20);
    compare("decode_protobuf", decisions() / 250, case, |oracle, cases| {
        let objects: Vec<(Value, &(Document, u32, u8))> = cases
            .iter()
            .filter_map(|case| {
                let body = Body::new(JSON, case.0.body.as_bytes(), &case.0, false);
                let object = body.decode(FieldValidation::Ignore).ok()?.object;
                Some((json!({"object": object}), case))
            })
            .collect();
        let items: Vec<&Value> = objects.iter().map(|(object, _)| object).collect();
        let encoded: Encoded = oracle.ask("encode_proto", json!({"items": items}))?;
        let mut bodies = Vec::new();
        for (envelope, (_, (document, at, byte))) in encoded.results.iter().zip(&objects) {
            let mut bytes = STANDARD.decode(&envelope.base64)?;
            if bytes.is_empty() {
                continue;
            }
            bodies.push(Body::new(PROTOBUF, &bytes, document, true));
            let at = *at as usize % bytes.len();
            match byte {
                0..80 => bytes.truncate(at),
                80..200 => {
                    bytes.splice(at..=at, [*byte]);
                }
                _ => bytes.insert(at, *byte),
            }
            bodies.push(Body::new(PROTOBUF, &bytes, document, false));
        }
        compare_bodies(oracle, &bodies)
    });
}

#[test]
fn json_is_read_as_yaml_too() {
    let body = |document: &Document, at, _| Body::new(YAML, document.body.as_bytes(), document, at % 2 == 0);
    compare("decode_yaml", decisions() / 250, bodies(true, body), |oracle, bodies| compare_bodies(oracle, bodies));
}
