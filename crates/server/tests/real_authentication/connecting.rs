//! Our certificates in Go's hands: shown to the real server, and by ours to Go's client.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use std::sync::Arc;

use axum::{Extension, Router};
use hyper::{HeaderMap, Version};
use hyper_util::service::TowerToHyperService;
use jiff::Timestamp;
use rolewright_server::authn::{Identity, self_subject_review};
use rolewright_server::kubeconfig::Kubeconfig;
use rolewright_server::tls::{Authority, Limits, Peer, Tls, serve};
use rolewright_testkit::apiserver::{Answer, Ready};
use rolewright_testkit::testbed::Lines;
use serde_json::{Value, json};

use crate::{Known, ours};

const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// The user that a server sees behind this kubeconfig.
fn seen(testbed: &OsStr, kubeconfig: &Kubeconfig<'_>) -> Value {
    let path = std::env::temp_dir().join(format!("rolewright-{}.kubeconfig", rolewright_server::uid::uuid_v4()));
    kubeconfig.write(&path).unwrap();
    let mut client = Lines::start(Command::new(testbed).arg("client").arg("--kubeconfig").arg(&path)).unwrap();
    let answer: Answer = client.ask(json!({"method": "POST", "path": WHO_AM_I, "body": {}})).unwrap();
    fs::remove_file(path).unwrap();
    assert!(answer.status < 300, "{answer:?}");
    answer.body["status"].clone()
}

async fn who_am_i(Extension(peer): Extension<Peer>, version: Version, headers: HeaderMap) -> String {
    assert_eq!(version, Version::HTTP_2, "Go speaks it with us");
    let accounts = Arc::new(Known::default());
    let identity: Identity = ours(&accounts).request(&headers, peer.certificate.as_deref(), Timestamp::now()).unwrap();
    self_subject_review(&identity, Timestamp::now()).to_string()
}

pub(crate) fn certificates_name_the_same_user(testbed: &OsStr, real: &Ready) {
    let authority_pem = fs::read_to_string(&real.ca).unwrap();
    let key_pem = fs::read_to_string(real.ca.with_file_name("ca.key")).unwrap();
    let authority = Authority::from_pem(&authority_pem, &key_pem).unwrap();
    let alice = authority.issue_client("alice & Zoë", ["team:b", "team:a", "x=y, O=z"], Timestamp::now()).unwrap();
    let serving = authority.issue_server(&[], Timestamp::now()).unwrap();
    let tls = Tls::new(&authority, &serving).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let ours = format!("https://{}", listener.local_addr().unwrap());
    let service = TowerToHyperService::new(Router::new().fallback(who_am_i));
    runtime.spawn(serve(listener, tls, Limits::default(), service, std::future::pending()));
    let [theirs, mine] = [&real.address, &ours].map(|server| {
        let kubeconfig = Kubeconfig {
            name: "test",
            server,
            authority_pem: authority.certificate_pem(),
            token: None,
            certificate: Some(&alice),
            namespace: "",
        };
        seen(testbed, &kubeconfig)
    });
    assert_eq!(mine, theirs);
    assert_eq!(mine["userInfo"]["groups"], json!(["team:b", "team:a", "x=y, O=z", "system:authenticated"]));
}
