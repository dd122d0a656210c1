//! Room on the stack for deep expressions.
//!
//! Every pass over an expression recurses as deep as the expression nests, and the limits of the grammar allow more than a small
//! stack holds. Such expressions are rare: they get a thread of their own.

use std::thread;

/// Room for the deepest expression that the limits allow, in a build without optimisations.
const ROOM: usize = 256 << 20;
/// Expressions with deeper brackets, or longer ones, may be deep.
const FLAT_BRACKETS: usize = 24;
const SHORT: usize = 600;
/// Evaluations with more steps inside each other are deep.
pub(crate) const FLAT_STEPS: usize = 40;

/// Whether an expression of this text may nest deep.
pub(crate) fn may_be_deep(text: &str) -> bool {
    if text.len() > SHORT {
        return true;
    }
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest > FLAT_BRACKETS
}

/// Does some work, with more room if it is deep.
pub(crate) fn with_room<R: Send>(deep: bool, work: impl FnOnce() -> R + Send) -> R {
    if !deep {
        return work();
    }
    let mut waiting = Some(work);
    let done = thread::scope(|scope| {
        let waiting = &mut waiting;
        let started =
            thread::Builder::new().stack_size(ROOM).spawn_scoped(scope, move || waiting.take().map(|work| work()));
        // WHY: without a thread the work is still waiting, and the stack at hand has to do.
        started.ok().and_then(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (done, waiting) {
        (Some(done), _) => done,
        (None, waiting) => waiting.map(|work| work()).expect("work that did not start is waiting"),
    }
}
