use std::collections::BTreeMap;
use std::net::IpAddr;

use rolewright_core::User;
use serde_json::Value;

use super::*;
use crate::authn::{Identity, Impersonated};
use crate::status::{Failure, GroupResource};

fn record() -> Record {
    let mut admin = Identity::new(User::new("testbed-admin", ["system:masters", "system:authenticated"]));
    admin.uid = "testbed-admin".into();
    Record {
        audit_id: "2948fcef-4444-4ee2-b3ce-97e6c15c3f60".into(),
        stage: Stage::ResponseComplete,
        request_uri: "/api/v1/namespaces/default/pods/x".into(),
        verb: "get".into(),
        user: Some(admin),
        impersonated: None,
        source_ips: vec!["127.0.0.1".parse().unwrap()],
        user_agent: "probe/1".into(),
        object: Some(AuditedObject {
            resource: "pods".into(),
            namespace: "default".into(),
            name: "x".into(),
            api_version: "v1".into(),
            ..AuditedObject::default()
        }),
        response: Response::Status(Box::new(
            Failure::not_found(GroupResource { group: "", resource: "pods" }, "x").to_json(),
        )),
        received: "2026-11-16T01:30:14.795811Z".parse().unwrap(),
        reached: "2026-11-16T01:30:14.7969Z".parse().unwrap(),
        annotations: BTreeMap::new(),
    }
    .decided(true, "")
}

/// The first three expected events are lines of kube-apiserver v1.36.3, apart from ids and times.
#[test]
fn events_are_those_of_kubernetes() {
    let failed = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"2948fcef-4444-4ee2-b3ce-97e6c15c3f60","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/pods/x","verb":"get","user":{"username":"testbed-admin","uid":"testbed-admin","groups":["system:masters","system:authenticated"]},"sourceIPs":["127.0.0.1"],"userAgent":"probe/1","objectRef":{"resource":"pods","namespace":"default","name":"x","apiVersion":"v1"},"responseStatus":{"metadata":{},"status":"Failure","message":"pods \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404},"requestReceivedTimestamp":"2026-11-16T01:30:14.795811Z","stageTimestamp":"2026-11-16T01:30:14.796900Z","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}}"#;
    let unknown = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"134890ab-e43e-49db-bf2a-125a9c3cfb6b","stage":"ResponseStarted","requestURI":"/api/v1/namespaces/default/pods","verb":"list","user":{},"sourceIPs":["127.0.0.1"],"userAgent":"probe/1","objectRef":{"resource":"pods","namespace":"default","apiVersion":"v1"},"responseStatus":{"metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401},"requestReceivedTimestamp":"2026-11-16T01:30:14.795811Z","stageTimestamp":"2026-11-16T01:30:14.796900Z"}"#;
    let impersonated = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"mine","stage":"ResponseComplete","requestURI":"/version","verb":"get","user":{"username":"testbed-admin","uid":"testbed-admin","groups":["system:masters","system:authenticated"]},"impersonatedUser":{"username":"alice","groups":["system:authenticated"]},"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"},"sourceIPs":["127.0.0.1"],"userAgent":"probe/1","responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-16T01:30:14.795811Z","stageTimestamp":"2026-11-16T01:30:14.796900Z","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}}"#;
    let nobody = Record {
        audit_id: "134890ab-e43e-49db-bf2a-125a9c3cfb6b".into(),
        stage: Stage::ResponseStarted,
        request_uri: "/api/v1/namespaces/default/pods".into(),
        verb: "list".into(),
        user: None,
        object: record().object.map(|object| AuditedObject { name: String::new(), ..object }),
        response: Response::Status(Box::new(Failure::unauthorized().to_json())),
        annotations: BTreeMap::new(),
        ..record()
    };
    let alice = Record {
        audit_id: "mine".into(),
        request_uri: "/version".into(),
        impersonated: Some(Impersonated {
            identity: Identity::new(User::authenticated("alice", [] as [&str; 0])),
            constraint: "impersonate:user-info",
        }),
        object: None,
        response: Response::Done(200),
        ..record()
    };
    for (record, expected) in [(record(), failed), (nobody, unknown), (alice, impersonated)] {
        let line = record.line();
        let ours: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(ours, serde_json::from_str::<Value>(expected).unwrap());
        assert_eq!(line.split(|byte| *byte == b'\n').count(), 2, "an event is a line");
    }
}

#[test]
fn addresses_of_proxies_come_first() {
    let peer = "127.0.0.1".parse().unwrap();
    for (forwarded, real, expected) in [
        ("", "", vec!["127.0.0.1"]),
        ("10.0.0.1, 10.0.0.2", "", vec!["10.0.0.1", "10.0.0.2", "127.0.0.1"]),
        ("10.0.0.1", "10.0.0.1", vec!["10.0.0.1", "127.0.0.1"]),
        ("nonsense, ::1", "127.0.0.1", vec!["::1", "127.0.0.1"]),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().unwrap());
        headers.insert("x-real-ip", real.parse().unwrap());
        let found: Vec<String> = source_addresses(&headers, peer).iter().map(IpAddr::to_string).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn files_get_every_event_and_are_private() {
    let path = std::env::temp_dir().join(format!("rolewright-audit-{}", crate::uid::uuid_v4()));
    let audit = Audit::open(&path).unwrap();
    for _ in 0..1000 {
        audit.event(record());
    }
    assert_eq!(audit.lost(), 0);
    drop(audit);
    let audit = Audit::open(&path).unwrap();
    audit.event(record());
    drop(audit);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 1001, "a second start appends");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn ids_of_clients_are_kept_within_reason() {
    let id = |given: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("audit-id", given.parse().unwrap());
        audit_id(&headers)
    };
    assert_eq!(id("mine"), "mine");
    assert_eq!(id("").len(), 36);
    assert_eq!(id(&"x".repeat(1000)).len(), 36);
}
