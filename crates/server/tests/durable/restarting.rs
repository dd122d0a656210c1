//! What a restart keeps, and what it goes on with.

use axum::body::Body;
use axum::http::{Method, Request};
use rolewright_core::User;
use rolewright_server::{Guard, Listening, Server, Settings};
use serde_json::{Value, json};

use crate::client::{Client, Folder, everything, furnished, named, settings, start};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Objects of many kinds; what an answer said of each, by the path where it is.
async fn populate(client: &Client) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    let meta =
        |name: &str| json!({"name": name, "labels": {"app": name}, "annotations": {"text": "\"quoted\" \u{e9}\n"}});
    let template = json!({"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let selector = json!({"matchLabels": {"app": "x"}});
    let cases = [
        ("/api/v1/namespaces", json!({"metadata": meta("team")})),
        (
            "/api/v1/namespaces/team/configmaps",
            json!({"metadata": meta("map"), "data": {"k": "v\u{0}"}, "binaryData": {"b": "AAEC"}}),
        ),
        ("/api/v1/namespaces/team/secrets", json!({"metadata": meta("secret"), "stringData": {"k": "v"}})),
        ("/api/v1/namespaces/team/serviceaccounts", json!({"metadata": meta("robot")})),
        ("/api/v1/namespaces/team/pods", json!({"metadata": meta("pod"), "spec": template["spec"]})),
        (
            "/api/v1/namespaces/team/services",
            json!({"metadata": meta("service"), "spec": {"type": "NodePort", "ports": [{"port": 80}]}}),
        ),
        (
            "/api/v1/namespaces/team/persistentvolumeclaims",
            json!({"metadata": meta("claim"),
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
        ),
        (
            "/api/v1/namespaces/team/events",
            json!({"metadata": {"name": "event"}, "involvedObject": {"kind": "Pod", "name": "pod", "namespace": "team"}}),
        ),
        ("/api/v1/nodes", json!({"metadata": meta("node")})),
        (
            "/apis/apps/v1/namespaces/team/deployments",
            json!({"metadata": meta("deployment"), "spec": {"selector": selector, "template": template}}),
        ),
        (
            "/apis/batch/v1/namespaces/team/cronjobs",
            json!({"metadata": meta("cron"), "spec": {"schedule": "* * * * *",
            "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}}}),
        ),
        (
            "/apis/autoscaling/v1/namespaces/team/horizontalpodautoscalers",
            json!({"metadata": meta("scaler"),
            "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "deployment", "apiVersion": "apps/v1"}}}),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/team/leases",
            json!({"metadata": meta("lease"), "spec": {"holderIdentity": "me"}}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            json!({"metadata": {"name": "caches", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
            "rules": [{"apiGroups": ["acme.io"], "resources": ["caches"], "verbs": ["get"]}]}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings",
            json!({"metadata": {"name": "viewers"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "vera"}]}),
        ),
    ];
    for (path, body) in cases {
        let made = client.create(path, &body).await;
        told.push((format!("{path}/{}", made["metadata"]["name"].as_str().unwrap()), made));
    }
    let path = "/api/v1/namespaces/team/configmaps/applied";
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}});
    let apply = format!("{path}?fieldManager=me&force=true");
    let (code, applied) = client.ask_as(Method::PATCH, &apply, "application/apply-patch+yaml", &body).await;
    assert_eq!(code, 201, "{applied}");
    let merge = json!({"data": {"b": "2"}});
    let (code, patched) = client.ask_as(Method::PATCH, path, "application/merge-patch+json", &merge).await;
    assert_eq!(code, 200, "{patched}");
    told.push((path.to_owned(), patched));
    furnished(client).await;
    client.until("/api/v1/namespaces/team/serviceaccounts/default", 200).await;
    client.create("/api/v1/namespaces/team/configmaps", &json!({"metadata": {"name": "gone"}})).await;
    client.must(Method::DELETE, "/api/v1/namespaces/team/configmaps/gone", &Value::Null).await;
    told
}

#[tokio::test]
async fn everything_is_there_again_and_a_restart_writes_nothing() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let told = populate(&client).await;
    let before = everything(&client).await;
    server.close().await;
    let log = std::fs::read(folder.log()).unwrap();

    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    for (path, body) in &told {
        assert_eq!(client.get(path).await, (200, body.clone()), "{path}");
    }
    assert_eq!(client.get("/api/v1/namespaces/team/configmaps/gone").await.0, 404);
    // The whole lists are equal, and so is the revision that each of them names.
    let after = everything(&client).await;
    assert!(before.len() > 40, "{}", before.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    // The controllers get their turn.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    server.close().await;
    let now = std::fs::read(folder.log()).unwrap();
    assert_eq!(log.len(), now.len());
    let differs = log.iter().zip(&now).position(|(before, now)| before != now);
    let written = differs.map(|at| String::from_utf8_lossy(&now[at..now.len().min(at + 600)]));
    assert_eq!(written, None, "a restart of an unchanged cluster writes nothing");
    let report = rolewright_server::store::check(&folder.path()).unwrap();
    assert_eq!(report.objects["configmaps"], 2);
    assert_eq!(report.revision.to_string(), before[0].1["metadata"]["resourceVersion"].as_str().unwrap());
    assert!(!report.torn);
}

#[tokio::test]
async fn custom_resources_are_there_again() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}}});
    let definition = |plural: &str, kind: &str| {
        json!({"metadata": {"name": format!("{plural}.acme.io")}, "spec": {
            "group": "acme.io", "scope": "Namespaced", "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        }})
    };
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let caches = "/apis/acme.io/v1/namespaces/default/caches";
    client.create(definitions, &definition("caches", "Cache")).await;
    client.create(definitions, &definition("vaults", "Vault")).await;
    for path in [caches, "/apis/acme.io/v1/namespaces/default/vaults"] {
        client.until(path, 200).await;
    }
    let cache = json!({"apiVersion": "acme.io/v1", "kind": "Cache", "metadata": {"name": "one"}, "spec": {}});
    let made = client.create(caches, &cache).await;
    let vault = json!({"apiVersion": "acme.io/v1", "kind": "Vault", "metadata": {"name": "one", "finalizers": ["acme.io/held"]}});
    client.create("/apis/acme.io/v1/namespaces/default/vaults", &vault).await;
    client.must(Method::DELETE, &format!("{definitions}/vaults.acme.io"), &Value::Null).await;
    furnished(&client).await;
    let held = "/apis/acme.io/v1/namespaces/default/vaults/one";
    while client.get(held).await.1["metadata"]["deletionTimestamp"].is_null() {
        tokio::task::yield_now().await;
    }
    let before = everything(&client).await;
    server.close().await;

    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    assert_eq!(client.get(&format!("{caches}/one")).await, (200, made.clone()));
    assert_eq!(made["spec"]["size"], 3);
    assert_eq!(everything(&client).await, before);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(everything(&client).await, before, "controllers have nothing to do");
    // Its definition waits for the last of its objects, and goes with it.
    let release = json!({"metadata": {"finalizers": null}});
    let (code, answer) = client.ask_as(Method::PATCH, held, "application/merge-patch+json", &release).await;
    assert_eq!(code, 200, "{answer}");
    client.until(&format!("{definitions}/vaults.acme.io"), 404).await;
    // Its names are taken.
    let rival = client.create(definitions, &definition("caches2", "Cache")).await;
    let path = format!("{definitions}/{}", rival["metadata"]["name"].as_str().unwrap());
    loop {
        let conditions = client.get(&path).await.1["status"]["conditions"].clone();
        let accepted =
            conditions.as_array().into_iter().flatten().find(|condition| condition["type"] == "NamesAccepted").cloned();
        if let Some(accepted) = accepted {
            assert_eq!(accepted["status"], "False", "{accepted}");
            break;
        }
        tokio::task::yield_now().await;
    }
    server.close().await;

    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    assert_eq!(client.get(&format!("{caches}/one")).await, (200, made));
    assert_eq!(client.get(held).await.0, 404);
    server.close().await;
}

#[tokio::test]
async fn revisions_go_on_where_they_were() {
    let folder = Folder::new();
    let mut last = 0;
    for round in 0..5 {
        let server = start(&folder).unwrap();
        let client = Client::admin(&server);
        for i in 0..3 {
            let name = format!("map-{round}-{i}");
            let made =
                client.create("/api/v1/namespaces/default/configmaps", &json!({"metadata": {"name": name}})).await;
            let revision: u64 = made["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
            assert!(revision > last, "{revision} after {last}");
            last = revision;
        }
        let path = format!("/api/v1/namespaces/default/configmaps/map-{round}-1");
        client.must(Method::DELETE, &path, &Value::Null).await;
        last += 1;
        server.close().await;
    }
}

fn vera() -> User {
    User::authenticated("vera", [""; 0])
}

#[tokio::test]
async fn rights_are_what_they_were() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    populate(&Client::admin(&server)).await;
    server.close().await;
    let server = start(&folder).unwrap();
    let review = json!({"spec": {"resourceAttributes": {"namespace": "team", "verb": "get", "group": "acme.io", "resource": "caches"}}});
    let asked = Client::of(server.router_as(vera()));
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = asked.create(path, &review).await;
    assert_eq!(answer["status"]["allowed"], true, "{answer}");
    // Aggregation goes on: the rule goes with its source.
    let client = Client::admin(&server);
    client.must(Method::DELETE, &format!("{RBAC}/clusterroles/caches"), &Value::Null).await;
    assert_eq!(asked.create(path, &review).await["status"]["allowed"], false);
    server.close().await;
}

#[tokio::test]
async fn a_ceiling_holds_over_a_restart() {
    let folder = Folder::new();
    let settings = || Settings { guard: Guard::Covers, ..settings(&folder.path()) };
    let source = |name: &str, resource: &str| {
        json!({"metadata": {"name": name, "labels": {"to": "gathered"}},
            "rules": [{"apiGroups": ["acme.io"], "resources": [resource], "verbs": ["get"]}]})
    };
    let bind = |role: &str| {
        json!({"metadata": {"name": role}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "vera"}]})
    };
    let server = Server::start(settings()).unwrap();
    let client = Client::admin(&server);
    let author = json!({"metadata": {"name": "author"}, "rules": [
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create", "get", "update"]},
        {"apiGroups": ["acme.io"], "resources": ["caches"], "verbs": ["get"]},
    ]});
    for role in [author, source("caches", "caches"), source("vaults", "vaults")] {
        client.create(&format!("{RBAC}/clusterroles"), &role).await;
    }
    client.create(&format!("{RBAC}/clusterrolebindings"), &bind("author")).await;
    let gathered = json!({"metadata": {"name": "gathered"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "gathered"}}]}});
    let path = format!("{RBAC}/clusterroles/gathered");
    let made = Client::of(server.router_as(vera())).create(&format!("{RBAC}/clusterroles"), &gathered).await;
    let text = |role: &Value| role["rules"].to_string();
    assert!(text(&made).contains("caches") && !text(&made).contains("vaults"), "{made}");
    server.close().await;

    let server = Server::start(settings()).unwrap();
    let client = Client::admin(&server);
    assert_eq!(client.get(&path).await.1, made);
    client.create(&format!("{RBAC}/clusterroles"), &source("more", "ledgers")).await;
    let now = client.get(&path).await.1;
    assert!(!text(&now).contains("ledgers") && !text(&now).contains("vaults"), "{now}");
    server.close().await;
    // Even under the other guard it grows no wider.
    let server = Server::start(Settings { guard: Guard::Strict, ..settings() }).unwrap();
    assert_eq!(Client::admin(&server).get(&path).await.1, now);
    server.close().await;
}

