//! Watches, and what kube-runtime makes of them.

use std::pin::pin;

use anyhow::{Context, Result, ensure};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::wait::{await_condition, conditions, delete::delete_and_finalize};
use kube::runtime::watcher::{self, watch_object, watcher};
use kube::runtime::{WatchStreamExt, wait};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::time::timeout;

use crate::{PATIENCE, config_map, eventually, namespace};

/// What a step changes in a namespace: one is made, changed, relabelled out of sight, and deleted.
async fn stir(maps: &Api<ConfigMap>) -> Result<()> {
    let params = PatchParams::default();
    maps.create(&PostParams::default(), &config_map("new", "one", "1")).await?;
    maps.patch("new", &params, &Patch::Merge(json!({"data": {"key": "2"}}))).await?;
    maps.patch("old", &params, &Patch::Merge(json!({"metadata": {"labels": {"part": "two"}}}))).await?;
    maps.patch("old", &params, &Patch::Merge(json!({"metadata": {"labels": {"part": "one"}}}))).await?;
    maps.delete("new", &DeleteParams::default()).await?;
    Ok(())
}

async fn next<T, E: std::error::Error + Send + Sync + 'static>(
    stream: &mut (impl Stream<Item = Result<T, E>> + Unpin),
) -> Result<T> {
    let item = timeout(PATIENCE, stream.next()).await.context("the stream is silent")?;
    Ok(item.context("the stream ended")??)
}

pub(crate) async fn plain_watches(client: &Client) -> Result<()> {
    let ns = namespace(client, "watches").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    maps.create(&PostParams::default(), &config_map("old", "one", "1")).await?;
    let from = maps.list(&ListParams::default()).await?.metadata.resource_version.context("a version")?;
    let params = WatchParams::default().labels("part=one").timeout(60);
    let mut events = pin!(maps.watch(&params, &from).await?);
    let mut metadata = pin!(maps.watch_metadata(&params, &from).await?);
    stir(&maps).await?;
    let expected = ["ADDED new", "MODIFIED new", "DELETED old", "ADDED old", "DELETED new"];
    for wanted in expected {
        let full = loop {
            match next(&mut events).await? {
                WatchEvent::Added(map) => break format!("ADDED {}", map.name_any()),
                WatchEvent::Modified(map) => break format!("MODIFIED {}", map.name_any()),
                WatchEvent::Deleted(map) => break format!("DELETED {}", map.name_any()),
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(error) => anyhow::bail!("{error:?}"),
            }
        };
        ensure!(full == wanted, "{full} instead of {wanted}");
        let partial = loop {
            match next(&mut metadata).await? {
                WatchEvent::Added(map) => break format!("ADDED {}", map.name_any()),
                WatchEvent::Modified(map) => break format!("MODIFIED {}", map.name_any()),
                WatchEvent::Deleted(map) => break format!("DELETED {}", map.name_any()),
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(error) => anyhow::bail!("{error:?}"),
            }
        };
        ensure!(partial == wanted, "{partial} instead of {wanted}");
    }
    // A watch ends by itself, and cleanly.
    let short = maps.watch(&WatchParams::default().timeout(1), &from).await?;
    let seen: Vec<_> = timeout(PATIENCE, short.try_collect::<Vec<_>>()).await.context("no end")??;
    ensure!(seen.len() >= 5, "{seen:?}");
    Ok(())
}

