//! Covers and compaction.

use proptest::prelude::*;
use rolewright_core::escalation::merge_verbs;
use rolewright_core::{Rule, RuleSet, covers};
use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::strategy::{rules, tidy_rule};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::unordered::differ_as_bags;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pair {
    owner: Vec<Rule>,
    servant: Vec<Rule>,
}

#[derive(Deserialize)]
struct Covered {
    results: Vec<Missing>,
}

#[derive(Deserialize)]
struct Missing {
    covered: bool,
    missing: Option<Vec<Rule>>,
}

#[test]
fn covers_and_its_missing_atoms_equal_kubernetes() {
    // Half of the servants repeat rules of the owner, so that much is covered.
    let pair = (rules(6), rules(3), any::<bool>()).prop_map(|(owner, mut servant, repeat)| {
        if repeat {
            servant.extend(owner.iter().take(2).cloned());
        }
        Pair { owner, servant }
    });
    compare("covers", decisions() / 50, prop::collection::vec(pair, 1..20), |oracle, pairs| {
        let answer: Covered = oracle.ask("covers", json!({"pairs": pairs}))?;
        for (pair, theirs) in pairs.iter().zip(answer.results) {
            let ours = covers(&pair.owner, &pair.servant);
            let missing = theirs.missing.unwrap_or_default();
            if ours != missing || ours.is_empty() != theirs.covered {
                return Ok(Some(format!("{pair:?}: ours {ours:?}, Kubernetes {missing:?}")));
            }
        }
        Ok(None)
    });
}

#[test]
fn compaction_preserves_meaning_by_kubernetes_own_covers() {
    let rules = prop::collection::vec(tidy_rule(), 0..8);
    compare("compact", decisions() / 50, rules, |oracle, rules| {
        let compact = RuleSet::new(rules).to_rules();
        let pairs = [
            Pair { owner: compact.clone(), servant: rules.clone() },
            Pair { owner: rules.clone(), servant: compact.clone() },
        ];
        let answer: Covered = oracle.ask("covers", json!({"pairs": pairs}))?;
        let equal = answer.results.iter().all(|result| result.covered);
        Ok((!equal).then(|| format!("{rules:?} became {compact:?}")))
    });
}

#[test]
fn the_wording_of_missing_rights_equals_kubernetes() {
    #[derive(Deserialize)]
    struct Answer {
        results: Vec<Vec<Rule>>,
    }
    compare("merge_verbs", decisions() / 50, prop::collection::vec(rules(6), 1..10), |oracle, lists| {
        let answer: Answer = oracle.ask("compact", json!({"rules": lists}))?;
        let pairs = lists.iter().zip(answer.results);
        Ok(pairs.into_iter().find_map(|(rules, theirs)| differ_as_bags("rules", &merge_verbs(rules), &theirs)))
    });
}
