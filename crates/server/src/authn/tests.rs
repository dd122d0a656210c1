//! Texts and shapes are those of kube-apiserver v1.36.3.

mod requested;
mod reviewed;

use std::collections::BTreeMap;
use std::sync::RwLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::header::HeaderValue;
use jiff::SignedDuration;
use rolewright_core::User;
use serde_json::{Value, json};

use super::*;
use crate::strategy::Object;
use crate::tls::Verified;

#[derive(Default)]
struct Cluster(RwLock<BTreeMap<(&'static str, String, String), Live>>);

impl Cluster {
    fn put(&self, kind: Referred, namespace: &str, name: &str, live: Live) {
        self.0.write().unwrap().insert((kind.resource(), namespace.into(), name.into()), live);
    }

    fn delete(&self, kind: Referred, namespace: &str, name: &str) {
        self.0.write().unwrap().remove(&(kind.resource(), namespace.into(), name.into()));
    }
}

impl Accounts for Cluster {
    fn find(&self, kind: Referred, namespace: &str, name: &str) -> Option<Live> {
        self.0.read().unwrap().get(&(kind.resource(), namespace.to_owned(), name.to_owned())).cloned()
    }
}

fn uid(uid: &str) -> Live {
    Live { uid: uid.into(), ..Live::default() }
}

fn now() -> Timestamp {
    "2026-11-16T00:58:30.5Z".parse().unwrap()
}

fn later(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

fn setup() -> (Authenticator, Arc<Cluster>) {
    let cluster = Arc::new(Cluster::default());
    cluster.put(Referred::ServiceAccount, "default", "default", uid("5142cdcb"));
    cluster.put(Referred::Secret, "default", "s", uid("secret-uid"));
    let pod = |account: &str, node: &str| Live {
        service_account: account.into(),
        node: node.into(),
        ..uid(&format!("pod-of-{account}"))
    };
    cluster.put(Referred::Pod, "default", "mine", pod("default", "n1"));
    cluster.put(Referred::Pod, "default", "lost", pod("default", "gone"));
    cluster.put(Referred::Pod, "default", "theirs", pod("other", ""));
    cluster.put(Referred::Node, "", "n1", uid("node-uid"));
    let issuer = Issuer {
        name: DEFAULT_ISSUER.into(),
        audiences: vec![DEFAULT_ISSUER.into()],
        key: SigningKey::generate().unwrap(),
    };
    let admin = Identity { uid: "admin".into(), ..Identity::new(User::new("admin", ["system:masters"])) };
    let authenticator = Authenticator::new(Arc::new(issuer), cluster.clone()).with_token("static-token", admin);
    (authenticator, cluster)
}

fn object(value: Value) -> Object {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

fn ask(authenticator: &Authenticator, body: Value) -> Result<Value, Failure> {
    token_request(authenticator, "default", "default", &object(body), now()).map(|it| Value::Object(it.object))
}

fn token(authenticator: &Authenticator, spec: Value) -> String {
    let body = Object::from_iter([("spec".to_owned(), spec)]);
    let answer = ask(authenticator, Value::Object(body)).unwrap();
    answer["status"]["token"].as_str().unwrap().to_owned()
}

fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

fn bound(kind: &str, name: &str) -> Value {
    json!({"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}})
}

#[test]
fn requests_are_authenticated_in_order() {
    let (authenticator, _) = setup();
    let alice = Verified {
        user: "alice".into(),
        groups: vec!["b".into(), "a".into()],
        fingerprint: "ab12".into(),
        not_after: later(10).as_second(),
        ..Verified::default()
    };
    let expired = Verified { not_after: later(-10).as_second(), ..alice.clone() };
    let nameless = PeerCertificate::Verified(Verified { user: String::new(), ..alice.clone() });
    let (alice, expired) = (PeerCertificate::Verified(alice), PeerCertificate::Verified(expired));
    let stranger = PeerCertificate::Refused("unknown issuer".into());
    let account = format!("Bearer {}", token(&authenticator, json!({})));
    let anonymous = Ok("system:anonymous");
    for (authorization, certificate, expected) in [
        ("", None, anonymous),
        ("Basic eDp5", None, anonymous),
        ("Bearer", None, anonymous),
        ("Bearer ", None, anonymous),
        ("Bearer  x", None, anonymous),
        ("Bearer bad", None, Err(401)),
        ("Bearer static-token", None, Ok("admin")),
        ("bEARER static-token x", None, Ok("admin")),
        (&account, None, Ok("system:serviceaccount:default:default")),
        ("", Some(&alice), Ok("alice")),
        ("Bearer bad", Some(&alice), Ok("alice")),
        ("Bearer static-token", Some(&alice), Ok("alice")),
        ("", Some(&expired), Err(401)),
        ("", Some(&stranger), Err(401)),
        ("Bearer static-token", Some(&stranger), Ok("admin")),
        ("Bearer bad", Some(&stranger), Err(401)),
        ("", Some(&nameless), anonymous),
    ] {
        let mut headers = HeaderMap::new();
        if !authorization.is_empty() {
            headers.insert(AUTHORIZATION, HeaderValue::from_str(authorization).unwrap());
        }
        let found = authenticator.request(&headers, certificate, now());
        let found = found.as_ref().map(|it| it.user.name.as_str()).map_err(|failure| failure.code);
        assert_eq!(found, expected, "`{authorization}` {certificate:?}");
    }
    let found = authenticator.request(&HeaderMap::new(), Some(&alice), now()).unwrap();
    assert_eq!(found.user.groups, ["b", "a", "system:authenticated"]);
    assert_eq!(found.extra["authentication.kubernetes.io/credential-id"], ["X509SHA256=ab12"]);
    let strict = setup().0.without_anonymous();
    assert_eq!(strict.request(&HeaderMap::new(), None, now()).unwrap_err().code, 401);
}

#[test]
fn keys_survive_as_pem_and_are_published() {
    let key = SigningKey::generate().unwrap();
    let pem = key.to_pem();
    let again = SigningKey::from_pem(&pem).unwrap();
    assert_eq!(key.id(), again.id());
    assert!(pem.lines().all(|line| line.len() <= 64));
    assert!(again.verify(b"message", &key.sign(b"message").unwrap()));
    assert!(!again.verify(b"massage", &key.sign(b"message").unwrap()));
    assert!(SigningKey::from_pem("nonsense").is_err());
    let issuer = Issuer { name: "https://issuer".into(), audiences: vec![], key };
    let keys = jwks(&issuer);
    let jwk = &keys["keys"][0];
    assert_eq!(jwk["kid"], issuer.key.id());
    for coordinate in ["x", "y"] {
        assert_eq!(URL_SAFE_NO_PAD.decode(jwk[coordinate].as_str().unwrap()).unwrap().len(), 32);
    }
    let configuration = openid_configuration(&issuer, "127.0.0.1:6443");
    assert_eq!(configuration["jwks_uri"], "https://127.0.0.1:6443/openid/v1/jwks");
    assert!(!format!("{issuer:?}").contains("PRIVATE"));
}

/// Key and token are of a kube-apiserver v1.36.3.
#[test]
fn key_ids_are_those_of_kubernetes() {
    let (x, y) = ("EK9D0ILDKl7wkKEysiHHMkTIGPMx12U8Y-7HiDN7DSA", "z9uJ_yrnBW3-gBUXEsqvruiuXmxu25HQ8OrHQSYSdSA");
    let point = [vec![4], URL_SAFE_NO_PAD.decode(x).unwrap(), URL_SAFE_NO_PAD.decode(y).unwrap()].concat();
    assert_eq!(key::id(&point), "7CymjFC3RZSDhpLuKT5_gpuf-0W2vYP4yL7Mo2xtXSM");
}

#[test]
fn who_am_i() {
    let answer = self_subject_review(&Identity::anonymous(), now());
    assert_eq!(
        answer,
        json!({
            "kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"creationTimestamp": "2026-11-16T00:58:30Z"},
            "status": {"userInfo": {"username": "system:anonymous", "groups": ["system:unauthenticated"]}},
        })
    );
}
