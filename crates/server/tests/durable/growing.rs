//! The log does not grow without end.

use axum::http::Method;
use serde_json::json;

use crate::client::{Client, Folder, everything, furnished, start};

#[tokio::test]
async fn history_is_dropped_and_what_is_there_stays() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let path = "/api/v1/namespaces/default/configmaps";
    for name in ["big", "gone"] {
        client.create(path, &json!({"metadata": {"name": name}})).await;
    }
    client.must(Method::DELETE, &format!("{path}/gone"), &serde_json::Value::Null).await;
    for i in 0..40 {
        let body = json!({"metadata": {"name": "big"}, "data": {"k": format!("{i}").repeat(250_000)}});
        client.must(Method::PUT, &format!("{path}/big"), &body).await;
    }
    furnished(&client).await;
    let before = everything(&client).await;
    server.close().await;
    let size = std::fs::metadata(folder.log()).unwrap().len();
    assert!(size < 6 << 20, "18 MB of history in {size} bytes");
    let report = rolewright_server::store::check(&folder.path()).unwrap();
    assert_eq!(report.objects["configmaps"], 1);
    let server = start(&folder).unwrap();
    assert_eq!(everything(&Client::admin(&server)).await, before);
    server.close().await;
}
