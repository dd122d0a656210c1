//! One watch: everything that happens to the objects of one kind, as events for the engine.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use rolewright_plan::snapshot::Shelf;
use rolewright_plan::{Event, Kind, Live, Meta};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::connect::root_cause;
use crate::metrics::Metrics;
use crate::raw::{Raw, resource};
use crate::served::Versions;

/// How many objects are read at once. Their text is held several times over until they are.
const PAGE: u32 = 100;

/// What every watch needs.
#[derive(Clone)]
pub(crate) struct Watching {
    pub(crate) client: Client,
    pub(crate) versions: Versions,
    pub(crate) events: mpsc::Sender<Told>,
    /// How often everything is listed anew, in case the server forgot to tell something.
    pub(crate) resync: Duration,
    /// How often to ask for a kind that is not served.
    pub(crate) patience: Duration,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) troubles: Troubles,
    /// The command that prints the rights that we need.
    pub(crate) rights: Arc<str>,
}

/// What a watch tells.
#[derive(Debug)]
pub(crate) enum Told {
    /// News for the engine.
    News(Event),
    /// An object as it came over the wire. It is read where it can be seen whether it is news: our own writes come back
    /// this way.
    Seen(&'static Kind, Raw),
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
                Ok(Some(version)) => {
                    self.troubles.over(kind);
                    return Ok(version);
                }
                Ok(None) if told => {}
                Ok(None) => {
                    tracing::info!(kind = kind.kind, group = kind.group, "waiting until the kind is served");
                    self.tell(Event::Unserved(kind)).await?;
                    told = true;
                }
                Err(error) => self.complain(kind, &error),
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
            // What is listed is shared as it is read, for otherwise the list would be the most that is ever held.
            let mut shelf = Shelf::default();
            let mut troubled = false;
            loop {
                let event = tokio::select! {
                    event = news.next() => event,
                    () = tokio::time::sleep_until(until) => break,
                    () = self.events.closed() => return Err(Deaf),
                };
                // Who lists has not been told anything yet.
                if troubled && matches!(event, Some(Ok(ref news)) if !matches!(news, watcher::Event::Init)) {
                    troubled = false;
                    self.troubles.over(kind);
                }
                match event {
                    Some(Ok(watcher::Event::Init)) => listed.clear(),
                    Some(Ok(watcher::Event::InitApply(raw))) => listed.extend(read(kind, &raw).map(|mut live| {
                        shelf.share(kind, &mut live);
                        live
                    })),
                    Some(Ok(watcher::Event::InitDone)) => {
                        shelf = Shelf::default();
                        self.tell(Event::All(kind, std::mem::take(&mut listed))).await?;
                    }
                    Some(Ok(watcher::Event::Apply(raw))) => {
                        self.events.send(Told::Seen(kind, raw)).await.map_err(|_| Deaf)?;
                    }
                    Some(Ok(watcher::Event::Delete(raw))) => match Meta::parse(raw.text()) {
                        Ok(meta) => self.tell(Event::Gone(kind, meta)).await?,
                        Err(error) => tracing::error!(kind = kind.kind, %error, "an object went that has no name"),
                    },
                    Some(Err(error)) if is_unserved(&error) => return Ok(()),
                    Some(Err(error)) => {
                        troubled = true;
                        self.complain(kind, &error);
                        self.metrics.watch_restarted(kind);
                    }
                    None => break,
                }
            }
        }
    }

    /// Says once what is wrong; it is tried again all the same.
    fn complain(&self, kind: &'static Kind, error: &(dyn Error + 'static)) {
        let why = root_cause(error);
        if !self.troubles.begin(kind, &why) {
            return;
        }
        if is_forbidden(error) {
            let hint = format!("`{} | kubectl apply -f -` gives the manager's service account the right", self.rights);
            tracing::error!(kind = kind.kind, hint, "cannot watch {}, and tries again: {why}", kind.plural);
        } else {
            tracing::warn!(kind = kind.kind, "cannot watch {}, and tries again: {why}", kind.plural);
        }
    }

    /// Everything that happens, from now on for ever. Of a kind that is bare only metadata comes over the wire.
    fn news(&self, kind: &Kind, version: &str) -> BoxStream<'static, watcher::Result<watcher::Event<Raw>>> {
        let (client, resource, how) =
            (self.client.clone(), resource(kind, version), watcher::Config::default().page_size(PAGE));
        if kind.bare {
            let api: Api<PartialObjectMeta> = Api::all_with(client, &resource);
            watcher(api, how).default_backoff().map_ok(|event| whole(event, Raw::from)).boxed()
        } else {
            let api: Api<Raw> = Api::all_with(client, &resource);
            watcher(api, how).default_backoff().boxed()
        }
    }

    async fn tell(&self, event: Event) -> Result<(), Deaf> {
        self.events.send(Told::News(event)).await.map_err(|_| Deaf)
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
pub(crate) fn read(kind: &'static Kind, raw: &Raw) -> Option<Live> {
    match Live::parse(kind, raw.text()) {
        Ok(live) => Some(live),
        Err(error) => {
            tracing::error!(kind = kind.kind, %error, "an object cannot be told from others");
            None
        }
    }
}

/// What keeps watches from seeing their kinds. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Troubles(Arc<Mutex<BTreeMap<&'static Kind, String>>>);

impl Troubles {
    /// Takes note; says whether that is news.
    fn begin(&self, kind: &'static Kind, why: &str) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(kind, why.to_owned()).is_none_or(|before| before != why)
    }

    fn over(&self, kind: &'static Kind) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(kind);
    }

    /// All of them, for who asks.
    pub(crate) fn told(&self) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(kind, why)| format!("{}: {why}", kind.plural)).collect()
    }
}

fn is_forbidden(error: &(dyn Error + 'static)) -> bool {
    let mut errors = std::iter::successors(Some(error), |&error| error.source());
    errors.any(|error| matches!(error.downcast_ref(), Some(kube::Error::Api(status)) if status.is_forbidden()))
}

/// Whether the server no longer knows the kind.
fn is_unserved(error: &watcher::Error) -> bool {
    let (watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error)) = error else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
