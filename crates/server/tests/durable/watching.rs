//! Watches over a restart: they go on where nothing was missed, and are told with 410 where something may have been.

use axum::body::Body;
use axum::http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::client::{Client, Folder, start};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The first event of a watch.
async fn first(client: &Client, path: &str, revision: &str) -> Value {
    let uri = format!("{path}?watch=true&resourceVersion={revision}&timeoutSeconds=30");
    let mut body = client.send(Request::get(uri).body(Body::empty()).unwrap()).await.into_body();
    let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let line = frame.split(|byte| *byte == b'\n').next().unwrap();
    serde_json::from_slice(line).unwrap()
}

fn revision(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn watches_resume_or_are_told() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let one = client.create(MAPS, &json!({"metadata": {"name": "one"}})).await;
    client.create(MAPS, &json!({"metadata": {"name": "two"}})).await;
    let two = revision(&client.get(MAPS).await.1);
    client.must(Method::DELETE, &format!("{MAPS}/two"), &Value::Null).await;
    let last = revision(&client.get(MAPS).await.1);
    // Another collection changes: that is nothing to those who watch this one.
    client.create("/api/v1/namespaces/default/secrets", &json!({"metadata": {"name": "s"}})).await;
    let secret = revision(&client.get(MAPS).await.1);
    server.close().await;

    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    for (old, why) in [(revision(&one), "before the second map"), (two, "before the deletion")] {
        let event = first(&client, MAPS, &old).await;
        assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)), "{why}: {event}");
        let (code, answer) = client.get(&format!("{MAPS}?resourceVersion={old}&resourceVersionMatch=Exact")).await;
        assert_eq!((code, &answer["reason"]), (410, &json!("Expired")), "{why}");
    }
    let made = client.create(MAPS, &json!({"metadata": {"name": "three"}})).await;
    for resumed in [last, secret] {
        let event = first(&client, MAPS, &resumed).await;
        assert_eq!((&event["type"], &event["object"]["metadata"]), (&json!("ADDED"), &made["metadata"]), "{event}");
        let (code, list) = client.get(&format!("{MAPS}?resourceVersion={resumed}&resourceVersionMatch=Exact")).await;
        assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(1)), "{list}");
    }
    server.close().await;
}
