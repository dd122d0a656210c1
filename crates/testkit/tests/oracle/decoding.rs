//! Request bodies become the same objects, and the same ones are refused with the same words.

mod bodies;
mod options;
mod yaml;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rolewright_server::codec::{Decoded, FieldValidation, Gvk, decode};
use rolewright_server::status::Failure;
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::document::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
        // Kubernetes reads bytes that should be JSON as they are, and cannot write them. Here they are an error at once.
        (Err(_), None) if theirs.error.contains("error calling MarshalJSON") => return None,
        (Err(failure), None) if body.content_type == PROTOBUF && failure.message.contains("invalid character") => {}
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
        end.and_then(|end| text.get(..end)).unwrap_or(text)
    }
    // Stray bytes in the envelope are replaced before anybody quotes them.
    theirs.is_some_and(|theirs| known(ours) == known(theirs) || theirs.contains(r"\x"))
}