pub(crate) async fn watchers(client: &Client) -> Result<()> {
    let configs = [
        ("default", watcher::Config::default()),
        ("pages", watcher::Config::default().page_size(1)),
        ("any", watcher::Config::default().any_semantic()),
        ("streaming", watcher::Config::default().streaming_lists()),
    ];
    for (name, config) in configs {
        let ns = namespace(client, &format!("watcher-{name}")).await?;
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
        for old in ["old", "older"] {
            maps.create(&PostParams::default(), &config_map(old, "one", "1")).await?;
        }
        let config = config.labels("part=one");
        let mut events = pin!(watcher(maps.clone(), config.clone()));
        let mut partial = pin!(watcher(Api::<PartialObjectMeta<ConfigMap>>::namespaced(client.clone(), &ns), config));
        for wanted in ["Init", "InitApply(old)", "InitApply(older)", "InitDone"] {
            let (full, seen) = (next(&mut events).await?.to_string(), next(&mut partial).await?.to_string());
            ensure!(full == wanted && seen == wanted, "{name}: {full} and {seen} instead of {wanted}");
        }
        stir(&maps).await?;
        for wanted in ["Apply(new)", "Apply(new)", "Delete(old)", "Apply(old)", "Delete(new)"] {
            let (full, seen) = (next(&mut events).await?.to_string(), next(&mut partial).await?.to_string());
            ensure!(full == wanted && seen == wanted, "{name}: {full} and {seen} instead of {wanted}");
        }
    }
    Ok(())
}

pub(crate) async fn reflector(client: &Client) -> Result<()> {
    let ns = namespace(client, "reflector").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    maps.create(&PostParams::default(), &config_map("old", "one", "1")).await?;
    let (store, writer) = reflector::store::<ConfigMap>();
    let config = watcher::Config::default().labels("part=one").streaming_lists();
    let stream = watcher(maps.clone(), config).default_backoff().reflect(writer).touched_objects();
    let task = tokio::spawn(stream.for_each(|_| std::future::ready(())));
    timeout(PATIENCE, store.wait_until_ready()).await.context("not ready")??;
    ensure!(store.len() == 1 && store.get(&ObjectRef::new("old").within(&ns)).is_some());
    maps.create(&PostParams::default(), &config_map("new", "one", "1")).await?;
    maps.delete("old", &DeleteParams::default()).await?;
    eventually("the new one instead of the old one", || async {
        let names: Vec<String> = store.state().iter().map(|map| map.name_any()).collect();
        Ok((names == ["new"]).then_some(()))
    })
    .await?;
    task.abort();
    Ok(())
}

pub(crate) async fn conditions(client: &Client) -> Result<()> {
    let ns = namespace(client, "conditions").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    let key = |value: &'static str| {
        move |map: Option<&ConfigMap>| {
            map.and_then(|map| map.data.as_ref()).is_some_and(|data| data.get("key").is_some_and(|held| held == value))
        }
    };
    let waiting = tokio::spawn(await_condition(maps.clone(), "a", key("2")));
    let made = maps.create(&PostParams::default(), &config_map("a", "one", "1")).await?;
    maps.patch("a", &PatchParams::default(), &Patch::Merge(json!({"data": {"key": "2"}}))).await?;
    let seen = timeout(PATIENCE, waiting).await.context("it never was")???;
    ensure!(seen.is_some_and(|map| map.uid() == made.uid()));

    let mut object = pin!(watch_object(maps.clone(), "a"));
    ensure!(next(&mut object).await?.is_some_and(|map| map.name_any() == "a"));
    let uid = made.uid().context("a uid")?;
    let watched = maps.clone();
    let gone = tokio::spawn(async move { await_condition(watched, "a", conditions::is_deleted(&uid)).await });
    let hold = json!({"metadata": {"finalizers": ["acme.io/hold"]}});
    maps.patch("a", &PatchParams::default(), &Patch::Merge(hold)).await?;
    maps.delete("a", &DeleteParams::default()).await?;
    maps.patch("a", &PatchParams::default(), &Patch::Merge(json!({"metadata": {"finalizers": null}}))).await?;
    timeout(PATIENCE, gone).await.context("it is still there")???;
    while next(&mut object).await?.is_some() {}

    maps.create(&PostParams::default(), &config_map("b", "one", "1")).await?;
    timeout(PATIENCE, delete_and_finalize(maps.clone(), "b", &DeleteParams::foreground()))
        .await
        .context("no end")??;
    ensure!(maps.get_opt("b").await?.is_none());
    ensure!(wait::Condition::matches_object(&conditions::is_deleted("x"), None::<&ConfigMap>));
    Ok(())
}
