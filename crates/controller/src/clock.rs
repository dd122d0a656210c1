//! The time, as the engine wants it.

use std::time::{SystemTime, UNIX_EPOCH};

use rolewright_plan::Time;
use tokio::time::Instant;

/// Wall-clock time that never goes back: read once, then counted on. Tests that pause tokio's time pause this as well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: Instant,
    at: Time,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { began: Instant::now(), at: Time::default() + since_epoch }
    }

    pub(crate) fn now(&self) -> Time {
        self.at + self.began.elapsed()
    }

    /// When a time comes, on tokio's clock. At least a millisecond ahead, so that it has come when we wake.
    pub(crate) fn instant(&self, time: Time) -> Instant {
        Instant::now() + time.since(self.now()) + std::time::Duration::from_millis(1)
    }
}
