//! Whoever looks over the manager's shoulder.

use rolewright_plan::Engine;
use rolewright_plan::engine::{Job, News, Outcome};

/// Sees what the manager does while it does it. It is called between two steps of the manager, and so never waits for
/// anything.
pub trait Observer: Send {
    /// A plan is about to be written. The engine knows what there is before it.
    fn planned(&mut self, engine: &Engine, job: &Job) {
        let _ = (engine, job);
    }

    /// A plan was written, with what came of it.
    fn written(&mut self, job: &Job, outcomes: &[Outcome]) {
        let _ = (job, outcomes);
    }

    /// Something may have changed.
    fn heard(&mut self, engine: &Engine, news: &[News]) {
        let _ = (engine, news);
    }
}

/// Nobody looks.
impl Observer for () {}
