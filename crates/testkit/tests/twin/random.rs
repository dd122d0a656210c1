//! Random sequences of requests: what nobody thought of writing down.
//!
//! A sequence keeps to a few names and kinds, so that its requests meet. It leaves out what Kubernetes does in its own
//! time: owners, orphans and foreground deletion, the end of namespaces, aggregation. A sequence that ends in a difference
//! is made shorter for as long as the difference stays, and is printed as a script.

mod content;
mod dice;
mod kinds;
mod patches;
mod requests;
mod sequence;
mod shrink;
mod users;

use std::collections::BTreeMap;

use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};

use self::dice::Dice;
use self::kinds::KINDS;
use self::sequence::{Sequence, Step};
use crate::exchange::Exchange;
use crate::run::run;
use crate::target::Target;

const STEPS: u64 = 60;
/// Sequences that run side by side.
const TOGETHER: usize = 12;

/// What came of all sequences.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// How often Kubernetes answered with which status.
    pub(crate) statuses: BTreeMap<u16, usize>,
    pub(crate) findings: Vec<String>,
}

/// Plays `count` sequences.
pub(crate) async fn sequences(seed: u64, count: u64, real: &Target, ours: &Target) -> Result<Drawn> {
    let played = stream::iter(0..count).map(|index| async move {
        let sequence = sequence(seed, index);
        let outcomes = run(&sequence.script(), real, ours).await?.outcomes;
        let statuses: Vec<u16> = outcomes.iter().map(|outcome| outcome.answer.status).collect();
        anyhow::Ok((statuses, shrink::finding(sequence, outcomes, real, ours).await?))
    });
    let played: Vec<_> = played.buffer_unordered(TOGETHER).try_collect().await?;
    let mut drawn = Drawn::default();
    for (statuses, finding) in played {
        for status in statuses {
            *drawn.statuses.entry(status).or_default() += 1;
        }
        drawn.findings.extend(finding);
    }
    Ok(drawn)
}

/// The requests of one sequence.
fn sequence(seed: u64, index: u64) -> Sequence {
    let mut dice = Dice::new(seed, index);
    let kinds = loop {
        let kinds = [dice.pick(KINDS), dice.pick(KINDS), dice.pick(KINDS)];
        let has = |plural: &str| kinds.iter().any(|kind| kind.plural == plural);
        // Kubernetes repairs what it allocated to services, and says so in events.
        if !(has("services") && has("events")) {
            break kinds;
        }
    };
    let mut steps: Vec<Step> = users::beginning(&mut dice).into_iter().map(|exchange| vec![exchange]).collect();
    for (place, kind) in kinds.iter().enumerate() {
        let mut start = get(&format!("start {place}"), format!("{}?{}", kind.collection(), kind.ours()));
        start.directives.captures.push((format!("start{place}"), ".metadata.resourceVersion".into()));
        steps.push(vec![start]);
    }
    let mut unsettled = users::unsettled();
    for number in 0..STEPS {
        let kind = kinds[[0, 0, 0, 1, 1, 2][dice.below(6)]];
        let mut step = Vec::new();
        let is_review = number > 8 && dice.chance(8);
        let mut exchange =
            if is_review { users::review(&mut dice) } else { requests::request(kind, &mut dice, number < 10) };
        if !is_review && dice.chance(30) {
            users::ask_as_somebody(&mut exchange, &mut dice);
        }
        if is_review || !exchange.directives.identity.is_empty() {
            step.extend(users::settle(&mut unsettled, number));
        }
        if !is_review && kind.grants() && exchange.method != "GET" {
            unsettled.insert(kind.plural);
        }
        if from_a_cache(&exchange) {
            // A list without a version waits until the cache has everything.
            step.push(get(&format!("now before step {number}"), kind.selected("app")));
        }
        exchange.title = format!("step {number}");
        step.push(exchange);
        steps.push(step);
    }
    for (place, kind) in kinds.into_iter().enumerate() {
        steps.push(vec![get(&format!("end {place}"), format!("{}?{}", kind.collection(), kind.ours()))]);
        let selector = if place == 1 { kind.selected("app") } else { format!("{}?{}", kind.collection(), kind.ours()) };
        let events = format!("{selector}&watch=1&timeoutSeconds=1&resourceVersion={{{{start{place}}}}}");
        steps.push(vec![get(&format!("events {place}"), events)]);
    }
    Sequence { name: format!("random-{seed}-{index}"), steps }
}

/// Whether Kubernetes may answer with what its cache has, which follows the storage a moment later.
fn from_a_cache(exchange: &Exchange) -> bool {
    let asks = |part: &str| exchange.target.contains(part);
    exchange.method == "GET" && asks("resourceVersion=") && !asks("Exact") && !asks("watch=1")
}

fn get(title: &str, target: String) -> Exchange {
    Exchange { title: title.into(), method: "GET".into(), target, ..Exchange::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_sequence_and_another_one_does_not() {
        let text = |seed, index| format!("{:?}", sequence(seed, index).steps);
        assert_eq!(text(1, 2), text(1, 2));
        assert_ne!(text(1, 2), text(1, 3));
        assert_ne!(text(1, 2), text(2, 2));
    }
}
