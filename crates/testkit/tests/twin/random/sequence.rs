//! A random sequence: steps that can be left out.

use std::ops::Range;

use crate::exchange::{Exchange, Script};

/// A sequence of requests.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
}

/// A request, after whatever it needs so that both servers know the same.
pub(super) type Step = Vec<Exchange>;

impl Sequence {
    /// Everything up to the exchange with this title.
    pub(super) fn until(mut self, title: &str) -> Self {
        let with = |step: &Step| step.iter().any(|exchange| exchange.title == title);
        let end = self.steps.iter().position(with).map_or(0, |at| at + 1);
        self.steps.truncate(end);
        self
    }

    /// The same without some of its steps, under another name.
    pub(super) fn without(&self, range: Range<usize>, name: &str) -> Self {
        let mut shorter = Self { name: name.to_owned(), ..self.clone() };
        shorter.steps.drain(range);
        shorter
    }

    pub(super) fn script(&self) -> Script {
        let exchanges = self.steps.iter().flatten().cloned().collect();
        Script { name: self.name.clone(), exchanges }
    }
}
