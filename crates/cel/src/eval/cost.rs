//! What evaluation costs.
//!
//! Costs of calls depend on the sizes of their arguments. Which arguments a call is charged for is decided by a stack of observed
//! results, as in cel-go: a call whose argument was not observed, because an earlier one was at fault, is not charged.
use super::Stop;
use crate::ast::Id;
use crate::library::cost::{call_cost, cannot_cost};
use crate::value::Value;

/// A name or a step along a way.
pub(super) const NAME: u64 = 1;
/// Making a list.
pub(super) const LIST: u64 = 10;
/// Making a map.
pub(super) const MAP: u64 = 30;

/// An observed result: none when it was a fault.
type Observed<'a> = Option<Value<'a>>;

pub(super) struct Tracker<'a> {
    cost: u64,
    limit: u64,
    stack: Vec<(Id, Observed<'a>)>,
    /// How often each node is on the stack: looking for what is not there costs nothing.
    counts: Vec<u32>,
}

impl<'a> Tracker<'a> {
    pub(super) fn new(limit: u64) -> Self {
        Self { cost: 0, limit, stack: Vec::new(), counts: Vec::new() }
    }

    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    pub(super) fn charge(&mut self, cost: u64) {
        self.cost = self.cost.saturating_add(cost);
    }

    pub(super) fn refund(&mut self, cost: u64) {
        self.cost = self.cost.saturating_sub(cost);
    }

    /// Observes a result; stops when the limit is passed.
    pub(super) fn push(&mut self, id: Id, value: Option<&Value<'a>>) -> Result<(), Stop> {
        self.stack.push((id, value.cloned()));
        let at = usize::try_from(id).unwrap_or(usize::MAX);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
        if self.cost > self.limit { Err(Stop::TooExpensive) } else { Ok(()) }
    }

    fn find(&self, id: Id) -> Option<usize> {
        let count = usize::try_from(id).ok().and_then(|at| self.counts.get(at)).copied().unwrap_or(0);
        (count > 0).then(|| self.stack.iter().rposition(|(known, _)| *known == id)).flatten()
    }

    fn pop(&mut self) -> Option<Observed<'a>> {
        let (id, value) = self.stack.pop()?;
        if let Some(count) = usize::try_from(id).ok().and_then(|at| self.counts.get_mut(at)) {
            *count -= 1;
        }
        Some(value)
    }

    fn truncate(&mut self, length: usize) {
        while self.stack.len() > length {
            self.pop();
        }
    }

    /// Forgets the last observation of each node, and all after it.
    pub(super) fn drop_each(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            if let Some(at) = self.find(id) {
                self.truncate(at);
            }
        }
    }

    /// The observations of some arguments, taken from the last to the first; none when one is not there.
    pub(super) fn take_args(&mut self, ids: &[Id]) -> Option<Vec<Observed<'a>>> {
        let mut args = Vec::with_capacity(ids.len());
        for id in ids.iter().rev() {
            let at = self.find(*id)?;
            self.truncate(at + 1);
            args.push(self.pop()?);
        }
        args.reverse();
        Some(args)
    }

    pub(super) fn charge_call(
        &mut self,
        function: &str,
        overload: Option<&str>,
        args: &[Observed<'a>],
        result: Option<&Value<'a>>,
    ) -> Result<(), Stop> {
        let overload = overload.unwrap_or_default();
        if let Some(broken) = cannot_cost(overload, args) {
            return Err(Stop::Broken(broken));
        }
        self.charge(call_cost(function, overload, args, result));
        Ok(())
    }
}
