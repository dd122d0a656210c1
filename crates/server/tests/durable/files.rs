//! Folders and files that cannot be used are named, never served.

use std::fs;

use rolewright_server::store;
use serde_json::json;

use crate::client::{Client, Folder, start};

fn refused(folder: &Folder) -> String {
    match start(folder) {
        Ok(_) => panic!("it started"),
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            format!("{error}{source}")
        }
    }
}

#[tokio::test]
async fn folders_that_cannot_be_used_are_named() {
    let folder = Folder::new();
    fs::write(folder.path(), "a file").unwrap();
    let error = refused(&folder);
    assert!(error.contains(&format!("`{}`", folder.path().display())) && error.contains("exists"), "{error}");

    let folder = Folder::new();
    fs::create_dir(folder.path()).unwrap();
    fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
    let error = refused(&folder);
    assert!(error.contains("holds files but no `objects.log`") && error.contains("hint:"), "{error}");

    // Nobody can make a folder here, not even root.
    let nowhere = std::path::Path::new("/sys/rolewright");
    let error = rolewright_server::Server::start(crate::client::settings(nowhere)).err().unwrap().to_string();
    assert!(error.contains("`/sys/rolewright`"), "{error}");
    assert!(store::check(nowhere).unwrap_err().to_string().contains("`/sys/rolewright`"));
}

#[tokio::test]
async fn one_server_at_a_time() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let error = refused(&folder);
    assert!(error.contains("in use by another process") && error.contains("hint:"), "{error}");
    assert!(store::check(&folder.path()).unwrap_err().to_string().contains("in use"));
    server.close().await;
    start(&folder).unwrap().close().await;
}

#[tokio::test]
async fn damaged_files_are_refused_or_are_an_earlier_state() {
    let folder = Folder::new();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    for i in 0..20 {
        let map = json!({"metadata": {"name": format!("map-{i:02}")}, "data": {"k": "v".repeat(i * 50)}});
        client.create("/api/v1/namespaces/default/configmaps", &map).await;
    }
    let whole = client.get("/api/v1/namespaces/default/configmaps").await.1;
    server.close().await;
    let log = fs::read(folder.log()).unwrap();
    let used = log.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let mut cases: Vec<(String, Vec<u8>)> = Vec::new();
    for i in 0..40 {
        let at = used * i / 40;
        cases.push((format!("cut to {at}"), log[..at].to_vec()));
        let mut flipped = log.clone();
        flipped[at] ^= 0x10;
        cases.push((format!("flipped at {at}"), flipped));
        let mut doubled = log[..used].to_vec();
        doubled.extend_from_slice(&log[at / 32 * 32..]);
        cases.push((format!("followed by what is at {at}"), doubled));
    }
    for (what, bytes) in cases {
        fs::write(folder.log(), &bytes).unwrap();
        let error = refused(&folder);
        assert!(error.contains(&format!("`{}`", folder.log().display())), "{what}: {error}");
        assert!(store::check(&folder.path()).is_err(), "{what}");
        assert!(fs::read(folder.log()).unwrap() == bytes, "{what}: nothing is written over it");
    }
    // What a crash leaves of the last write is removed.
    let mut torn = log.clone();
    let start_of_last = used / 512 * 512;
    torn[start_of_last..used].fill(0);
    fs::write(folder.log(), &torn).unwrap();
    let server = start(&folder).unwrap();
    let client = Client::admin(&server);
    let (_, list) = client.get("/api/v1/namespaces/default/configmaps").await;
    let (all, left) = (whole["items"].as_array().unwrap(), list["items"].as_array().unwrap());
    assert!(!left.is_empty() && left.iter().all(|item| all.contains(item)));
    client.create("/api/v1/namespaces/default/configmaps", &json!({"metadata": {"name": "goes-on"}})).await;
    server.close().await;
    assert!(!store::check(&folder.path()).unwrap().torn);
}
