//! Definitions that are too much: too many, too large, too deep, or that would keep the server busy for ever.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hyper_util::service::TowerToHyperService;
use rolewright_server::{Server, Settings, admin};
use serde_json::{Map, Value, json};

use crate::watches::{Router, call, json_of, resident};
use crate::{no_panics, turn};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MANY: usize = 5_000;
/// What one small definition may cost, with everything that is served for it.
const EACH: usize = 24 << 10;
/// Nothing here may take a minute, whatever the machine does meanwhile: real limits are steps, not seconds.
const PATIENCE: Duration = Duration::from_mins(1);

fn definition(plural: &str, schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.hostile.example.com")},
        "spec": {
            "group": "hostile.example.com", "scope": "Cluster",
            "names": {"plural": plural, "singular": format!("{plural}x"), "kind": format!("K{plural}"), "listKind": format!("K{plural}List")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn started() -> Result<(Server, Router)> {
    let server = Server::start(Settings::default())?;
    let router = TowerToHyperService::new(server.router_as(admin()));
    Ok((server, router))
}

async fn answered(router: &Router, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
    let done = async { json_of(call(router, method, path, body).await?).await };
    tokio::time::timeout(PATIENCE, done).await.with_context(|| format!("{method} {path} takes too long"))?
}

/// Waits until a definition is served.
async fn served(router: &Router, plural: &str) -> Result<()> {
    let path = format!("/apis/hostile.example.com/v1/{plural}");
    let there = async {
        while call(router, "GET", &path, &Value::Null).await?.status() != 200 {
            tokio::task::yield_now().await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, there).await.with_context(|| format!("{plural} is not served"))?
}

#[tokio::test]
async fn thousands_of_definitions_cost_little_and_leave_nothing() -> Result<()> {
    let _turn = turn().await;
    let (server, router) = started()?;
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}});
    let before = resident();
    for number in 0..MANY {
        let (status, body) =
            answered(&router, "POST", DEFINITIONS, &definition(&format!("k{number}"), &schema)).await?;
        ensure!(status == 201, "{number}: {body}");
    }
    let all = async {
        loop {
            let answer = call(&router, "GET", "/apis/hostile.example.com/v1", &Value::Null).await?;
            // Until the first is there, nobody speaks for the group.
            let list = if answer.status() == 200 { json_of(answer).await?.1 } else { Value::Null };
            if list["resources"].as_array().is_some_and(|resources| resources.len() == MANY) {
                return anyhow::Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(5 * PATIENCE, all).await.context("not all are discovered")??;
    let each = resident().saturating_sub(before) / MANY;
    println!("{MANY} definitions: {each} bytes each");
    ensure!(each < EACH, "{each} bytes for a definition");
    let object = json!({"apiVersion": "hostile.example.com/v1", "kind": "Kk7", "metadata": {"name": "a"}});
    let (status, body) = answered(&router, "POST", "/apis/hostile.example.com/v1/k7", &object).await?;
    ensure!(status == 201, "{body}");
    for number in 0..MANY {
        let path = format!("{DEFINITIONS}/k{number}.hostile.example.com");
        let (status, body) = answered(&router, "DELETE", &path, &Value::Null).await?;
        ensure!(status == 200, "{number}: {body}");
    }
    let gone = async {
        let one = format!("{DEFINITIONS}?limit=1");
        while answered(&router, "GET", &one, &Value::Null).await?.1["items"] != json!([]) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(5 * PATIENCE, gone).await.context("definitions stay")??;
    let unserved = async {
        while answered(&router, "GET", "/apis", &Value::Null).await?.1.to_string().contains("hostile.example.com") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, unserved).await.context("the group is still served")??;
    server.end();
    no_panics();
    Ok(())
}

/// A schema of objects in objects.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({"type": "string"}), |schema, _| json!({"type": "object", "properties": {"p": schema}}))
}

fn wide(count: usize, leaf: &Value) -> Value {
    let properties: Map<String, Value> = (0..count).map(|number| (format!("p{number}"), leaf.clone())).collect();
    json!({"type": "object", "properties": properties})
}

fn with_rule(rule: &str) -> Value {
    json!({
        "type": "object",
        "properties": {"spec": {
            "type": "object",
            "properties": {"list": {"type": "array", "items": {"type": "string"}}},
            "x-kubernetes-validations": [{"rule": rule}],
        }},
    })
}

#[tokio::test]
async fn no_definition_keeps_the_server_busy() -> Result<()> {
    let _turn = turn().await;
    let (server, router) = started()?;
    let recursive = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
    let enumerated: Vec<Value> = (0..100_000).map(|number| json!(format!("v{number}"))).collect();
    let quantified = "self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, a == b && c == d))))";
    let exponential = (0..40).fold("'x'".to_owned(), |text, _| format!("cel.bind(v, {text}, v + v)"));
    for (plural, schema, statuses) in [
        ("recursive", recursive, [422, 422]),
        ("deep", nested(40), [201, 422]),
        ("deeper", nested(55), [201, 422]),
        ("deepest", nested(120), [400, 422]),
        ("wide", wide(20_000, &json!({"type": "string"})), [201, 422]),
        ("many", json!({"type": "object", "properties": {"e": {"type": "string", "enum": enumerated}}}), [201, 422]),
        (
            "pattern",
            json!({"type": "object", "properties": {"p": {"type": "string", "pattern": "^((a+)+)+$"}}}),
            [201, 201],
        ),
        (
            "patterns",
            wide(500, &json!({"type": "string", "pattern": "(((x{0,1000}){0,1000}){0,1000}){0,1000}"})),
            [201, 422],
        ),
        ("unclosed", json!({"type": "object", "properties": {"p": {"type": "string", "pattern": "("}}}), [422, 422]),
        ("long", with_rule(quantified), [422, 422]),
        ("deeprule", with_rule(&format!("{}true{}", "(".repeat(5_000), ")".repeat(5_000))), [422, 422]),
        ("exponential", with_rule(&format!("{exponential} != ''")), [201, 422]),
        ("longrule", with_rule(&vec!["true"; 20_000].join(" && ")), [201, 422]),
        (
            "alternatives",
            json!({"type": "object", "properties": {"a": {"type": "string", "anyOf": vec![json!({"pattern": "a"}); 5_000]}}}),
            [201, 422],
        ),
    ] {
        let (status, body) = answered(&router, "POST", DEFINITIONS, &definition(plural, &schema)).await?;
        ensure!(statuses.contains(&status), "{plural}: {status} {body}");
        if status != 201 {
            ensure!(
                body["kind"] == "Status" && body["message"].as_str().is_some_and(|text| !text.is_empty()),
                "{plural}"
            );
            continue;
        }
        served(&router, plural).await?;
        let deep = (0..100).fold(json!("x"), |value, _| json!({"p": value}));
        for spec in [json!({"list": vec!["x"; 2_000]}), deep, json!("a".repeat(1 << 20))] {
            let object = json!({
                "apiVersion": "hostile.example.com/v1", "kind": format!("K{plural}"), "metadata": {"generateName": "o"},
                "spec": spec, "p": "a".repeat(10_000) + "!", "e": "none", "a": "b".repeat(10_000),
            });
            let path = format!("/apis/hostile.example.com/v1/{plural}");
            let (status, body) = answered(&router, "POST", &path, &object).await?;
            ensure!([201, 400, 413, 422, 500].contains(&status), "{plural}: {status} {body}");
        }
    }
    server.end();
    no_panics();
    Ok(())
}
