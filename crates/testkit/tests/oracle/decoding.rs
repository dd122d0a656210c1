//! Request bodies become the same objects, and the same ones are refused with the same words.

use proptest::prelude::*;
use rolewright_server::codec::{Decoded, FieldValidation, Gvk, decode};
use rolewright_server::status::Failure;
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::document::{Document, document};
use serde::Deserialize;
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

fn ask(oracle: &mut Oracle, content_type: &str, documents: &[Document], strict: bool) -> anyhow::Result<Vec<Theirs>> {
    let items: Vec<Value> = documents
        .iter()
        .map(|Document { group, version, kind, body }| {
            json!({"contentType": content_type, "body": body, "group": group, "version": version, "kind": kind, "strict": strict})
        })
        .collect();
    let answer: Answer = oracle.ask("decode", json!({"items": items}))?;
    Ok(answer.results)
}

fn ours(content_type: &str, document: &Document, validation: FieldValidation) -> Result<Decoded, Failure> {
    let expected = Gvk { group: &document.group, version: &document.version, kind: &document.kind };
    decode(Some(content_type), document.body.as_bytes(), expected, validation)
}

fn differs(content_type: &str, document: &Document, theirs: &Theirs, strict: bool) -> Option<String> {
    let lax = if strict { FieldValidation::Warn } else { FieldValidation::Ignore };
    let outcome = ours(content_type, document, lax);
    let about = format!("{} {}", document.kind, document.body);
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
        (Err(failure), None) if Some(failure.message.as_str()) == refusal => {}
        (outcome, _) => {
            let outcome = outcome.as_ref().map(|decoded| &decoded.object).map_err(|failure| &failure.message);
            return Some(format!("{about}\nours       {outcome:?}\nKubernetes {refusal:?} ({})", theirs.error));
        }
    }
    if strict {
        let mine = ours(content_type, document, FieldValidation::Strict).err().map(|failure| failure.message);
        if mine.as_deref() != refusal {
            return Some(format!("{about}\nours       {mine:?}\nKubernetes {refusal:?}"));
        }
    }
    None
}

fn documents(flawed: bool) -> impl Strategy<Value = Vec<Document>> {
    prop::collection::vec(document(flawed), 1..20)
}

#[test]
fn json_is_read_as_by_kubernetes() {
    for (suite, flawed, strict) in
        [("decode_valid", false, false), ("decode_strict", true, true), ("decode_lax", true, false)]
    {
        compare(suite, decisions() / 250, documents(flawed), |oracle, documents| {
            let answers = ask(oracle, "application/json", documents, strict)?;
            Ok(documents
                .iter()
                .zip(&answers)
                .find_map(|(document, theirs)| differs("application/json", document, theirs, strict)))
        });
    }
}
