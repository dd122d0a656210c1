//! Ways through a schema.
//!
//! cel-go keeps them in slices that grow in place when they can: two ways from one place may share their last segment, and the
//! later one wins. Estimates are on the wire and depend on it, so ways here share as slices do.
use std::cell::RefCell;
use std::rc::Rc;

use smol_str::SmolStr;

#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    shared: Rc<RefCell<Vec<SmolStr>>>,
    length: usize,
    capacity: usize,
}

impl Path {
    pub(super) fn of(name: SmolStr) -> Self {
        Self { shared: Rc::new(RefCell::new(vec![name])), length: 1, capacity: 1 }
    }

    pub(super) fn segments(&self) -> Vec<SmolStr> {
        self.shared.borrow().iter().take(self.length).cloned().collect()
    }

    pub(super) fn starts_with(&self, name: &str) -> bool {
        self.length > 0 && self.shared.borrow().first().is_some_and(|first| first == name)
    }

    pub(super) fn append(&self, segment: SmolStr) -> Self {
        if self.length < self.capacity {
            let mut shared = self.shared.borrow_mut();
            match shared.get_mut(self.length) {
                Some(place) => *place = segment,
                None => shared.push(segment),
            }
            return Self { shared: Rc::clone(&self.shared), length: self.length + 1, capacity: self.capacity };
        }
        let mut segments = self.segments();
        segments.push(segment);
        let capacity = (self.capacity * 2).max(1);
        Self { shared: Rc::new(RefCell::new(segments)), length: self.length + 1, capacity }
    }
}
