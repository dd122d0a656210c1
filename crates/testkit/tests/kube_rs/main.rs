//! kube-rs as a client: the same steps on the real server, on ours over TLS, and on ours without a socket.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "where which steps were taken")]

mod controlling;
mod custom;
mod finding;
mod verbs;
mod watching;

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use rolewright_server::{Listening, Server, Settings, admin};
use rolewright_testkit::apiserver::ApiServer;
use tokio::time::{sleep, timeout};

/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn on_the_real_server() -> Result<()> {
    let Some(server) = ApiServer::start("the kube-rs suite")? else { return Ok(()) };
    ensure!(server.controllers, "the kube-rs suite needs Kubernetes' controllers, which come with the testbed");
    Box::pin(every_step("real", &client(&server.ready.kubeconfig).await?)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn on_our_server_over_tls() -> Result<()> {
    let listening = Listening::start(([127, 0, 0, 1], 0).into(), Settings::default()).await?;
    let file = std::env::temp_dir().join(format!("rolewright-kube-rs-{}.kubeconfig", listening.address.port()));
    listening.write_kubeconfig(&file)?;
    let client = client(&file).await;
    std::fs::remove_file(&file)?;
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    Box::pin(every_step("TLS", &client?)).await?;
    drop(end);
    timeout(PATIENCE, running).await.context("the server does not end")??;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn on_our_server_without_a_socket() -> Result<()> {
    let server = Server::start(Settings::default())?;
    Box::pin(every_step("in process", &Client::new(server.router_as(admin()), "default"))).await?;
    server.end();
    Ok(())
}

async fn client(kubeconfig: &Path) -> Result<Client> {
    let config = Kubeconfig::read_from(kubeconfig)?;
    let mut config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

async fn every_step(place: &str, client: &Client) -> Result<()> {
    step(place, "objects", Box::pin(verbs::objects(client))).await?;
    step(place, "pages", Box::pin(verbs::pages(client))).await?;
    step(place, "patches", Box::pin(verbs::patches(client))).await?;
    step(place, "applying", Box::pin(verbs::applying(client))).await?;
    step(place, "subresources", Box::pin(verbs::subresources(client))).await?;
    step(place, "refusals", Box::pin(verbs::refusals(client))).await?;
    step(place, "discovery", Box::pin(finding::discovery(client))).await?;
    step(place, "dynamic objects", Box::pin(finding::dynamic_objects(client))).await?;
    step(place, "watches", Box::pin(watching::plain_watches(client))).await?;
    step(place, "watchers", Box::pin(watching::watchers(client))).await?;
    step(place, "reflector", Box::pin(watching::reflector(client))).await?;
    step(place, "conditions", Box::pin(watching::conditions(client))).await?;
    step(place, "controller", Box::pin(controlling::controller(client))).await?;
    step(place, "finalizer", Box::pin(controlling::finalizing(client))).await?;
    step(place, "recorder", Box::pin(controlling::recording(client))).await?;
    step(place, "custom resources", Box::pin(custom::custom_resources(client))).await
}

async fn step(place: &str, name: &str, steps: impl Future<Output = Result<()>>) -> Result<()> {
    let done = timeout(PATIENCE * 2, steps).await.with_context(|| format!("{place}: {name} takes too long"))?;
    println!("kube-rs, {place}: {name}");
    done.with_context(|| format!("{place}: {name}"))
}

/// A namespace for one step.
async fn namespace(client: &Client, name: &str) -> Result<String> {
    let name = format!("kube-rs-{name}");
    let object = Namespace { metadata: named(&name), ..Namespace::default() };
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &object).await?;
    Ok(name)
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn config_map(name: &str, label: &str, value: &str) -> ConfigMap {
    let metadata = ObjectMeta { labels: Some([("part".to_owned(), label.to_owned())].into()), ..named(name) };
    ConfigMap { metadata, data: Some([("key".to_owned(), value.to_owned())].into()), ..ConfigMap::default() }
}

/// Looks again and again until it is so.
async fn eventually<T, F: Future<Output = Result<Option<T>>>>(what: &str, look: impl Fn() -> F) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        ensure!(start.elapsed() < PATIENCE, "{what} did not happen");
        sleep(Duration::from_millis(20)).await;
    }
}