#[tokio::test]
async fn tokens_and_certificates_stay_good() {
    let folder = Folder::new();
    let address = || ([127, 0, 0, 1], 0).into();
    let listening = Listening::start(address(), settings(&folder.path())).await.unwrap();
    let client = Client::admin(&listening.server);
    client.until("/api/v1/namespaces/default/serviceaccounts/default", 200).await;
    let request = json!({"spec": {"expirationSeconds": 3600}});
    let token = client.create("/api/v1/namespaces/default/serviceaccounts/default/token", &request).await;
    let token = token["status"]["token"].as_str().unwrap().to_owned();
    let authority = listening.authority_pem().to_owned();
    listening.server.close().await;
    drop(listening);

    let listening = Listening::start(address(), settings(&folder.path())).await.unwrap();
    assert_eq!(listening.authority_pem(), authority);
    let review = Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews")
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Body::from("{}"))
        .unwrap();
    let answer = Client::of(listening.server.router()).send(review).await;
    assert_eq!(answer.status().as_u16(), 201);
    listening.server.close().await;
    for key in ["pki/sa.key", "pki/ca.key", "objects.log"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(folder.path().join(key)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{key}");
    }
}

#[tokio::test]
async fn deletions_go_on() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let maps = "/api/v1/namespaces/ending/configmaps";
    client.create("/api/v1/namespaces", &json!({"metadata": {"name": "ending"}})).await;
    client.create(maps, &json!({"metadata": {"name": "held", "finalizers": ["acme.io/held"]}})).await;
    client.must(Method::DELETE, "/api/v1/namespaces/ending", &Value::Null).await;
    let owner = client.create("/api/v1/namespaces/default/configmaps", &json!({"metadata": {"name": "owner"}})).await;
    let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true}]);
    let owned = json!({"metadata": {"name": "owned", "ownerReferences": reference, "finalizers": ["acme.io/held"]}});
    client.create("/api/v1/namespaces/default/configmaps", &owned).await;
    let foreground = json!({"propagationPolicy": "Foreground"});
    client.must(Method::DELETE, "/api/v1/namespaces/default/configmaps/owner", &foreground).await;
    server.close().await;

    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let release = json!({"metadata": {"finalizers": null}});
    for path in [format!("{maps}/held"), "/api/v1/namespaces/default/configmaps/owned".to_owned()] {
        let there = client.get(&path).await.1;
        assert_eq!(there["metadata"]["finalizers"], json!(["acme.io/held"]), "{path}");
        // The controllers may not have come to it before the restart.
        while client.get(&path).await.1["metadata"]["deletionTimestamp"].is_null() {
            tokio::task::yield_now().await;
        }
        let (code, answer) = client.ask_as(Method::PATCH, &path, "application/merge-patch+json", &release).await;
        assert_eq!(code, 200, "{answer}");
    }
    client.until("/api/v1/namespaces/ending", 404).await;
    client.until("/api/v1/namespaces/default/configmaps/owner", 404).await;
    server.close().await;
}

