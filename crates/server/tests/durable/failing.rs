//! A store that is slow, or that fails: nobody hears of what is not stored.

use std::collections::VecDeque;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};

use axum::body::Body;
use axum::http::{Method, Request};
use futures::poll;
use http_body_util::BodyExt;
use rolewright_server::store::{Payload, Store, StoreError};
use rolewright_server::{Server, Settings};
use serde_json::{Value, json};

use crate::client::{Client, furnished};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A store in memory whose writes wait until they are let through.
#[derive(Clone, Default)]
struct Held(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    kept: VecDeque<Payload>,
    held: bool,
    fails: bool,
    appends: usize,
}

impl Held {
    fn set(&self, set: impl FnOnce(&mut State)) {
        set(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }
}

impl Store for Held {
    fn load(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), StoreError> {
        let kept = self.0.0.lock().unwrap().kept.clone();
        for payload in &kept {
            each(payload).unwrap();
        }
        Ok(())
    }

    fn append(&mut self, payload: &[u8]) -> io::Result<()> {
        let state = self.0.0.lock().unwrap();
        let mut state = self.0.1.wait_while(state, |state| state.held).unwrap();
        if state.fails {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        state.appends += 1;
        state.kept.push_back(payload.to_vec());
        Ok(())
    }

    fn rewrite(&mut self, _: &mut dyn Iterator<Item = Payload>) -> io::Result<()> {
        Err(io::Error::other("never grown"))
    }

    fn size(&self) -> u64 {
        0
    }

    fn place(&self) -> String {
        "/the/disk".to_owned()
    }
}

/// A server that has come to rest, its store, and its superuser.
async fn started() -> (Server, Held, Client) {
    let store = Held::default();
    let server = Server::start_on(Settings::default(), Box::new(store.clone())).unwrap();
    let client = Client::admin(&server);
    furnished(&client).await;
    (server, store, client)
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

#[tokio::test]
async fn nobody_sees_what_is_not_stored_yet() {
    let (server, store, client) = started().await;
    let watch = Request::get(format!("{MAPS}?watch=true")).body(Body::empty()).unwrap();
    let mut watch = client.send(watch).await.into_body();
    store.set(|state| state.held = true);
    let body = map("slow");
    let (path, reviews) = (format!("{MAPS}/slow"), "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let mut create = pin!(client.ask(Method::POST, MAPS, &body));
    assert!(poll!(&mut create).is_pending(), "not acknowledged");
    let mut again = pin!(client.ask(Method::POST, MAPS, &body));
    let mut get = pin!(client.get(&path));
    let mut list = pin!(client.get(MAPS));
    let mut missing = pin!(client.get("/api/v1/namespaces/default/configmaps/other"));
    let mut decided = pin!(client.ask(Method::POST, reviews, &review));
    {
        let mut event = pin!(watch.frame());
        for _ in 0..100 {
            assert!(poll!(&mut create).is_pending());
            assert!(poll!(&mut again).is_pending(), "a conflict with it tells of it, too");
            assert!(poll!(&mut get).is_pending() && poll!(&mut list).is_pending());
            assert!(poll!(&mut missing).is_pending() && poll!(&mut decided).is_pending());
            assert!(poll!(&mut event).is_pending());
            tokio::task::yield_now().await;
        }
    }
    store.set(|state| state.held = false);
    assert_eq!(create.await.0, 201);
    assert_eq!(again.await.0, 409);
    assert_eq!(get.await.0, 200);
    assert_eq!(list.await.1["items"].as_array().map(Vec::len), Some(1));
    assert_eq!((missing.await.0, decided.await.0), (404, 201));
    let event = watch.frame().await.unwrap().unwrap().into_data().unwrap();
    let event: Value = serde_json::from_slice(&event).unwrap();
    assert_eq!((&event["type"], &event["object"]["metadata"]["name"]), (&json!("ADDED"), &json!("slow")));
    server.close().await;
}

#[tokio::test]
async fn those_who_wait_share_the_wait() {
    let (server, store, client) = started().await;
    store.set(|state| {
        state.held = true;
        state.appends = 0;
    });
    let creates: Vec<_> = (0..200)
        .map(|i| {
            let client = client.clone();
            tokio::spawn(async move { client.ask(Method::POST, MAPS, &map(&format!("map-{i}"))).await.0 })
        })
        .collect();
    // Every task gets its turn, and stops where it waits for the store.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert!(!creates.iter().any(tokio::task::JoinHandle::is_finished));
    store.set(|state| state.held = false);
    for create in creates {
        assert_eq!(create.await.unwrap(), 201);
    }
    let appends = store.0.0.lock().unwrap().appends;
    assert!(appends <= 3, "200 creates took {appends} writes");
    server.close().await;
}

#[tokio::test]
async fn a_full_disk_ends_the_server_and_loses_nothing_that_was_acknowledged() {
    let (server, store, client) = started().await;
    client.create(MAPS, &map("kept")).await;
    let watch = Request::get(format!("{MAPS}?watch=true")).body(Body::empty()).unwrap();
    let mut watch = client.send(watch).await.into_body();
    assert!(watch.frame().await.is_some(), "what is there comes first");
    store.set(|state| state.fails = true);
    let (code, answer) = client.ask(Method::POST, MAPS, &map("lost")).await;
    assert_eq!(code, 500);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("cannot store: `/the/disk`"), "{message}");
    // From now on nothing is told that might not be there after a restart.
    assert_eq!(client.get(&format!("{MAPS}/lost")).await.0, 500);
    assert_eq!(client.get(MAPS).await.0, 500);
    let event = poll!(pin!(watch.frame()));
    assert!(event.is_pending(), "{event:?}");
    assert!(server.failed().await.contains("/the/disk"));
    assert!(server.failure().is_some());
    server.close().await;
    drop(watch);

    store.set(|state| state.fails = false);
    let server = Server::start_on(Settings::default(), Box::new(store)).unwrap();
    let client = Client::admin(&server);
    assert_eq!(client.get(&format!("{MAPS}/kept")).await.0, 200);
    assert_eq!(client.get(&format!("{MAPS}/lost")).await.0, 404);
    server.close().await;
}
