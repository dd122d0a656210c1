//! TokenRequest and TokenReview.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use rolewright_server::authn::{DEFAULT_ISSUER, token_request, token_review};
use serde_json::{Value, json};

use crate::{Known, Real, object, ours};

const PATH: &str = "/api/v1/namespaces/real/serviceaccounts/robot/token";

fn bodies() -> Vec<Value> {
    let mut specs = vec![json!({"audiences": []}), json!({"audiences": ["a", "b"]}), json!({"boundObjectRef": {}})];
    for seconds in [-1_i64, 0, 599, 600, 3607, 1 << 32, (1 << 32) + 1] {
        specs.push(json!({"expirationSeconds": seconds}));
        let pod = json!({"kind": "Pod", "apiVersion": "v1", "name": "mine"});
        specs.push(json!({"expirationSeconds": seconds, "boundObjectRef": pod}));
    }
    for kind in ["Pod", "Secret", "Node", "ConfigMap", "pod", ""] {
        for version in ["v1", "", "v2", "apps/v1", "a/b/c", "/v1"] {
            for name in ["mine", "lost", "theirs", "s", "n1", "nope"] {
                specs.push(json!({"boundObjectRef": {"kind": kind, "apiVersion": version, "name": name}}));
            }
        }
        specs.push(json!({"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": "s", "uid": "wrong"}}));
    }
    let mut bodies: Vec<Value> = specs.into_iter().map(|spec| json!({"spec": spec})).collect();
    for metadata in [
        json!({"name": "robot"}),
        json!({"name": "x"}),
        json!({"namespace": "x"}),
        json!({"namespace": "real"}),
        json!({"uid": "x"}),
        json!({"labels": {"a": "b"}}),
        json!({"name": "x", "uid": "x"}),
    ] {
        bodies.push(json!({"metadata": metadata, "spec": {"expirationSeconds": 1}}));
        bodies.push(json!({"metadata": metadata}));
    }
    bodies
}

fn decoded(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// Without what differs from one request to the next; times are counted from the token's own beginning.
fn comparable(answer: &Value) -> Value {
    let mut out = answer.clone();
    let Some(token) = answer["status"]["token"].as_str() else { return out };
    let mut claims = decoded(token.split('.').nth(1).unwrap());
    let begin = claims["iat"].as_i64().unwrap();
    for claim in ["exp", "iat", "nbf"] {
        claims[claim] = json!(claims[claim].as_i64().unwrap() - begin);
    }
    if let Some(warn) = claims["kubernetes.io"].get_mut("warnafter") {
        *warn = json!(warn.as_i64().unwrap() - begin);
    }
    claims["jti"] = json!(claims["jti"].as_str().unwrap().len());
    let seconds = |time: &Value| time.as_str().unwrap().parse::<Timestamp>().unwrap().as_second();
    let lives = seconds(&answer["status"]["expirationTimestamp"]) - seconds(&answer["metadata"]["creationTimestamp"]);
    out["status"] = json!({"claims": claims, "lives": lives});
    let metadata = out["metadata"].as_object_mut().unwrap();
    metadata.remove("creationTimestamp");
    metadata.remove("managedFields");
    out
}

pub(crate) fn requests_are_answered_alike(real: &mut Real, accounts: &Arc<Known>) {
    let ours = ours(accounts);
    for body in bodies() {
        let theirs = real.post(PATH, &body);
        let mine = match token_request(&ours, "real", "robot", &object(&body), Timestamp::now()) {
            Ok(answer) => Value::Object(answer.object),
            Err(failure) => failure.to_json(),
        };
        assert_eq!(comparable(&mine), comparable(&theirs.body), "{body}");
    }
}

/// A token, and the same with something done to it.
fn variants(token: &str) -> Vec<(&'static str, String)> {
    let parts: Vec<&str> = token.split('.').collect();
    let (header, claims) = (decoded(parts[0]), decoded(parts[1]));
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let with = |header: &Value, claims: &Value| format!("{}.{}.{}", encoded(header), encoded(claims), parts[2]);
    let changed = |value: &Value, member: &str, to: Value| {
        let mut value = value.clone();
        value[member] = to;
        value
    };
    vec![
        ("as it is", token.to_owned()),
        ("blank behind", format!("{token} x")),
        ("line end", format!("{token}\n")),
        ("four parts", format!("{token}.x")),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("no signature", format!("{}.{}.", parts[0], parts[1])),
        ("short signature", token.get(..token.len() - 4).unwrap().to_owned()),
        ("padded", format!("{token}=")),
        ("no claims", format!("{}..{}", parts[0], parts[2])),
        ("no header", format!(".{}.{}", parts[1], parts[2])),
        ("header is no JSON", format!("AAAA.{}.{}", parts[1], parts[2])),
        ("claims are no JSON", format!("{}.AAAA.{}", parts[0], parts[2])),
        ("claims are a list", with(&header, &json!([]))),
        ("other issuer", with(&header, &changed(&claims, "iss", json!("x")))),
        ("longer life", with(&header, &changed(&claims, "exp", json!(i64::MAX)))),
        ("none", with(&json!({"alg": "none"}), &claims)),
        ("symmetric", with(&changed(&header, "alg", json!("HS256")), &claims)),
        ("other curve", with(&changed(&header, "alg", json!("ES384")), &claims)),
        ("no key", with(&json!({"alg": "ES256"}), &claims)),
        ("other key", with(&changed(&header, "kid", json!("zz")), &claims)),
        ("critical", with(&changed(&header, "crit", json!(["x"])), &claims)),
        ("an object", "{\"payload\":\"x\"}".to_owned()),
        ("nonsense", "abc".to_owned()),
    ]
}

pub(crate) fn reviews_are_answered_alike(real: &mut Real, accounts: &Arc<Known>) {
    let ours = ours(accounts);
    for spec in [
        json!({}),
        json!({"audiences": ["a", "b"]}),
        json!({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "mine"}}),
        json!({"boundObjectRef": {"kind": "Node", "apiVersion": "v1", "name": "n1"}}),
        json!({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "lost"}}),
    ] {
        let body = json!({"spec": spec});
        let theirs = real.create(PATH, &body);
        let mine = token_request(&ours, "real", "robot", &object(&body), Timestamp::now()).unwrap();
        let theirs = variants(theirs["status"]["token"].as_str().unwrap());
        let mine = variants(mine.object["status"]["token"].as_str().unwrap());
        for audiences in [json!([]), json!(["b"]), json!(["x", DEFAULT_ISSUER])] {
            for ((what, theirs), (_, mine)) in theirs.iter().zip(&mine) {
                let asked = json!({"spec": {"token": theirs, "audiences": audiences}});
                let theirs = real.create("/apis/authentication.k8s.io/v1/tokenreviews", &asked)["status"].clone();
                let asked = object(&json!({"spec": {"token": mine, "audiences": audiences}}));
                let mine = token_review(&ours, asked, Timestamp::now()).unwrap()["status"].clone();
                assert_eq!(without_id(mine), without_id(theirs), "{what}, {spec}, {audiences}");
            }
        }
    }
}

fn without_id(mut status: Value) -> Value {
    if let Some(extra) = status["user"].get_mut("extra").and_then(Value::as_object_mut) {
        let id = extra.remove("authentication.kubernetes.io/credential-id").unwrap();
        assert!(id[0].as_str().unwrap().starts_with("JTI="));
    }
    status
}
