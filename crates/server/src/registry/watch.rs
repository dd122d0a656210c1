//! Watching: a position in a log, turned into lines of JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use bytes::Bytes;
use futures::Stream;
use futures::stream;
use tokio::time::Instant;

use super::filter::Filter;
use super::list::{revision, too_new};
use super::render::Render;
use crate::catalog::Served;
use crate::cluster::{Change, ChangeKind, Cluster, Entry, Page, Position};
use crate::http::respond::Answer;
use crate::query::ListOptions;
use crate::status::Failure;

/// How often a watch that asked for bookmarks gets one.
const BOOKMARK_EVERY: Duration = Duration::from_mins(1);
/// How long before its end a watch gets a last bookmark.
const BEFORE_THE_END: Duration = Duration::from_secs(2);
/// How long a watch lasts unless the client says how long. Kubernetes draws between one and two of this.
const SHORTEST: Duration = Duration::from_mins(30);
/// How many changes are sent at once, and how many bytes of objects, so that a client that does not read holds no more.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 256 << 10;

/// One client that follows a collection.
struct Watch {
    server: crate::Server,
    served: Arc<Served>,
    filter: Filter,
    render: Render,
    changed: tokio::sync::watch::Receiver<u64>,
    position: Position,
    /// What is sent before anything else.
    first: Option<Bytes>,
    /// What was there at the start and is not sent yet, and whether its end is announced.
    initial: std::vec::IntoIter<Arc<Entry>>,
    announces: bool,
    bookmarks: Option<Instant>,
    end: Instant,
    showed_columns: bool,
    over: bool,
    _counted: Arc<()>,
}

/// Opens a watch.
pub(crate) fn watch(
    server: &crate::Server,
    served: &Arc<Served>,
    filter: Filter,
    render: Render,
    options: &ListOptions,
) -> Result<Answer, Failure> {
    let cluster = server.cluster();
    let asked = revision(&options.resource_version)?;
    // Subscribed before the state is read: a change in between wakes the watch instead of being missed.
    let changed = cluster.subscribe(served.collection).ok_or_else(Failure::no_such_resource)?;
    let lasts =
        match options.timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0) {
            Some(seconds) => Duration::from_secs(seconds),
            None => SHORTEST + Duration::from_secs(u64::from(crate::uid::random_below(1800))),
        };
    let now = Instant::now();
    let mut watch = Watch {
        server: server.clone(),
        served: served.clone(),
        filter,
        render,
        changed,
        position: asked,
        first: None,
        initial: Vec::new().into_iter(),
        announces: false,
        bookmarks: options
            .allow_watch_bookmarks
            .then(|| now + BOOKMARK_EVERY.min(lasts.saturating_sub(BEFORE_THE_END))),
        end: now + lasts,
        showed_columns: false,
        over: false,
        _counted: server.count_watch(),
    };
    if watch.render.is_metadata_list() {
        // An event is no list; Kubernetes ends the stream.
        watch.over = true;
    } else {
        watch.start(cluster, asked, options);
    }
    let mut answer = Response::new(Body::from_stream(watch.stream()));
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(answer)
}

impl Watch {
    /// What is there comes first, where the client wants it.
    fn start(&mut self, cluster: &Cluster, asked: u64, options: &ListOptions) {
        let state = cluster.read();
        if asked > state.revision() && options.send_initial_events == Some(true) {
            let failure = too_new(asked, state.revision());
            drop(state);
            return self.fail(&failure);
        }
        if options.send_initial_events == Some(true) {
            self.position = state.revision();
            let page = Page { namespace: &self.filter.namespace, after: None };
            let table = state.table(self.served.collection);
            let entries: Vec<Arc<Entry>> =
                table.entries(&page).filter(|entry| self.filter.matches(&self.served, entry)).cloned().collect();
            drop(state);
            // Turned into lines only as they are read: many clients may begin, and few of them read.
            self.initial = entries.into_iter();
            self.announces = options.allow_watch_bookmarks;
        } else if asked == 0 {
            self.position = state.revision();
        }
    }

