//! The options of a delete.

use rolewright_server::codec::decode_options;
use rolewright_testkit::oracle::Oracle;
use serde_json::{Value, json};

use super::{Answer, JSON, same_refusal};

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
