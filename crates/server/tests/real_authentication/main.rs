//! Authentication against the real kube-apiserver: equal questions must get equal answers.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod connecting;
mod impersonating;
mod tokens;

use std::process::Command;
use std::sync::Arc;

use rolewright_server::authn::{Accounts, Authenticator, DEFAULT_ISSUER, Issuer, Live, Referred, SigningKey};
use rolewright_server::strategy::Object;
use rolewright_testkit::apiserver::{Answer, ApiServer};
use rolewright_testkit::testbed::{Lines, known};
use serde_json::{Value, json};

#[test]
fn authentication_is_the_servers() {
    let Some(binary) = known() else {
        // Says that it is skipped, or fails in CI.
        assert!(ApiServer::start("authentication on the real API server").unwrap().is_none_or(|_| true));
        return;
    };
    let server = ApiServer::start("authentication on the real API server").unwrap().unwrap();
    let mut command = Command::new(&binary);
    command.arg("client").arg("--kubeconfig").arg(&server.ready.kubeconfig);
    let mut real = Real(Lines::start(&mut command).unwrap());
    let accounts = real.populated();
    tokens::requests_are_answered_alike(&mut real, &accounts);
    tokens::reviews_are_answered_alike(&mut real, &accounts);
    impersonating::decisions_are_alike(&mut real);
    drop(real);
    connecting::certificates_name_the_same_user(&binary, &server.ready);
    server.stop().unwrap();
}

/// The real server, spoken to directly.
struct Real(Lines);

impl Real {
    fn send(&mut self, method: &str, path: &str, body: Option<&Value>, header: &Value, groups: &[&str]) -> Answer {
        let mut request = json!({"method": method, "path": path, "header": header, "groups": groups});
        if let Some(body) = body {
            request["body"] = body.clone();
        }
        self.0.ask(request).unwrap()
    }

    fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(body), &json!({}), &[])
    }

    fn create(&mut self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body
    }

    /// Objects that tokens are bound to, and what is to know about them.
    fn populated(&mut self) -> Arc<Known> {
        self.create("/api/v1/namespaces", &json!({"metadata": {"name": "real"}}));
        let mut known = Known::default();
        let pod = |account: &str, node: &str| {
            json!({
                "serviceAccountName": account, "nodeName": node, "automountServiceAccountToken": false,
                "containers": [{"name": "c", "image": "i"}],
            })
        };
        for (kind, name, spec) in [
            (Referred::Node, "n1", Value::Null),
            (Referred::ServiceAccount, "robot", Value::Null),
            (Referred::ServiceAccount, "other", Value::Null),
            (Referred::Secret, "s", Value::Null),
            (Referred::Pod, "mine", pod("robot", "n1")),
            (Referred::Pod, "lost", pod("robot", "gone")),
            (Referred::Pod, "theirs", pod("other", "")),
        ] {
            let namespace = if kind == Referred::Node { "" } else { "real" };
            let folder = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
            let mut body = json!({"metadata": {"name": name}});
            if !spec.is_null() {
                body["spec"] = spec.clone();
            }
            let stored = self.create(&format!("/api/v1/{folder}{}", kind.resource()), &body);
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let live = Live {
                uid: text(&stored["metadata"]["uid"]),
                deleted: None,
                service_account: text(&spec["serviceAccountName"]),
                node: text(&spec["nodeName"]),
                ..Live::default()
            };
            known.0.push((kind, namespace, name, live));
        }
        Arc::new(known)
    }
}

#[derive(Default)]
struct Known(Vec<(Referred, &'static str, &'static str, Live)>);

impl Accounts for Known {
    fn find(&self, kind: Referred, namespace: &str, name: &str) -> Option<Live> {
        let found = self.0.iter().find(|(k, ns, n, _)| (*k, *ns, *n) == (kind, namespace, name));
        found.map(|(.., live)| live.clone())
    }
}

fn ours(accounts: &Arc<Known>) -> Authenticator {
    let key = SigningKey::generate().unwrap();
    let issuer = Issuer { name: DEFAULT_ISSUER.into(), audiences: vec![DEFAULT_ISSUER.into()], key };
    Authenticator::new(Arc::new(issuer), accounts.clone())
}

fn object(value: &Value) -> Object {
    value.as_object().unwrap().clone()
}
