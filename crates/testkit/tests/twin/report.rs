//! What a reader sees of a run.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::compare::Difference;
use crate::judge;
use crate::known::Known;
use crate::run::{Outcome, Played};

/// Differences of one exchange beyond these are only counted.
const SHOWN: usize = 12;
/// The most frequent ways to differ that are listed.
const SHAPES: usize = 20;
/// A value longer than this is cut.
const WIDTH: usize = 400;

/// The real answers of a script, as they came.
pub(crate) fn transcript(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for Outcome { title, request, answer, .. } in outcomes {
        let body = String::from_utf8_lossy(&answer.body);
        // Writing to a text cannot fail.
        let _ = write!(text, "### {title}\n{request}\n{}\n", answer.status);
        for (name, values) in answer.headers.iter().filter(|(name, _)| judge::HEADERS.contains(&name.as_str())) {
            let _ = writeln!(text, "{name}: {}", values.join("; "));
        }
        let _ = writeln!(text, "\n{}\n", body.trim_end());
    }
    text
}

/// The findings of a run, and a table with a line for each script.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) exchanges: usize,
    pub(crate) failures: usize,
    findings: String,
    table: String,
    /// How often answers differ alike.
    alike: BTreeMap<String, usize>,
}

impl Report {
    /// Adds a script.
    pub(crate) fn add(&mut self, script: &str, played: &Played, known: &Known) {
        let outcomes = &played.outcomes;
        let (mut failed, mut excused) = (0, 0);
        for outcome in outcomes {
            let (known, new): (Vec<_>, Vec<_>) =
                outcome.differences.iter().partition(|found| known.excuses(script, &outcome.title, found));
            excused += usize::from(!known.is_empty());
            if new.is_empty() && outcome.broken_promise.is_none() {
                continue;
            }
            failed += 1;
            self.line(&format!("\n{script}: {}\n  {}", outcome.title, cut(&outcome.request)));
            if let Some(status) = outcome.broken_promise {
                self.line(&format!("  promise: Kubernetes answers {status}"));
            }
            let new: Vec<Difference> = new.into_iter().cloned().collect();
            for found in &new {
                *self.alike.entry(shape(found)).or_default() += 1;
            }
            differences(&mut self.findings, &new);
        }
        let passed = outcomes.len() - failed;
        let excused = if excused == 0 { String::new() } else { format!(", {excused} with known differences") };
        let failed_text = if failed == 0 { String::new() } else { format!(", {failed} differ") };
        let (all, seconds) = (outcomes.len(), played.time.as_secs_f32());
        let row = format!("{script:<24} {seconds:>5.1} s {passed:>4} of {all:>4} equal{failed_text}{excused}\n");
        self.table.push_str(&row);
        self.exchanges += outcomes.len();
        self.failures += failed;
    }

    /// Adds a finding that belongs to no exchange.
    pub(crate) fn fail(&mut self, text: &str) {
        self.failures += 1;
        self.line(&format!("\n{text}"));
    }

    fn line(&mut self, text: &str) {
        self.findings.push_str(text);
        self.findings.push('\n');
    }

    /// Everything.
    pub(crate) fn text(&self) -> String {
        let mut text = self.findings.clone();
        let mut alike: Vec<(&String, &usize)> = self.alike.iter().filter(|(_, count)| **count > 1).collect();
        alike.sort_by_key(|(_, count)| Reverse(**count));
        for (shape, count) in alike.into_iter().take(SHAPES) {
            let _ = writeln!(text, "{count:>5} x {shape}");
        }
        let _ = write!(text, "\n{}", self.table);
        // Writing to a text cannot fail.
        let _ = write!(text, "{} exchanges, {} findings", self.exchanges, self.failures);
        text
    }
}

/// The differences of one exchange, for a reader.
pub(crate) fn differences(text: &mut String, all: &[Difference]) {
    for found in all.iter().take(SHOWN) {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {}\n    real {}\n    ours {}", found.path, cut(&found.real), cut(&found.ours));
    }
    if all.len() > SHOWN {
        let _ = writeln!(text, "  and {} more", all.len() - SHOWN);
    }
}

/// A difference without what makes it a single one.
fn shape(found: &Difference) -> String {
    let short = |text: &str| text.chars().take(60).collect::<String>();
    format!("{}: {} | {}", unnumbered(&found.path), short(&found.real), short(&found.ours))
}

/// A path without the places in lists.
pub(crate) fn unnumbered(path: &str) -> String {
    let mut plain = String::new();
    let mut inside = false;
    for letter in path.chars() {
        match letter {
            '0'..='9' if inside => continue,
            _ => inside = letter == '[',
        }
        plain.push(letter);
    }
    plain
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let start: String = text.chars().take(WIDTH).collect();
    format!("{start}… ({} characters)", text.chars().count())
}
