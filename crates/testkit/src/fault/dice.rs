//! Decisions: the same for the same seed, whatever else happens.

use super::plan::{Fault, Plan};

/// A request as far as faults care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    Read,
    /// A list that goes on where another ended.
    Continued,
    Write,
    Watch,
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// What the client sees instead of the answer.
    pub(super) fault: Option<Fault>,
    /// Whether the server sees the request.
    pub(super) done: bool,
}

/// What happens to the `nth` request of a class to a path.
pub(super) fn request(seed: u64, plan: &Plan, class: Class, method: &str, path: &str, nth: u64) -> Verdict {
    let draw = mix(key(seed, &[method, path]) ^ mix(nth ^ ((class as u64) << 56)));
    let conflict = if class == Class::Write { plan.conflict } else { 0 };
    let gone = if class == Class::Continued { plan.gone } else { 0 };
    let fault = pick(
        draw,
        &[
            (conflict, Fault::Conflict),
            (gone, Fault::Gone),
            (plan.busy, Fault::Busy),
            (plan.broken, Fault::Broken),
            (plan.late, Fault::Late),
            (plan.dropped, Fault::Dropped),
        ],
    );
    // Reads without an answer are the same to everybody; writes are not.
    let may_be_done = class == Class::Write && matches!(fault, Some(Fault::Broken | Fault::Late | Fault::Dropped));
    Verdict { fault, done: fault.is_none() || (may_be_done && mix(draw) & 1 == 1) }
}

/// What happens to an event of a watch.
pub(super) fn event(stream: u64, plan: &Plan, nth: u64) -> Option<Fault> {
    let rates = [
        (plan.cut, Fault::Cut),
        (plan.gone, Fault::Gone),
        (plan.doubled, Fault::Doubled),
        (plan.swapped, Fault::Swapped),
    ];
    pick(mix(stream ^ mix(nth)), &rates)
}

/// The seed of a watch: the `nth` on a path.
pub(super) fn stream(seed: u64, path: &str, nth: u64) -> u64 {
    mix(key(seed, &["stream", path]) ^ mix(nth))
}

fn pick(draw: u64, rates: &[(u16, Fault)]) -> Option<Fault> {
    let mut left = draw % 1000;
    for (rate, fault) in rates {
        match left.checked_sub(u64::from(*rate)) {
            None => return Some(*fault),
            Some(rest) => left = rest,
        }
    }
    None
}

/// FNV-1a over parts whose borders count.
fn key(seed: u64, parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    mix(hash ^ mix(seed))
}

/// The finish of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
