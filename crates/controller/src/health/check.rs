//! Two checks that most tasks can do with.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A check that somebody lets pass or fail. Clones are the same.
#[derive(Clone, Debug)]
pub struct Flag(Arc<Mutex<Option<String>>>);

impl Flag {
    /// A check that fails for this reason until it is let pass.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(Arc::new(Mutex::new(Some(reason.into()))))
    }

    /// Lets it pass.
    pub fn pass(&self) {
        self.set(None);
    }

    /// Lets it fail.
    pub fn fail(&self, reason: impl Into<String>) {
        self.set(Some(reason.into()));
    }

    fn set(&self, reason: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// The check.
    pub fn check(&self) -> Result<(), String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }
}

/// A check that passes while somebody gives signs of life. Clones are the same.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    last: Arc<Mutex<Instant>>,
    patience: Duration,
}

impl Heartbeat {
    /// A check that fails when there was no sign for so long.
    pub fn new(patience: Duration) -> Self {
        Self { last: Arc::new(Mutex::new(Instant::now())), patience }
    }

    /// A sign of life.
    pub fn beat(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// The check.
    pub fn check(&self) -> Result<(), String> {
        let silence = self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        if silence < self.patience { Ok(()) } else { Err(format!("no sign of life for {} s", silence.as_secs())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn hearts_must_beat() {
        let heart = Heartbeat::new(Duration::from_secs(30));
        for _ in 0..3 {
            tokio::time::advance(Duration::from_secs(29)).await;
            assert_eq!(heart.check(), Ok(()));
            heart.clone().beat();
        }
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(heart.check(), Err("no sign of life for 30 s".to_owned()));
    }
}
