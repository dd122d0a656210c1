//! Somebody who asks all the time whether access is still there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use tokio::task::JoinHandle;

use crate::matrix::Question;
use crate::place::Place;

/// Asks questions whose answer is yes, until it is ended.
pub(crate) struct Guard {
    end: Arc<AtomicBool>,
    asking: JoinHandle<Result<(u64, Vec<String>)>>,
}

impl Guard {
    pub(crate) fn start(place: &Place, questions: Vec<Question>) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let (place, ended) = (place.clone(), end.clone());
        let asking = tokio::spawn(async move {
            let (mut rounds, mut lost) = (0, Vec::new());
            loop {
                // The last round begins after the end was asked for.
                let last = ended.load(Ordering::SeqCst);
                for question in &questions {
                    if !question.answer(&place).await? {
                        lost.push(format!("{} may no longer {}", question.subject, question.text));
                    }
                }
                rounds += 1;
                if last {
                    return Ok((rounds, lost));
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        });
        Self { end, asking }
    }

    /// Ends; an error if any answer was no.
    pub(crate) async fn end(self) -> Result<()> {
        self.end.store(true, Ordering::SeqCst);
        let (rounds, mut lost) = self.asking.await??;
        let count = lost.len();
        lost.sort_unstable();
        lost.dedup();
        ensure!(lost.is_empty(), "access was lost {count} times in {rounds} rounds:\n  {}", lost.join("\n  "));
        Ok(())
    }
}
