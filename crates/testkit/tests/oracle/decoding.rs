//! Request bodies become the same objects, and the same ones are refused with the same words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use rolewright_server::codec::{Decoded, FieldValidation, Gvk, decode, decode_options};
use rolewright_server::status::Failure;
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::document::{Document, document};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::compare::{compare, decisions};

#[derive(Deserialize)]
struct Answer {
    results: Vec<Theirs>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Theirs {
    object: Option<Value>,
    error: String,
    warnings: Vec<String>,
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Status {
    message: String,
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A request body.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Body {
    #[serde(rename = "contentType")]
    content_type: String,
    #[serde(rename = "bodyBase64")]
    base64: String,
    group: String,
    version: String,
    kind: String,
    strict: bool,
}

impl Body {
    fn new(content_type: &str, bytes: &[u8], of: &Document, strict: bool) -> Self {
        Self {
            content_type: content_type.to_owned(),
            base64: STANDARD.encode(bytes),
            group: of.group.clone(),
            version: of.version.clone(),
            kind: of.kind.clone(),
            strict,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(&self.base64).expect("written by `new`")
    }

    fn decode(&self, validation: FieldValidation) -> Result<Decoded, Failure> {
        let expected = Gvk { group: &self.group, version: &self.version, kind: &self.kind };
        decode(Some(&self.content_type), &self.bytes(), expected, validation)
    }
}

fn compare_bodies(oracle: &mut Oracle, bodies: &[Body]) -> anyhow::Result<Option<String>> {
    let answer: Answer = oracle.ask("decode", json!({"items": bodies}))?;
    Ok(bodies.iter().zip(&answer.results).find_map(|(body, theirs)| differs(body, theirs)))
}

fn differs(body: &Body, theirs: &Theirs) -> Option<String> {
    let lax = if body.strict { FieldValidation::Warn } else { FieldValidation::Ignore };
    let outcome = body.decode(lax);
    let about = format!("{} {}", body.kind, String::from_utf8_lossy(&body.bytes()));
    let refusal = theirs.status.as_ref().map(|status| status.message.as_str());
    match (&outcome, &theirs.object) {
        (Ok(ours), Some(object)) => {
            let mine = Value::Object(ours.object.clone());
            if mine != *object {
                return Some(format!("{about}\nours       {mine}\nKubernetes {object}"));
            }
            // What the handler finds in the object is none of the decoder's business.
            let found = |text: &&String| !text.starts_with(".metadata.ownerReferences");
            let warnings: Vec<&String> = theirs.warnings.iter().filter(found).collect();
            if ours.warnings.iter().ne(warnings.iter().copied()) {
                return Some(format!("{about}\nours       {:?}\nKubernetes {warnings:?}", ours.warnings));
            }
        }
        (Err(failure), None) if same_refusal(&failure.message, refusal) => {}
        // With a version that does not match, it depends on strictness what comes first.
        (Err(_), None) if body.strict && refusal.is_some() => {}
        // Kubernetes reads bytes that should be JSON as they are, and cannot write them.
        (Err(_), None) if theirs.error.contains("error calling MarshalJSON") => return None,
        // The answer of the handler counts; the oracle's plain decoder does not know about versions.
        (Err(failure), Some(_)) if same_refusal(&failure.message, refusal) => return None,
        (outcome, _) => {
            let outcome = outcome.as_ref().map(|decoded| &decoded.object).map_err(|failure| &failure.message);
            return Some(format!("{about}\nours       {outcome:?}\nKubernetes {refusal:?} ({})", theirs.error));
        }
    }
    if body.strict {
        let mine = body.decode(FieldValidation::Strict).err().map(|failure| failure.message);
        if !same_refusal(mine.as_deref().unwrap_or_default(), refusal.or(Some(""))) {
            return Some(format!("{about}\nours       {mine:?}\nKubernetes {refusal:?}"));
        }
    }
    None
}

/// The errors of YAML come from another parser. Fields have names in Go that do not follow from those in JSON, and schemes are named after files, for which it
/// matters how a binary is built.
fn same_refusal(ours: &str, theirs: Option<&str>) -> bool {
    fn known(text: &str) -> &str {
        let end = ["wrong wireType", "in scheme", "yaml: ", "unsupported map key"]
            .iter()
            .filter_map(|mark| text.find(mark))
            .min();
        end.map_or(text, |end| &text[..end])
    }
    // Stray bytes in the envelope are replaced before anybody quotes them.
    theirs.is_some_and(|theirs| known(ours) == known(theirs) || theirs.contains(r"\x"))
}

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
    let kind = kinds[at as usize % kinds.len()];
    let version = versions[at as usize / kinds.len() % versions.len()];
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
        120..160 => letters.insert(at, letters[at]),
        _ => {
            let with: Vec<char> = "{}[],:\"\\ 0123-+.eEtfnx\u{0}\n\u{7f}é日'".chars().collect();
            letters[at] = with[usize::from(byte) % with.len()];
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
            bodies.push(Body::new(PROTOBUF, &bytes, document, false));
            let at = *at as usize % bytes.len();
            match byte {
                0..80 => bytes.truncate(at),
                80..200 => bytes[at] = *byte,
                _ => bytes.insert(at, *byte),
            }
            bodies.push(Body::new(PROTOBUF, &bytes, document, true));
        }
        compare_bodies(oracle, &bodies)
    });
}

#[test]
fn json_is_read_as_yaml_too() {
    let body = |document: &Document, at, _| Body::new(YAML, document.body.as_bytes(), document, at % 2 == 0);
    compare("decode_yaml", decisions() / 250, bodies(true, body), |oracle, bodies| compare_bodies(oracle, bodies));
}

/// Scalars that mean different things in different versions of YAML.
const SCALARS: &[&str] = &[
    "yes",
    "Yes",
    "y",
    "n",
    "NO",
    "on",
    "Off",
    "true",
    "TRUE",
    "tRue",
    "~",
    "null",
    "Null",
    "nULL",
    "0777",
    "08",
    "0o17",
    "0x1F",
    "0X1f",
    "-0x1F",
    "0b101",
    "-0b101",
    "0B1",
    "1_000",
    "1__0",
    "_1",
    "1_",
    "+5",
    "-5",
    "--5",
    "1.0",
    "1.",
    ".5",
    "-.5",
    "+.5",
    "1e3",
    "1E+3",
    "1e",
    "1e400",
    "-1e400",
    ".e3",
    ".",
    "+",
    "0",
    "-0",
    "00",
    "0.0",
    "-0.0",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "+9223372036854775808",
    "1:30",
    "190:20:30",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "2024-1-1 1:1:1",
    "<<",
    "=",
    ".inf",
    "-.INF",
    ".nan",
    "'yes'",
    "\"yes\"",
    "'it''s'",
    "\"a\\tb\\u00e9\\x41\"",
    "!!str 5",
    "!!str yes",
    "!!int 5",
    "!!int a",
    "!!float 5",
    "!!float 1.5",
    "!!bool yes",
    "!!bool 1",
    "!!null ~",
    "!!null 1",
    "!!binary aGk=",
    "!!binary '!'",
    "!local x",
    "! 5",
    "a b",
    "a: b",
    "a #c",
    "a#c",
    "[a, b]",
    "{a: b}",
    "{a: 1, a: 2}",
    "[yes, 1.0, ~]",
    "{yes: 1}",
    "{1: 2}",
    "{1.5: 2}",
    "{1e3: 2}",
    "{~: 2}",
    "{[a]: 2}",
    "{? a : b}",
    "@a",
    "`a`",
    "%a",
    "&x 5",
    "*x",
    "[&x a, *x]",
    "{a: &x {b: 1}, <<: *x}",
    "{<<: {a: 1}, a: 2}",
    "{a: 2, <<: {a: 1}}",
    "{<<: [{a: 1}, {a: 2, b: 3}]}",
    "{<<: 5}",
    "|\n    a\n     b\n\n",
    ">-\n    a\n    b\n",
    "|+\n    a\n\n",
    "ü",
    "日本",
    "0.1",
    "1.50",
    "123456789.123",
    "1e21",
    "1e-7",
    "0.000001",
    "0x",
    "0b",
    "0b2",
    "0o8",
    "1,000",
    "1e1.5",
    "0xg",
    "1d",
    "Infinity",
    "NaN",
    "1f",
    "0x1p4",
];

#[test]
fn yaml_is_read_as_by_kubernetes() {
    let Some(mut oracle) = Oracle::start("decode_yaml_scalars").expect("the oracle starts") else { return };
    let of =
        Document { group: "apps".into(), version: "v1".into(), kind: "ControllerRevision".into(), body: String::new() };
    let documents = SCALARS.iter().flat_map(|scalar| {
        [
            format!("metadata: {{name: a}}\ndata:\n  a: {scalar}\n"),
            format!("data:\n- {scalar}\n- x: {scalar}\n"),
            format!("data: {{a: {scalar}}}"),
            format!("---\ndata:\n  {scalar}: b\n...\n---\nother: document"),
            format!("data: {{{scalar}: 1, b: 2, {scalar}: 3}}\nbogus: {scalar}"),
        ]
    });
    let bodies: Vec<Body> =
        documents.flat_map(|text| [true, false].map(|strict| Body::new(YAML, text.as_bytes(), &of, strict))).collect();
    let answer: Answer = oracle.ask("decode", json!({"items": bodies})).expect("the oracle answers");
    let differences: Vec<String> =
        bodies.iter().zip(&answer.results).filter_map(|(body, theirs)| differs(body, theirs)).collect();
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), bodies.len(), differences.join("\n"));
    println!("{} documents of YAML compared", bodies.len());
}