    fn stream(self) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
        stream::unfold(self, |mut watch| async move { watch.next().await.map(|bytes| (Ok(bytes), watch)) })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(first) = self.first.take() {
                return Some(first);
            }
            if let Some(lines) = self.begin() {
                return Some(lines);
            }
            if self.over {
                return None;
            }
            self.changed.borrow_and_update();
            let lines = self.pull();
            if !lines.is_empty() {
                return Some(lines.into());
            }
            if self.over {
                continue;
            }
            let wake = self.bookmarks.map_or(self.end, |at| at.min(self.end));
            tokio::select! {
                // The sender lives as long as the cluster.
                _ = self.changed.changed() => {}
                () = self.server.ended() => return None,
                () = tokio::time::sleep_until(wake) => {
                    let now = Instant::now();
                    if now >= self.end {
                        return None;
                    }
                    return Some(self.bookmark(now));
                }
            }
        }
    }

    /// The next lines of what was there at the start.
    fn begin(&mut self) -> Option<Bytes> {
        let mut lines = Vec::new();
        while lines.len() < BATCH_BYTES {
            let Some(entry) = self.initial.next() else { break };
            self.line(&mut lines, "ADDED", &entry);
        }
        if self.initial.len() == 0 && std::mem::take(&mut self.announces) {
            self.raw_line(&mut lines, "BOOKMARK", &self.render.bookmark(self.position, true));
        }
        (!lines.is_empty()).then(|| lines.into())
    }

    fn bookmark(&mut self, now: Instant) -> Bytes {
        let last = self.end - BEFORE_THE_END;
        self.bookmarks = if now < last { Some((now + BOOKMARK_EVERY).min(last)) } else { None };
        let mut lines = Vec::new();
        self.raw_line(&mut lines, "BOOKMARK", &self.render.bookmark(self.position, false));
        lines.into()
    }

    /// The next changes as lines; empty if there are none for this client.
    fn pull(&mut self) -> Vec<u8> {
        let server = self.server.clone();
        let mut more = false;
        let changes: Vec<Arc<Change>> = {
            let state = server.cluster().read();
            let log = state.table(self.served.collection).log();
            let Some(changes) = log.after(self.position) else {
                let failure =
                    Failure::expired(format!("too old resource version: {} ({})", self.position, log.floor()));
                drop(state);
                self.fail(&failure);
                return self.first.take().map(|bytes| bytes.to_vec()).unwrap_or_default();
            };
            let shown = state.shown_revision();
            let (mut batch, mut bytes) = (Vec::new(), 0);
            for change in changes.take_while(|change| change.revision <= shown) {
                if batch.len() == BATCH || bytes >= BATCH_BYTES {
                    more = true;
                    break;
                }
                bytes += change.new.body.len();
                batch.push(change.clone());
            }
            if !more {
                self.position = shown;
                // Nothing follows when the definition of the kind is gone.
                let table = state.table(self.served.collection);
                self.over = table.is_closed() && log.after(shown).is_none_or(|mut rest| rest.next().is_none());
            }
            batch
        };
        let mut lines = Vec::new();
        for change in &changes {
            self.position = self.position.max(change.revision);
            self.change(&mut lines, change);
        }
        if more {
            // Nobody will wake us for the rest.
            self.changed.mark_changed();
        }
        lines
    }

    /// A change as this client sees it: what starts to match appears, what no longer matches is gone.
    fn change(&mut self, lines: &mut Vec<u8>, change: &Change) {
        let matches = |entry: &Entry| self.filter.matches(&self.served, entry);
        let before = change.old.as_ref().is_some_and(|old| matches(old));
        let after = change.kind != ChangeKind::Deleted && matches(&change.new);
        match (before, after) {
            (false, true) => self.line(lines, "ADDED", &change.new),
            (true, true) => self.line(lines, "MODIFIED", &change.new),
            (true, false) => match (&change.old, change.kind) {
                // The last state that matched, with the version at which it stopped to.
                (Some(old), ChangeKind::Modified) => {
                    let gone = old.at_revision(change.revision);
                    self.line(lines, "DELETED", &gone);
                }
                _ => self.line(lines, "DELETED", &change.new),
            },
            (false, false) => {}
        }
    }

    fn line(&mut self, lines: &mut Vec<u8>, kind: &str, entry: &Entry) {
        let object = if self.render.is_table() {
            let metadata = serde_json::json!({"resourceVersion": entry.revision.to_string()});
            let with_columns = !std::mem::replace(&mut self.showed_columns, true);
            self.render.table(&[entry], with_columns, &metadata)
        } else {
            self.render.object(entry)
        };
        self.raw_line(lines, kind, &object);
    }

    #[expect(clippy::unused_self, reason = "reads as a part of the watch")]
    fn raw_line(&self, lines: &mut Vec<u8>, kind: &str, object: &[u8]) {
        lines.extend_from_slice(b"{\"type\":\"");
        lines.extend_from_slice(kind.as_bytes());
        lines.extend_from_slice(b"\",\"object\":");
        lines.extend_from_slice(object);
        lines.extend_from_slice(b"}\n");
    }

    /// The watch ends with an error that says why: clients list again.
    fn fail(&mut self, failure: &Failure) {
        let mut lines = Vec::new();
        self.raw_line(&mut lines, "ERROR", failure.to_json().to_string().as_bytes());
        self.first = Some(lines.into());
        self.over = true;
    }
}
