//! Random sequences of requests: what nobody thought of writing down.
//!
//! A sequence keeps to a few names and kinds, so that its requests meet. It leaves out what Kubernetes does in its own
//! time: owners, foreground deletion, aggregation. A sequence that ends in a difference is made shorter for as long as the
//! difference stays, and is printed as a script.

mod dice;
mod kinds;
mod patches;
mod sequence;
mod shrink;

use std::collections::BTreeMap;

use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use self::dice::Dice;
use self::kinds::{KINDS, Kind};
use self::sequence::Sequence;
use crate::exchange::Exchange;
use crate::run::run;
use crate::target::Target;

const STEPS: u64 = 45;
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
    let first = dice.pick(KINDS);
    let second = dice.pick(KINDS);
    let mut steps = Vec::new();
    for step in 0..STEPS {
        let kind = if dice.chance(60) { first } else { second };
        let mut exchange = kind.request(&mut dice, step < 8);
        exchange.title = format!("step {step}");
        steps.push(vec![exchange]);
    }
    for (place, kind) in [first, second].into_iter().enumerate() {
        steps.push(vec![get(&format!("end {place}"), format!("{}?{}", kind.collection(), kind.ours()))]);
        let events = format!(
            "{}?watch=1&timeoutSeconds=1&resourceVersion={{{{start{place}}}}}&{}",
            kind.collection(),
            kind.ours()
        );
        steps.push(vec![get(&format!("events {place}"), events)]);
    }
    Sequence { name: format!("random-{seed}-{index}"), beginning: beginning(&[first, second]), steps }
}

/// Alice may write everything here, but grant only what little she holds.
fn beginning(kinds: &[&Kind]) -> Vec<Exchange> {
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let resources: Vec<&str> = KINDS.iter().map(|kind| kind.plural).collect();
    let rules = json!([{"apiGroups": ["*"], "resources": resources, "verbs": verbs},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    let role = json!({"metadata": {"name": "{{ns}}-alice"}, "rules": rules});
    let binding = json!({"metadata": {"name": "{{ns}}-alice"}, "roleRef": {"kind": "ClusterRole", "name": "{{ns}}-alice"},
        "subjects": [{"kind": "User", "name": "{{ns}}-alice"}]});
    let mut all = vec![
        post("alice's role", format!("{rbac}/clusterroles"), role.to_string()),
        post("alice's binding", format!("{rbac}/clusterrolebindings"), binding.to_string()),
    ];
    let mut allowed = get("alice is known", "/api/v1/namespaces/{{ns}}/configmaps?limit=1".to_owned());
    allowed.directives.identity.push(("Impersonate-User".into(), "{{ns}}-alice".into()));
    allowed.directives.wait = Some("status 200".into());
    all.push(allowed);
    for (place, kind) in kinds.iter().enumerate() {
        let mut start = get(&format!("start {place}"), format!("{}?{}", kind.collection(), kind.ours()));
        start.directives.captures.push((format!("start{place}"), ".metadata.resourceVersion".into()));
        all.push(start);
    }
    all
}

fn get(title: &str, target: String) -> Exchange {
    Exchange { title: title.into(), method: "GET".into(), target, ..Exchange::default() }
}

fn post(title: &str, target: String, body: String) -> Exchange {
    Exchange { title: title.into(), method: "POST".into(), target, body, ..Exchange::default() }
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
