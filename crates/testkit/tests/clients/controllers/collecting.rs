//! Objects and their owners.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{RBAC, done, gone, plain, seen};
use crate::servers::Home;

const MAPS: &str = "/api/v1/namespaces/collecting/configmaps";

/// Creates a config map with these owners.
async fn map(home: &Home, name: &str, owners: &[Value]) -> Result<Value> {
    done(home, "POST", MAPS, Some(json!({"metadata": {"name": name, "ownerReferences": owners}}))).await
}

fn owner(of: &Value, kind: &str, api: &str, blocks: bool) -> Value {
    json!({
        "apiVersion": api, "kind": kind, "name": of["metadata"]["name"], "uid": of["metadata"]["uid"],
        "blockOwnerDeletion": blocks,
    })
}

fn at(name: &str) -> String {
    format!("{MAPS}/{name}")
}

async fn delete(home: &Home, name: &str, propagation: &str) -> Result<Value> {
    done(
        home,
        "DELETE",
        &at(name),
        Some(json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation})),
    )
    .await
}

pub(super) async fn play(home: &Home) -> Result<Vec<(String, Value)>> {
    for namespace in ["collecting", "collecting-elsewhere"] {
        done(home, "POST", "/api/v1/namespaces", Some(json!({"metadata": {"name": namespace}}))).await?;
    }
    let mut states = Vec::new();
    let by = |of: &Value, blocks: bool| owner(of, "ConfigMap", "v1", blocks);

    let first = map(home, "background", &[]).await?;
    let child = map(home, "background-child", &[by(&first, false)]).await?;
    map(home, "background-grandchild", &[by(&child, true)]).await?;
    delete(home, "background", "Background").await?;
    for name in ["background", "background-child", "background-grandchild"] {
        gone(home, &at(name)).await.context("background")?;
    }

    let first = map(home, "foreground", &[]).await?;
    let blocks = map(home, "foreground-blocks", &[by(&first, true)]).await?;
    map(home, "foreground-lets", &[by(&first, false)]).await?;
    let held = json!({"metadata": {"finalizers": ["example.com/held"]}});
    done(home, "PATCH", &at("foreground-blocks"), Some(held)).await?;
    delete(home, "foreground", "Foreground").await?;
    gone(home, &at("foreground-lets")).await.context("foreground")?;
    let marked = |object: &Value| object["metadata"]["deletionTimestamp"].is_string();
    states.push(("blocked".to_owned(), plain(&seen(home, &at("foreground-blocks"), 200, marked).await?)));
    states.push(("waits for what blocks".to_owned(), plain(&seen(home, &at("foreground"), 200, marked).await?)));
    done(
        home,
        "PATCH",
        &at("foreground-blocks"),
        Some(json!({"metadata": {"finalizers": null, "uid": blocks["metadata"]["uid"]}})),
    )
    .await?;
    gone(home, &at("foreground")).await.context("foreground")?;

    let first = map(home, "orphan", &[]).await?;
    map(home, "orphan-child", &[by(&first, true)]).await?;
    delete(home, "orphan", "Orphan").await?;
    gone(home, &at("orphan")).await.context("orphan")?;
    let alone = |object: &Value| object["metadata"]["ownerReferences"].is_null();
    states.push(("orphaned".to_owned(), plain(&seen(home, &at("orphan-child"), 200, alone).await?)));

    let one = map(home, "one-of-two", &[]).await?;
    let two = map(home, "two-of-two", &[]).await?;
    map(home, "both", &[by(&one, false), by(&two, false)]).await?;
    delete(home, "one-of-two", "Background").await?;
    let single =
        |object: &Value| object["metadata"]["ownerReferences"].as_array().is_some_and(|owners| owners.len() == 1);
    states.push(("one owner is left".to_owned(), plain(&seen(home, &at("both"), 200, single).await?)));
    delete(home, "two-of-two", "Background").await?;
    gone(home, &at("both")).await.context("no owner is left")?;

    // Nobody has this uid.
    let nobody = json!({"metadata": {"name": "nobody", "uid": "11111111-2222-3333-4444-555555555555"}});
    map(home, "of-nobody", &[by(&nobody, false)]).await?;
    gone(home, &at("of-nobody")).await.context("an absent owner")?;

    let elsewhere = "/api/v1/namespaces/collecting-elsewhere/configmaps";
    let far = done(home, "POST", elsewhere, Some(json!({"metadata": {"name": "far"}}))).await?;
    map(home, "of-far", &[by(&far, false)]).await?;
    gone(home, &at("of-far")).await.context("an owner in another namespace")?;
    done(home, "GET", &format!("{elsewhere}/far"), None).await?;

    let role =
        done(home, "POST", &format!("{RBAC}/clusterroles"), Some(json!({"metadata": {"name": "collecting"}}))).await?;
    map(home, "of-cluster", &[owner(&role, "ClusterRole", "rbac.authorization.k8s.io/v1", false)]).await?;
    done(home, "DELETE", &format!("{RBAC}/clusterroles/collecting"), None).await?;
    gone(home, &at("of-cluster")).await.context("an owner of the cluster")?;

    let replica = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    let deployments = "/apis/apps/v1/namespaces/collecting/deployments";
    let deployment = done(home, "POST", deployments, Some(replica)).await?;
    let lease =
        json!({"metadata": {"name": "l", "ownerReferences": [owner(&deployment, "Deployment", "apps/v1", true)]}});
    done(home, "POST", "/apis/coordination.k8s.io/v1/namespaces/collecting/leases", Some(lease)).await?;
    done(home, "DELETE", &format!("{deployments}/d"), None).await?;
    gone(home, "/apis/coordination.k8s.io/v1/namespaces/collecting/leases/l").await.context("a deployment's")?;

    let left = done(home, "GET", MAPS, None).await?;
    let names = left["items"].as_array().into_iter().flatten().map(|item| item["metadata"]["name"].clone());
    states.push(("what is left".to_owned(), names.collect()));
    Ok(states)
}
