//! Values as small numbers, counted so that what nobody uses any more is forgotten.

use std::borrow::Borrow;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A table of values in use. Equal values share one id; an id is free for another value when its last use is released.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    ids: FxHashMap<T, u32>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    value: T,
    uses: u32,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { ids: FxHashMap::default(), slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The id of `value`, with one more use.
    pub(crate) fn acquire(&mut self, value: &T) -> u32 {
        if let Some(&id) = self.ids.get(value) {
            self.slot_mut(id).uses += 1;
            return id;
        }
        let slot = Slot { value: value.clone(), uses: 1 };
        let id = if let Some(id) = self.free.pop() {
            *self.slot_mut(id) = slot;
            id
        } else {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 distinct values fit in memory")
        };
        self.ids.insert(value.clone(), id);
        id
    }

    /// Takes back one use; true when it was the last.
    pub(crate) fn release(&mut self, id: u32) -> bool {
        let slot = self.slot_mut(id);
        slot.uses -= 1;
        if slot.uses > 0 {
            return false;
        }
        let value = slot.value.clone();
        self.ids.remove(&value);
        self.free.push(id);
        true
    }

    /// The id of a value in use.
    pub(crate) fn find<Q: Eq + Hash + ?Sized>(&self, value: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        self.ids.get(value).copied()
    }

    /// The value behind an id in use.
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.slots.get(id as usize).expect("an id in use has a slot").value
    }

    /// How many values are in use.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    fn slot_mut(&mut self, id: u32) -> &mut Slot<T> {
        self.slots.get_mut(id as usize).expect("an id in use has a slot")
    }
}
