//! Rows of the comparison tables. `make bench` gathers them from all benches and prints them.

pub mod gathering;

use std::fs::OpenOptions;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

/// One line of a comparison: ours, the peer's figure from the same run, and what was promised.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    name: String,
    unit: &'static str,
    ours: f64,
    peer: Option<f64>,
    ratio: Option<f64>,
    budget: Option<String>,
    /// Nothing where the peer is missing and so nothing can be judged.
    ok: Option<bool>,
}

/// What a row promises.
#[derive(Clone, Copy, Debug)]
pub enum Budget {
    /// The peer takes at least this many times as much.
    TimesBetter(f64),
    /// Ours is at most this.
    AtMost(f64),
    /// Only told, nothing promised.
    Told,
}

impl Row {
    /// A row with its verdict. Without the peer a promise against it is not judged.
    pub fn new(name: impl Into<String>, unit: &'static str, ours: f64, peer: Option<f64>, budget: Budget) -> Self {
        let ratio = peer.map(|peer| peer / ours);
        let (text, ok) = match budget {
            Budget::TimesBetter(times) => (Some(format!(">= {times}x")), ratio.map(|ratio| ratio >= times)),
            Budget::AtMost(most) => (Some(format!("<= {most} {unit}")), Some(ours <= most)),
            Budget::Told => (None, Some(true)),
        };
        Self { name: name.into(), unit, ours, peer, ratio, budget: text, ok }
    }

    /// Hands the row to `make bench`, or prints it when run alone.
    #[expect(clippy::print_stdout, reason = "a bench run by hand shows its rows")]
    pub fn report(&self) -> Result<()> {
        let line = serde_json::to_string(self)?;
        match std::env::var_os("ROLEWRIGHT_BENCH_OUT") {
            Some(path) => writeln!(OpenOptions::new().append(true).create(true).open(path)?, "{line}")?,
            None => println!("{line}"),
        }
        Ok(())
    }
}

/// A row that is still to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    name: &'static str,
    unit: &'static str,
    budget: Budget,
}

impl Line {
    /// Its name, its unit and what it promises.
    pub const fn new(name: &'static str, unit: &'static str, budget: Budget) -> Self {
        Self { name, unit, budget }
    }

    /// Whether `make bench ONLY=..` wants it.
    pub fn is_wanted(&self) -> bool {
        wanted(self.name)
    }

    /// Reports ours and the peer's figure, if it is wanted.
    pub fn report(&self, (ours, peer): (f64, Option<f64>)) -> Result<()> {
        if self.is_wanted() { Row::new(self.name, self.unit, ours, peer, self.budget).report() } else { Ok(()) }
    }
}

/// Whether any of these is wanted.
pub fn any(lines: &[&Line]) -> bool {
    lines.iter().any(|line| line.is_wanted())
}

/// Whether `make bench ONLY=..` wants a row of this name.
pub fn wanted(name: &str) -> bool {
    std::env::var("ROLEWRIGHT_BENCH_ONLY").map_or(true, |only| name.contains(&only))
}

/// Nanoseconds per call: the best of several rounds, so that a noisy neighbour does not count.
pub fn nanoseconds_per_call<T>(mut call: impl FnMut() -> T) -> f64 {
    let mut calls = 1_u32;
    loop {
        let took = timed(calls, &mut call);
        if took > Duration::from_millis(20) {
            break;
        }
        calls = calls.saturating_mul(4);
    }
    let rounds = (0..7).map(|_| timed(calls, &mut call).as_secs_f64() * 1e9 / f64::from(calls));
    rounds.fold(f64::INFINITY, f64::min)
}

fn timed<T>(calls: u32, call: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    start.elapsed()
}
