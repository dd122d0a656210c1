//! What may go wrong, and how often.

use std::time::Duration;

/// How often what goes wrong. Rates are per mille: of requests, or of events in watches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Writes that are refused with 409.
    pub conflict: u16,
    /// Lists that go on and events in watches that are answered with 410.
    pub gone: u16,
    /// Requests that are refused with 429 and `Retry-After`.
    pub busy: u16,
    /// Requests that are answered with 500; a write may have been done.
    pub broken: u16,
    /// Requests without an answer for [`stall`](Self::stall), and then none at all; a write may have been done.
    pub late: u16,
    /// Requests whose connection drops; a write may have been done.
    pub dropped: u16,
    /// Events before which a watch ends.
    pub cut: u16,
    /// Events that come twice.
    pub doubled: u16,
    /// Events that come after the next one, if that is about another object.
    pub swapped: u16,
    /// How long a late answer takes.
    pub stall: Duration,
    /// How many seconds `Retry-After` asks for.
    pub retry_after: u32,
    /// The write at which the client dies.
    pub kill: Option<Kill>,
    /// Requests whose path contains one of these are left alone and not counted.
    pub spares: Vec<&'static str>,
}

/// When the client dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// At which write that would reach the server; the first is 1.
    pub at_write: u64,
    /// Whether that write is still done.
    pub done: bool,
}

impl Plan {
    /// Every fault there is, often enough to be met in a short run, rarely enough to get ahead.
    pub fn rough() -> Self {
        Self {
            conflict: 60,
            gone: 20,
            busy: 30,
            broken: 40,
            late: 15,
            dropped: 40,
            cut: 30,
            doubled: 50,
            swapped: 50,
            stall: Duration::from_secs(5),
            retry_after: 1,
            kill: None,
            spares: Vec::new(),
        }
    }

    /// The same, with a client that dies at a write.
    pub fn killing(self, at_write: u64, done: bool) -> Self {
        Self { kill: Some(Kill { at_write, done }), ..self }
    }

    /// The same, with requests left alone whose path contains this.
    pub fn sparing(mut self, path: &'static str) -> Self {
        self.spares.push(path);
        self
    }
}

/// What can be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// 409 to a write.
    Conflict,
    /// 410 to a list that goes on, or in a watch.
    Gone,
    /// 429.
    Busy,
    /// 500.
    Broken,
    /// No answer for long.
    Late,
    /// A connection that drops.
    Dropped,
    /// A watch that ends.
    Cut,
    /// An event that comes twice.
    Doubled,
    /// An event that comes after the next one.
    Swapped,
    /// The death of the client.
    Killed,
}
