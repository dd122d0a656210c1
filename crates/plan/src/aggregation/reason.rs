//! Why an aggregated role changes, in words for a user.

use rolewright_core::Rule;
use rolewright_core::aggregate::Aggregation;
use rustc_hash::FxHashSet;

/// What the new rules are and what becomes of the stored ones: `+2 rules from `etcd-admin`, -1 rule`.
pub(crate) fn reason(aggregation: &Aggregation, name: &str, stored: &[Rule], rules: &[Rule]) -> String {
    if stored == rules {
        return String::new();
    }
    news(aggregation, name, &only_in(rules, stored), &only_in(stored, rules))
}

/// The same, of rules that are known to differ in these or in their order.
pub(crate) fn news(aggregation: &Aggregation, name: &str, added: &[&Rule], removed: &[&Rule]) -> String {
    let mut parts = Vec::new();
    if let Some(first) = added.first() {
        let source = aggregation.sources(name, first).into_iter().next();
        let from = source.map(|source| format!(" from `{}`", source.role)).unwrap_or_default();
        let more = if added.len() > 1 { " and others" } else { "" };
        parts.push(format!("+{}{from}{more}", count(added.len())));
    }
    if !removed.is_empty() {
        parts.push(format!("-{}", count(removed.len())));
    }
    if parts.is_empty() { "the same rules in their order".to_owned() } else { parts.join(", ") }
}

/// How the stored rules differ from what they should be.
pub(super) fn drift(aggregation: &Aggregation, name: &str) -> String {
    let union: Vec<Rule> = aggregation.rules(name).into_iter().flatten().cloned().collect();
    let stored: Vec<Rule> = aggregation.stored(name).into_iter().flatten().cloned().collect();
    let missing = only_in(&union, &stored).len();
    let extra = only_in(&stored, &union).len();
    match (missing, extra) {
        (0, 0) => "its rules are in another order".to_owned(),
        (missing, 0) => format!("{} missing", are(missing)),
        (0, extra) => format!("{} there that no selected role grants", are(extra)),
        (missing, extra) => format!("{} missing, {} there that no selected role grants", are(missing), are(extra)),
    }
}

fn only_in<'a>(rules: &'a [Rule], others: &[Rule]) -> Vec<&'a Rule> {
    let others: FxHashSet<&Rule> = others.iter().collect();
    rules.iter().filter(|rule| !others.contains(rule)).collect()
}

fn count(rules: usize) -> String {
    if rules == 1 { "1 rule".to_owned() } else { format!("{rules} rules") }
}

fn are(rules: usize) -> String {
    if rules == 1 { "1 rule is".to_owned() } else { format!("{rules} rules are") }
}
