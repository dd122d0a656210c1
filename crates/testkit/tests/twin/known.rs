//! The differences that we know of.

use std::cell::Cell;

use anyhow::{Context, Result, ensure};

use crate::compare::Difference;
use crate::path::matches;

/// Topics in which there is nothing to excuse.
const STRICT: [&str; 5] = ["apply", "patch", "rbac", "reviews", "watch"];

/// The list, and which of its entries were seen in this run.
#[derive(Debug)]
pub(crate) struct Known(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    script: String,
    title: String,
    path: String,
    seen: Cell<bool>,
}

impl Known {
    /// Reads lines of `script | title | path | reason`; in the first three, `*` stands for any text.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entries = lines.map(|line| {
            let mut parts = line.splitn(4, '|').map(str::trim);
            let mut next = || parts.next().map(str::to_owned).filter(|part| !part.is_empty());
            let entry = (next(), next(), next(), next());
            let (Some(script), Some(title), Some(path), Some(_)) = entry else {
                anyhow::bail!("`{line}` is not `script | title | path | reason`");
            };
            let strict = STRICT.iter().find(|topic| script.starts_with(*topic) || script.starts_with('*'));
            ensure!(strict.is_none(), "`{line}`: nothing may differ in {}", STRICT.join(", "));
            Ok(Entry { script, title, path, seen: Cell::new(false) })
        });
        Ok(Self(entries.collect::<Result<_>>().context("the known differences")?))
    }

    /// Whether a difference is on the list.
    pub(crate) fn excuses(&self, script: &str, title: &str, difference: &Difference) -> bool {
        let fits = |entry: &&Entry| {
            matches(&entry.script, script) && matches(&entry.title, title) && matches(&entry.path, &difference.path)
        };
        let found: Vec<&Entry> = self.0.iter().filter(fits).collect();
        for entry in &found {
            entry.seen.set(true);
        }
        !found.is_empty()
    }

    /// Entries of these scripts that excused nothing.
    pub(crate) fn stale<'a>(&'a self, scripts: &'a [String]) -> impl Iterator<Item = String> + 'a {
        let ran = |entry: &&Entry| scripts.iter().any(|script| matches(&entry.script, script));
        let stale = self.0.iter().filter(|entry| !entry.seen.get()).filter(ran);
        stale.map(|entry| format!("{} | {} | {}", entry.script, entry.title, entry.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Difference {
        Difference { path: path.into(), real: String::new(), ours: String::new() }
    }

    #[test]
    fn an_entry_that_excuses_nothing_is_stale() {
        let known = Known::parse("# text\n\nwire | a* | .x | because\nwire | b | .y | because\n").unwrap();
        assert!(known.excuses("wire", "abc", &at(".x")));
        assert!(!known.excuses("wire", "abc", &at(".y")));
        let wire = ["wire".to_owned()];
        assert_eq!(known.stale(&wire).collect::<Vec<_>>(), ["wire | b | .y"]);
        assert_eq!(known.stale(&[]).count(), 0, "what did not run is not judged");
    }

    #[test]
    fn some_topics_have_no_excuse() {
        for line in ["rbac-roles | a | .x | why", "patch | a | .x | why", "* | a | .x | why", "wire | a | .x |", "wire"]
        {
            assert!(Known::parse(line).is_err(), "{line}");
        }
    }
}
