//! One watch: everything that happens to the objects of one kind, as events for the engine.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use rolewright_plan::{Event, Kind, Live, Meta};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::raw::{Raw, resource};
use crate::served::Versions;

/// What every watch needs.
#[derive(Clone)]
pub(crate) struct Watching {
    pub(crate) client: Client,
    pub(crate) versions: Versions,
    pub(crate) events: mpsc::Sender<Event>,
    /// How often everything is listed anew, in case the server forgot to tell something.
    pub(crate) resync: Duration,
    /// How often to ask for a kind that is not served.
    pub(crate) patience: Duration,
    pub(crate) metrics: Arc<Metrics>,
}

/// Nobody listens any more.
#[derive(Debug)]
pub(crate) struct Deaf;

impl Watching {
    /// Watches a kind for ever: waits until it is served, follows it, waits again when it is gone. Ends when nobody
    /// listens.
    pub(crate) async fn watch(self, kind: &'static Kind) {
        loop {
            let Ok(version) = self.wait_until_served(kind).await else { return };
            if self.follow(kind, version).await.is_err() {
                return;
            }
        }
    }

    async fn wait_until_served(&self, kind: &'static Kind) -> Result<&'static str, Deaf> {
        let mut told = false;
        loop {
            match self.versions.find(&self.client, kind).await {
                Ok(Some(version)) => return Ok(version),
                Ok(None) if told => {}
                Ok(None) => {
                    tracing::info!(kind = kind.kind, group = kind.group, "waiting until the kind is served");
                    self.tell(Event::Unserved(kind)).await?;
                    told = true;
                }
                Err(error) => tracing::warn!(kind = kind.kind, %error, "cannot ask which kinds are served"),
            }
            tokio::select! {
                () = tokio::time::sleep(self.patience) => {}
                () = self.events.closed() => return Err(Deaf),
            }
        }
    }

    /// Follows a kind until it is no longer served.
    async fn follow(&self, kind: &'static Kind, version: &str) -> Result<(), Deaf> {
        loop {
            let mut news = self.news(kind, version);
            let until = Instant::now() + self.resync;
            let mut listed = Vec::new();
            loop {
                let event = tokio::select! {
                    event = news.next() => event,
                    () = tokio::time::sleep_until(until) => break,
                    () = self.events.closed() => return Err(Deaf),
                };
                match event {
                    Some(Ok(watcher::Event::Init)) => listed.clear(),
                    Some(Ok(watcher::Event::InitApply(raw))) => listed.extend(read(kind, &raw)),
                    Some(Ok(watcher::Event::InitDone)) => {
                        self.tell(Event::All(kind, std::mem::take(&mut listed))).await?;
                    }
                    Some(Ok(watcher::Event::Apply(raw))) => {
                        if let Some(live) = read(kind, &raw) {
                            self.tell(Event::Set(kind, live)).await?;
                        }
                    }
                    Some(Ok(watcher::Event::Delete(raw))) => match Meta::read(&raw.object) {
                        Ok(meta) => self.tell(Event::Gone(kind, meta)).await?,
                        Err(error) => tracing::error!(kind = kind.kind, %error, "an object went that has no name"),
                    },
                    Some(Err(error)) if is_unserved(&error) => return Ok(()),
                    Some(Err(error)) => {
                        tracing::warn!(kind = kind.kind, %error, "a watch failed and is tried again");
                        self.metrics.watch_restarted(kind);
                    }
                    None => break,
                }
            }
        }
    }

    /// Everything that happens, from now on for ever. Of a kind that is bare only metadata comes over the wire.
    fn news(&self, kind: &Kind, version: &str) -> BoxStream<'static, watcher::Result<watcher::Event<Raw>>> {
        let (client, resource, how) = (self.client.clone(), resource(kind, version), watcher::Config::default());
        if kind.bare {
            let api: Api<PartialObjectMeta> = Api::all_with(client, &resource);
            watcher(api, how).default_backoff().map_ok(|event| whole(event, Raw::from)).boxed()
        } else {
            let api: Api<Raw> = Api::all_with(client, &resource);
            watcher(api, how).default_backoff().boxed()
        }
    }

    async fn tell(&self, event: Event) -> Result<(), Deaf> {
        self.events.send(event).await.map_err(|_| Deaf)
    }
}

fn whole<K, R>(event: watcher::Event<K>, read: impl Fn(K) -> R) -> watcher::Event<R> {
    match event {
        watcher::Event::Apply(object) => watcher::Event::Apply(read(object)),
        watcher::Event::Delete(object) => watcher::Event::Delete(read(object)),
        watcher::Event::Init => watcher::Event::Init,
        watcher::Event::InitApply(object) => watcher::Event::InitApply(read(object)),
        watcher::Event::InitDone => watcher::Event::InitDone,
    }
}

/// An object of the wire as a value. Its content may be beyond understanding, and is told so; without a name there is
/// nothing to tell.
fn read(kind: &'static Kind, raw: &Raw) -> Option<Live> {
    match Live::read(kind, &raw.object) {
        Ok(live) => Some(live),
        Err(error) => {
            tracing::error!(kind = kind.kind, %error, "an object cannot be told from others");
            None
        }
    }
}

/// Whether the server no longer knows the kind.
fn is_unserved(error: &watcher::Error) -> bool {
    let (watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error)) = error else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
