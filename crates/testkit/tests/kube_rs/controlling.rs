//! Controllers, finalizers and events.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use k8s_openapi::api::events::v1::Event as StoredEvent;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{Event as Finalized, finalizer};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher;
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::time::timeout;

use crate::{PATIENCE, config_map, eventually, named, namespace};

struct Shared {
    client: Client,
    reconciled: Mutex<Vec<String>>,
}

/// Every config map has a secret that carries its value, and the names of all accounts that ask for it.
async fn reconcile(map: Arc<ConfigMap>, context: Arc<Shared>) -> Result<Action, kube::Error> {
    let ns = map.namespace().unwrap_or_default();
    let secrets: Api<Secret> = Api::namespaced(context.client.clone(), &ns);
    let accounts: Api<ServiceAccount> = Api::namespaced(context.client.clone(), &ns);
    let mine = ListParams::default().labels(&format!("wants={}", map.name_any()));
    let names: BTreeSet<String> = accounts.list(&mine).await?.iter().map(ResourceExt::name_any).collect();
    let value = map.data.as_ref().and_then(|data| data.get("key")).cloned().unwrap_or_default();
    let secret = Secret {
        metadata: kube::api::ObjectMeta {
            owner_references: map.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..named(&map.name_any())
        },
        string_data: Some(
            [("value".to_owned(), value), ("accounts".to_owned(), names.into_iter().collect::<Vec<_>>().join(","))]
                .into(),
        ),
        ..Secret::default()
    };
    if secrets.get_opt(&map.name_any()).await?.is_some() {
        secrets.replace(&map.name_any(), &PostParams::default(), &secret).await?;
    } else {
        secrets.create(&PostParams::default(), &secret).await?;
    }
    context.reconciled.lock().unwrap_or_else(PoisonError::into_inner).push(map.name_any());
    Ok(Action::await_change())
}

pub(crate) async fn controller(client: &Client) -> Result<()> {
    let ns = namespace(client, "controller").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &ns);
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &ns);
    maps.create(&PostParams::default(), &config_map("early", "one", "1")).await?;

    let context = Arc::new(Shared { client: client.clone(), reconciled: Mutex::default() });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let place = ns.clone();
    let run = Controller::new(maps.clone(), watcher::Config::default().labels("part=one"))
        .owns(secrets.clone(), watcher::Config::default())
        .watches(accounts.clone(), watcher::Config::default().labels("wants"), move |account: ServiceAccount| {
            account.labels().get("wants").map(|name| ObjectRef::new(name).within(&place))
        })
        .graceful_shutdown_on(async move {
            let _ = stopped.await;
        })
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(100)), context.clone())
        .for_each(|_| std::future::ready(()));
    let running = tokio::spawn(run);

    let holds = |name: &'static str, key: &'static str, value: &'static str| {
        let secrets = secrets.clone();
        move || {
            let secrets = secrets.clone();
            async move {
                let data = secrets.get_opt(name).await?.and_then(|secret| secret.data).unwrap_or_default();
                Ok(data.get(key).is_some_and(|held| held.0 == value.as_bytes()).then_some(()))
            }
        }
    };
    eventually("a secret for what was there", holds("early", "value", "1")).await?;
    maps.create(&PostParams::default(), &config_map("late", "one", "2")).await?;
    eventually("a secret for what came later", holds("late", "value", "2")).await?;
    maps.patch("late", &PatchParams::default(), &Patch::Merge(json!({"data": {"key": "3"}}))).await?;
    eventually("the change", holds("late", "value", "3")).await?;
    secrets.delete("late", &DeleteParams::default()).await?;
    eventually("what is owned comes back", holds("late", "value", "3")).await?;
    let account: ServiceAccount =
        serde_json::from_value(json!({"metadata": {"name": "robot", "labels": {"wants": "early"}}}))?;
    accounts.create(&PostParams::default(), &account).await?;
    eventually("what is watched arrives", holds("early", "accounts", "robot")).await?;
    accounts.delete("robot", &DeleteParams::default()).await?;
    eventually("and leaves", holds("early", "accounts", "")).await?;
    maps.delete("late", &DeleteParams::background()).await?;
    eventually("the secret goes with its owner", || async {
        Ok(secrets.get_opt("late").await?.is_none().then_some(()))
    })
    .await?;
    ensure!(context.reconciled.lock().unwrap_or_else(PoisonError::into_inner).len() >= 6);
    drop(stop);
    timeout(PATIENCE, running).await.context("the controller does not end")??;
    Ok(())
}

pub(crate) async fn finalizing(client: &Client) -> Result<()> {
    let ns = namespace(client, "finalizer").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    maps.create(&PostParams::default(), &config_map("a", "one", "1")).await?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let turn = || async {
        let map = Arc::new(maps.get("a").await?);
        let seen = seen.clone();
        let done = finalizer(&maps, "acme.io/cleanup", map, |event| async move {
            let what = match event {
                Finalized::Apply(map) => format!("apply {}", map.name_any()),
                Finalized::Cleanup(map) => format!("clean {}", map.name_any()),
            };
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(what);
            Ok::<_, std::io::Error>(Action::await_change())
        });
        anyhow::Ok(done.await?)
    };
    turn().await?;
    ensure!(maps.get("a").await?.finalizers() == ["acme.io/cleanup"], "the first turn takes hold");
    turn().await?;
    maps.delete("a", &DeleteParams::default()).await?;
    ensure!(maps.get("a").await?.metadata.deletion_timestamp.is_some());
    turn().await?;
    ensure!(maps.get_opt("a").await?.is_none(), "cleaned up and gone");
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ensure!(seen == ["apply a", "clean a"], "{seen:?}");
    Ok(())
}

pub(crate) async fn recording(client: &Client) -> Result<()> {
    let ns = namespace(client, "recorder").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    let map = maps.create(&PostParams::default(), &config_map("a", "one", "1")).await?;
    let reporter = Reporter { controller: "rolewright.io/tests".to_owned(), instance: Some("one".to_owned()) };
    let recorder = Recorder::new(client.clone(), reporter);
    let event = Event {
        type_: EventType::Warning,
        reason: "Tested".to_owned(),
        note: Some("it was tested".to_owned()),
        action: "Testing".to_owned(),
        secondary: None,
    };
    let events: Api<StoredEvent> = Api::namespaced(client.clone(), &ns);
    recorder.publish(&event, &map.object_ref(&())).await?;
    let first = events.list(&ListParams::default()).await?.items;
    ensure!(first.len() == 1 && first[0].series.is_none(), "{first:?}");
    ensure!(first[0].regarding.as_ref().and_then(|on| on.name.as_deref()) == Some("a"));
    ensure!(first[0].reporting_controller.as_deref() == Some("rolewright.io/tests"));
    recorder.publish(&event, &map.object_ref(&())).await?;
    let second = events.list(&ListParams::default()).await?.items;
    ensure!(second.len() == 1 && second[0].series.as_ref().is_some_and(|series| series.count >= 2), "{second:?}");
    let core: Api<k8s_openapi::api::core::v1::Event> = Api::namespaced(client.clone(), &ns);
    let selected = core.list(&ListParams::default().fields("involvedObject.name=a,reason=Tested")).await?.items;
    ensure!(selected.len() == 1 && selected[0].message.as_deref() == Some("it was tested"), "the other group's view");
    Ok(())
}
