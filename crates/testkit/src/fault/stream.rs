//! Events on their way: one line of JSON each.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame};
use serde_json::Value;
use tokio::time::{Sleep, sleep};

use super::answer;
use super::plan::Fault;
use super::service::BoxError;
use super::state::State;

/// An event waits no longer for one that it could come after.
const PATIENCE: Duration = Duration::from_millis(50);

/// The body of a watch with faults in it.
pub(super) struct Stream<B> {
    inner: Pin<Box<B>>,
    state: Arc<State>,
    seed: u64,
    events: u64,
    /// The beginning of a line.
    rest: Vec<u8>,
    /// An event that waits for the next.
    held: Option<Held>,
    /// What goes on to the client. Lines that must not be torn apart are one.
    out: VecDeque<Vec<u8>>,
    ended: bool,
}

struct Held {
    line: Vec<u8>,
    object: String,
    until: Pin<Box<Sleep>>,
}

impl<B> Stream<B> {
    pub(super) fn new(inner: B, state: Arc<State>, seed: u64) -> Self {
        let inner = Box::pin(inner);
        Self { inner, state, seed, events: 0, rest: Vec::new(), held: None, out: VecDeque::new(), ended: false }
    }

    fn take(&mut self, data: &[u8]) {
        self.rest.extend_from_slice(data);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let after = self.rest.split_off(end + 1);
            let line = std::mem::replace(&mut self.rest, after);
            if !self.ended {
                self.line(line);
            }
        }
    }

    fn line(&mut self, mut line: Vec<u8>) {
        let Some(object) = object(&line) else {
            // A bookmark vouches for all before it.
            self.release();
            self.out.push_back(line);
            return;
        };
        let fault = self.state.event(self.seed, self.events);
        self.events += 1;
        if let Some(held) = self.held.take() {
            // Together: a client that goes on from the last of them misses neither.
            if held.object == object {
                self.out.push_back([held.line, line].concat());
            } else {
                self.state.count(Fault::Swapped);
                self.out.push_back([line, held.line].concat());
            }
            return;
        }
        match fault {
            Some(fault @ (Fault::Cut | Fault::Gone)) => {
                self.state.count(fault);
                self.ended = true;
                if fault == Fault::Gone {
                    self.out.push_back(answer::expired());
                }
            }
            Some(Fault::Doubled) => {
                self.state.count(Fault::Doubled);
                line.extend_from_within(..);
                self.out.push_back(line);
            }
            Some(Fault::Swapped) => self.held = Some(Held { line, object, until: Box::pin(sleep(PATIENCE)) }),
            _ => self.out.push_back(line),
        }
    }

    fn release(&mut self) {
        self.out.extend(self.held.take().map(|held| held.line));
    }
}

/// Which object an event is about; nothing for what is no such event.
fn object(line: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(line).ok()?;
    let kind = event.get("type")?.as_str()?;
    let metadata = event.get("object")?.get("metadata")?;
    let text = |field: &str| metadata.get(field).and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "ADDED" | "MODIFIED" | "DELETED").then(|| format!("{}/{}", text("namespace"), text("name")))
}

impl<B> Body for Stream<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        loop {
            if this.state.is_killed() {
                return Poll::Pending;
            }
            if let Some(lines) = this.out.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(lines.into()))));
            }
            if this.ended {
                return Poll::Ready(None);
            }
            match this.inner.as_mut().poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        this.take(&data);
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                Poll::Ready(None) => {
                    this.release();
                    let rest = std::mem::take(&mut this.rest);
                    this.out.extend((!rest.is_empty()).then_some(rest));
                    this.ended = true;
                }
                Poll::Pending => {
                    let Some(held) = &mut this.held else { return Poll::Pending };
                    ready!(held.until.as_mut().poll(context));
                    this.release();
                }
            }
        }
    }
}
