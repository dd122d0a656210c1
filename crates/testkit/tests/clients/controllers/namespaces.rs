//! Namespaces take their content with them, and have an account as long as they live.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{RBAC, done, gone, plain, seen};
use crate::servers::Home;

pub(super) async fn play(home: &Home) -> Result<Vec<(String, Value)>> {
    let mut states = Vec::new();
    let namespace = "/api/v1/namespaces/ending";
    done(home, "POST", "/api/v1/namespaces", Some(json!({"metadata": {"name": "ending"}}))).await?;
    seen(home, &format!("{namespace}/serviceaccounts/default"), 200, |_| true).await?;
    for (path, object) in [
        (format!("{namespace}/configmaps"), json!({"metadata": {"name": "plain"}})),
        (format!("{namespace}/configmaps"), json!({"metadata": {"name": "held", "finalizers": ["example.com/held"]}})),
        (
            format!("{namespace}/secrets"),
            json!({"metadata": {"name": "s", "finalizers": ["example.com/held", "example.com/other"]}}),
        ),
        (format!("{RBAC}/namespaces/ending/roles"), json!({"metadata": {"name": "r"}})),
        (
            "/apis/coordination.k8s.io/v1/namespaces/ending/leases".to_owned(),
            json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "x"}}),
        ),
    ] {
        done(home, "POST", &path, Some(object)).await?;
    }
    states.push(("the answer".to_owned(), plain(&done(home, "DELETE", namespace, None).await?)));
    gone(home, &format!("{namespace}/configmaps/plain")).await.context("content")?;
    gone(home, &format!("{RBAC}/namespaces/ending/roles/r")).await.context("content")?;
    let condition = |object: &Value, kind: &str| {
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == kind)
    };
    let remains = |object: &Value| {
        condition(object, "NamespaceFinalizersRemaining").is_some_and(|condition| condition["status"] == "True")
    };
    states.push(("finalizers remain".to_owned(), plain(&seen(home, namespace, 200, remains).await?)));
    let held = seen(home, &format!("{namespace}/configmaps/held"), 200, |object| {
        object["metadata"]["deletionTimestamp"].is_string()
    })
    .await?;
    states.push(("it is held".to_owned(), plain(&held)));
    let (status, refused) =
        home.send("POST", &format!("{namespace}/configmaps"), Some(&json!({"metadata": {"name": "new"}}))).await?;
    states.push((format!("nothing new, {status}"), plain(&refused)));
    for path in ["configmaps/held", "secrets/s"] {
        done(home, "PATCH", &format!("{namespace}/{path}"), Some(json!({"metadata": {"finalizers": null}}))).await?;
    }
    gone(home, namespace).await.context("it ends with its content")?;

    done(home, "POST", "/api/v1/namespaces", Some(json!({"metadata": {"name": "ending-empty"}}))).await?;
    done(home, "DELETE", "/api/v1/namespaces/ending-empty", None).await?;
    gone(home, "/api/v1/namespaces/ending-empty").await.context("an empty one")?;
    Ok(states)
}

pub(super) async fn accounts(home: &Home) -> Result<Vec<(String, Value)>> {
    let mut states = Vec::new();
    done(home, "POST", "/api/v1/namespaces", Some(json!({"metadata": {"name": "accounts"}}))).await?;
    let account = "/api/v1/namespaces/accounts/serviceaccounts/default";
    let first = seen(home, account, 200, |_| true).await?;
    states.push(("the account".to_owned(), plain(&first)));
    done(home, "DELETE", account, None).await?;
    let second = seen(home, account, 200, |object| object["metadata"]["uid"] != first["metadata"]["uid"]).await?;
    states.push(("it comes again".to_owned(), plain(&second)));
    let token = json!({"spec": {"expirationSeconds": 600}});
    let made = done(home, "POST", &format!("{account}/token"), Some(token)).await?;
    states.push(("it has a token".to_owned(), json!(made["status"]["token"].is_string())));
    Ok(states)
}