#[test]
fn options_are_read_as_by_kubernetes() {
    let Some(mut oracle) = Oracle::start("decode_options").expect("the oracle starts") else { return };
    let bodies = [
        "{}",
        "null",
        "[]",
        "",
        "{",
        r#"{"gracePeriodSeconds":5}"#,
        r#"{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"a"},"bogus":1}"#,
        r#"{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","propagationPolicy":"Foreground","dryRun":["All"]}"#,
        r#"{"kind":"DeleteOptions","apiVersion":"apps/v1","orphanDependents":true}"#,
        r#"{"kind":"DeleteOptions","apiVersion":"policy/v1beta1"}"#,
        r#"{"kind":"DeleteOptions","apiVersion":"nope.io/v1"}"#,
        r#"{"kind":"DeleteOptions"}"#,
        r#"{"kind":"Secret","apiVersion":"v1"}"#,
        r#"{"kind":"Status","apiVersion":"v1"}"#,
        r#"{"kind":"ListOptions","apiVersion":"meta.k8s.io/v1"}"#,
        r#"{"gracePeriodSeconds":"5"}"#,
        r#"{"kind":5}"#,
    ];
    let items: Vec<Value> = bodies
        .iter()
        .map(|body| json!({"contentType": JSON, "body": body, "group": "meta.k8s.io", "version": "v1", "kind": "DeleteOptions"}))
        .collect();
    let answer: Answer = oracle.ask("decode", json!({"items": items})).expect("the oracle answers");
    for (body, theirs) in bodies.iter().zip(answer.results) {
        match (decode_options(Some(JSON), body.as_bytes(), "DeleteOptions"), theirs.object) {
            (Ok(mut ours), Some(Value::Object(mut theirs))) => {
                // Kubernetes sets them later.
                for member in ["kind", "apiVersion"] {
                    ours.remove(member);
                    theirs.remove(member);
                }
                assert_eq!(ours, theirs, "{body}");
            }
            (Err(failure), None) => {
                assert!(
                    same_refusal(&failure.message, Some(&theirs.error)),
                    "{body}: {} {}",
                    failure.message,
                    theirs.error
                );
            }
            (ours, object) => panic!("{body}: ours {ours:?}, Kubernetes {object:?} {}", theirs.error),
        }
    }
}
