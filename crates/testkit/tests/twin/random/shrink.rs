//! Makes a sequence that ends in a difference shorter, for as long as it is the same difference.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::sequence::Sequence;
use crate::compare::Difference;
use crate::report;
use crate::run::{Outcome, run};
use crate::target::Target;
use crate::text::{Piece, pieces};

/// No more runs than this to make one sequence shorter, and no more time.
const RUNS: usize = 90;
const LIMIT: Duration = Duration::from_mins(1);

/// The first difference of a sequence.
struct Found {
    title: String,
    request: String,
    differences: Vec<Difference>,
    /// What stays the same when the sequence is played again, or a shorter one.
    shapes: BTreeSet<String>,
}

impl Found {
    fn first(name: &str, outcomes: Vec<Outcome>) -> Option<Self> {
        let Outcome { title, request, differences, .. } =
            outcomes.into_iter().find(|outcome| !outcome.differences.is_empty())?;
        let shapes = differences.iter().map(|found| shape(name, found)).collect();
        Some(Self { title, request, differences, shapes })
    }

    /// The difference of another sequence, if it is this one.
    async fn again(&self, sequence: &Sequence, real: &Target, ours: &Target) -> Result<Option<Self>> {
        let outcomes = run(&sequence.script(), real, ours).await?.outcomes;
        let found = Self::first(&sequence.name, outcomes);
        Ok(found.filter(|found| found.title == self.title && found.shapes == self.shapes))
    }
}

/// What a reader needs to know of the first difference in these outcomes, if there is one.
pub(super) async fn finding(
    sequence: Sequence,
    outcomes: Vec<Outcome>,
    real: &Target,
    ours: &Target,
) -> Result<Option<String>> {
    let Some(mut found) = Found::first(&sequence.name, outcomes) else { return Ok(None) };
    let name = sequence.name.clone();
    let mut shortest = sequence.until(&found.title);
    let repeated = found.again(&shortest.without(0..0, &format!("{name}-again")), real, ours).await?.is_some();
    let start = Instant::now();
    let mut runs = 0;
    let mut chunk = if repeated { shortest.steps.len() / 2 } else { 0 };
    while chunk > 0 {
        let mut at = 0;
        // The last step is the one that differs.
        while at + 1 < shortest.steps.len() && runs < RUNS && start.elapsed() < LIMIT {
            runs += 1;
            let end = (at + chunk).min(shortest.steps.len() - 1);
            let shorter = shortest.without(at..end, &format!("{name}-{runs}"));
            match found.again(&shorter, real, ours).await? {
                Some(again) => (found, shortest) = (again, shorter),
                None => at = end,
            }
        }
        chunk /= 2;
    }
    let how = if repeated { "" } else { " once, but not when played again," };
    let text: Vec<String> = shortest.script().exchanges.iter().map(ToString::to_string).collect();
    let mut report = format!("random sequence {name} differs{how} in `{}`:\n\n{}", found.title, text.join("\n"));
    // Writing to a text cannot fail.
    let _ = writeln!(report, "\n  {}", found.request);
    report::differences(&mut report, &found.differences);
    Ok(Some(report))
}

/// A difference without what another run changes: the namespace's name, ids, versions and times, and what else there is.
fn shape(name: &str, found: &Difference) -> String {
    let plain = |text: &str| {
        let text = text.replace(&format!("twin-{name}"), "<ns>");
        let kept = pieces(&text).into_iter().map(|piece| match piece {
            Piece::Plain(text) => text.to_owned(),
            _ => "<free>".to_owned(),
        });
        kept.collect::<String>()
    };
    let form = |text: &str| match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) if value.is_object() || value.is_array() => "<document>".to_owned(),
        Ok(serde_json::Value::String(text)) if text.parse::<u64>().is_ok() => "<number>".to_owned(),
        _ => plain(text),
    };
    format!("{} {} {}", plain(&report::unnumbered(&found.path)), form(&found.real), form(&found.ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_the_same_in_another_namespace_and_at_another_place() {
        let at =
            |path: &str, real: &str, ours: &str| Difference { path: path.into(), real: real.into(), ours: ours.into() };
        for (one, other, same) in [
            (at(".items[1].a", "\"x\"", "absent"), at(".items[2].a", "\"x\"", "absent"), true),
            (at("status", "200", "409"), at("status", "201", "409"), false),
            (at(".a", "\"in twin-r-1: no\"", "\"yes\""), at(".a", "\"in twin-r-2: no\"", "\"yes\""), true),
            (at(".a", "{\"b\":1}", "absent"), at(".a", "{\"c\":1}", "absent"), true),
            (at(".a", "\"12\"", "\"13\""), at(".a", "\"14\"", "\"19\""), true),
            (at(".a", "\"no\"", "\"yes\""), at(".b", "\"no\"", "\"yes\""), false),
        ] {
            assert_eq!(shape("r-1", &one) == shape("r-2", &other), same, "{one:?} {other:?}");
        }
    }
}
