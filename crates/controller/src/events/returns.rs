//! Problems that went away and come back: that is another transition, and is told again.

use std::collections::BTreeMap;

use rolewright_plan::Diagnostic;

/// With more of them all are forgotten: then what comes back is silent for as long as the server keeps events.
const MOST: usize = 4096;

/// How often each problem went away while this process looked.
#[derive(Debug, Default)]
pub(super) struct Returns {
    went: BTreeMap<Diagnostic, u32>,
}

impl Returns {
    /// A problem went away.
    pub(super) fn went(&mut self, diagnostic: &Diagnostic) {
        if self.went.len() >= MOST && !self.went.contains_key(diagnostic) {
            self.went.clear();
        }
        let times = self.went.entry(diagnostic.clone()).or_default();
        *times = times.saturating_add(1);
    }

    /// How often it went away before.
    pub(super) fn of(&self, diagnostic: &Diagnostic) -> u32 {
        self.went.get(diagnostic).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use rolewright_plan::{Code, ObjectRef, rbac};

    use super::*;

    #[test]
    fn each_is_counted_and_memory_is_bounded() {
        let role = |name: String| Diagnostic::new(Code::Paused, ObjectRef::cluster(&rbac::CLUSTER_ROLE, name), "waits");
        let mut returns = Returns::default();
        let (a, b) = (role("a".to_owned()), role("b".to_owned()));
        for _ in 0..2 {
            returns.went(&a);
        }
        assert_eq!((returns.of(&a), returns.of(&b)), (2, 0));
        for number in 0..2 * MOST {
            returns.went(&role(number.to_string()));
            assert!(returns.went.len() <= MOST);
        }
    }
}
