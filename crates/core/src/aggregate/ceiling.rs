//! The most that an aggregated role may gather.

use crate::{Rule, RuleSet};

/// Rules beyond these stay out, and are not handed on either.
#[derive(Clone, Debug)]
pub(super) struct Ceiling {
    /// As given, to see whether it changes.
    written: Vec<Rule>,
    held: RuleSet,
}

impl Ceiling {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let mut held = RuleSet::default();
        for rule in rules {
            if rule.resource_names.is_empty() || rule.non_resource_urls.is_empty() {
                held.insert(rule);
            } else {
                // As in `covers`: of a rule that mixes names and URLs, the URLs do not count.
                held.insert_resources(rule);
            }
        }
        Self { written: rules.to_vec(), held }
    }

    pub(super) fn is(&self, rules: &[Rule]) -> bool {
        self.written == rules
    }

    pub(super) fn admits(&self, rule: &Rule) -> bool {
        self.held.uncovered([rule]).is_empty()
    }
}