#[tokio::test]
async fn what_users_changed_of_the_bootstrap_policy_is_reconciled_as_kubernetes_does() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let merge = |name: &str, patch: Value| {
        let (client, path) = (client.clone(), format!("{RBAC}/{name}"));
        async move {
            let (code, answer) = client.ask_as(Method::PATCH, &path, "application/merge-patch+json", &patch).await;
            assert_eq!(code, 200, "{answer}");
            answer
        }
    };
    client.must(Method::DELETE, &format!("{RBAC}/clusterroles/system:node-proxier"), &Value::Null).await;
    let none = json!({"rules": []});
    merge("clusterroles/system:kube-dns", none.clone()).await;
    let protected =
        json!({"metadata": {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}, "rules": []});
    let protected = merge("clusterroles/system:node-problem-detector", protected).await;
    let labelled = json!({"metadata": {"labels": {"kubernetes.io/bootstrapping": "mine", "more": "yes"}}});
    let labelled = merge("clusterrolebindings/cluster-admin", labelled).await;
    server.close().await;

    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let roles = client.get(&format!("{RBAC}/clusterroles")).await.1;
    assert!(named(&roles, "system:node-proxier").is_some(), "deleted ones come back");
    assert!(!named(&roles, "system:kube-dns").unwrap()["rules"].as_array().unwrap().is_empty(), "rules come back");
    let path = format!("{RBAC}/clusterroles/system:node-problem-detector");
    assert_eq!(client.get(&path).await.1, protected, "autoupdate: false keeps everybody away");
    let path = format!("{RBAC}/clusterrolebindings/cluster-admin");
    assert_eq!(client.get(&path).await.1, labelled, "what is only added to stays");
    server.close().await;
}
