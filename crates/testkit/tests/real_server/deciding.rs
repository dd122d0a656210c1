//! Access reviews: the server's decisions and its words.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rolewright_core::{Authorizer, Binding, Name, RoleRef, Subject, World};
use rolewright_testkit::apiserver::Client;
use rolewright_testkit::ask::Ask;
use rolewright_testkit::wire::BindingObject;
use serde_json::json;

use super::{bindings_path, create};

pub(crate) fn decisions_and_reasons_are_the_servers(client: &mut Client, world: &World) -> Result<()> {
    let bindings = [
        Binding::namespaced("default", "devs", RoleRef::cluster_role("edit"), [Subject::group("devs")]),
        Binding::namespaced("default", "ci", RoleRef::cluster_role("caches"), [Subject::service_account("", "ci")]),
        Binding::cluster("ghost", RoleRef::cluster_role("ghost"), [Subject::user("eve")]),
        Binding::cluster("monitoring", RoleRef::cluster_role("system:monitoring"), [Subject::user("mona")]),
    ];
    for binding in &bindings {
        create(client, &bindings_path(binding), &BindingObject::from(binding))?;
    }
    let authorizer = Authorizer::new(&world.clone().with(World::new([], bindings)));
    let mut answers = BTreeMap::new();
    for ask in asks() {
        let decision = authorizer.explain(&ask.user(), &ask.request());
        let (allowed, reason) = settled_review(client, &ask, decision.allowed)?;
        assert_eq!(allowed, decision.allowed, "{ask:?}: {reason}");
        let known =
            decision.superuser || reason == decision.text() || decision.reasons.iter().any(|r| r.to_string() == reason);
        assert!(known, "{ask:?}: the server says `{reason}`, we say `{}`", decision.text());
        *answers.entry(allowed).or_insert(0) += 1;
    }
    assert!(answers.values().all(|count| *count > 50) && answers.len() == 2, "{answers:?}");
    Ok(())
}

/// Asks until the server's informers have seen the bindings, or for good when it stays with its answer.
fn settled_review(client: &mut Client, ask: &Ask, expected: bool) -> Result<(bool, String)> {
    let attributes = match &ask.path {
        Some(path) => json!({"nonResourceAttributes": {"verb": ask.verb, "path": path}}),
        None => json!({"resourceAttributes": {
            "verb": ask.verb, "group": ask.group, "resource": ask.resource, "subresource": ask.subresource,
            "namespace": ask.namespace, "name": ask.name,
        }}),
    };
    let mut spec = json!({"user": ask.user, "groups": ask.groups});
    if let (Some(spec), Some(attributes)) = (spec.as_object_mut(), attributes.as_object()) {
        spec.extend(attributes.clone());
    }
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
    let start = Instant::now();
    loop {
        let answer = client.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review)?;
        ensure!(answer.status == 201, "{answer:?}");
        let status = &answer.body["status"];
        let allowed = status["allowed"] == true;
        if allowed == expected || start.elapsed() > Duration::from_secs(5) {
            return Ok((allowed, status["reason"].as_str().unwrap_or_default().to_owned()));
        }
        sleep(Duration::from_millis(50));
    }
}

fn asks() -> Vec<Ask> {
    let users: [(&str, &[&str]); 6] = [
        ("dee", &["devs", "system:authenticated"]),
        ("system:serviceaccount:default:ci", &["system:serviceaccounts", "system:serviceaccounts:default"]),
        ("eve", &["system:authenticated"]),
        ("mona", &[]),
        ("root", &["system:masters"]),
        ("system:anonymous", &["system:unauthenticated"]),
    ];
    let resources = [
        ("", "pods", "exec"),
        ("", "secrets", ""),
        ("acme.io", "caches", ""),
        ("acme.io", "caches", "status"),
        ("rbac.authorization.k8s.io", "roles", ""),
    ];
    let mut asks = Vec::new();
    for (user, groups) in users {
        let by = Ask {
            user: user.into(),
            groups: groups.iter().map(|group| Name::from(*group)).collect(),
            ..Ask::default()
        };
        for path in ["/metrics", "/healthz", "/api/v1", "/version", "/nothing"] {
            asks.push(Ask { verb: "get".into(), path: Some(path.into()), ..by.clone() });
        }
        for (group, resource, subresource) in resources {
            for (verb, name) in [("get", "x"), ("create", ""), ("delete", "old")] {
                for namespace in ["default", "kube-system", ""] {
                    asks.push(Ask {
                        verb: verb.into(),
                        group: group.into(),
                        resource: resource.into(),
                        subresource: subresource.into(),
                        namespace: namespace.into(),
                        name: name.into(),
                        ..by.clone()
                    });
                }
            }
        }
    }
    asks
}
