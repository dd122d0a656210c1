//! Clients that mean no good: too much, too deep, too slow, too many, or nonsense. The server answers with a Status or hangs
//! up, serves everybody else meanwhile, keeps its memory, and never panics.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "measured memory, and a word on what was skipped")]

mod bodies;
mod definitions;
mod http2;
mod raw;
mod slow;
mod watches;

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Mutex, MutexGuard};

/// Panics of this process, those that the server answers with 500 among them.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// One at a time: memory is measured for the whole process.
static TURN: Mutex<()> = Mutex::const_new(());

/// Waits for its turn, and counts panics from now on.
async fn turn() -> MutexGuard<'static, ()> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            usual(panic);
        }));
    });
    TURN.lock().await
}

fn no_panics() {
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "the server panicked, or another test failed");
}
