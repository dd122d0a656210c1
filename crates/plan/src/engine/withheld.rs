//! What a module would write, were it not for somebody else who does its job.

use std::collections::BTreeMap;

use crate::object::ObjectRef;

/// Keys whose plans were made and not written.
#[derive(Debug, Default)]
pub(super) struct Withheld {
    keys: BTreeMap<ObjectRef, usize>,
    /// INVARIANT: the sum over `keys`, which is asked for after every step.
    writes: usize,
}

impl Withheld {
    /// The last plan of a key has so many writes.
    pub(super) fn set(&mut self, key: &ObjectRef, writes: usize) {
        let before = if writes == 0 { self.keys.remove(key) } else { self.keys.insert(key.clone(), writes) };
        self.writes = self.writes + writes - before.unwrap_or(0);
    }

    /// How many writes there are.
    pub(super) fn writes(&self) -> usize {
        self.writes
    }

    /// All keys, which are to be looked at again.
    pub(super) fn release(&mut self) -> impl Iterator<Item = ObjectRef> + use<> {
        self.writes = 0;
        std::mem::take(&mut self.keys).into_keys()
    }
}
