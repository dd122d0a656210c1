//! `cargo xtask bench`: run the benches, gather their rows, judge them against their budgets.
//!
//! A bench is a bench target without harness. It appends one JSON object per row to the file named in
//! `ROLEWRIGHT_BENCH_OUT` and leaves out rows whose names do not contain `ROLEWRIGHT_BENCH_ONLY`; what it prints is for
//! people. Comparisons are ratios within one run, because absolute times say more about the machine than about us.

mod row;
mod table;
mod unit;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use self::row::Row;
use crate::metadata::Metadata;
use crate::repository::Repository;
use crate::{Outcome, print, process};

const RESULT: &str = "target/bench.json";
const ROWS: &str = "target/bench";

pub(crate) fn run(repository: &Repository, only: Option<&str>) -> Result<Outcome> {
    let only = only.unwrap_or_default();
    let mut rows = Vec::new();
    let mut broken = Vec::new();
    for bench in benches(&Metadata::members_only(repository)?) {
        print::err(format_args!("bench: {} {}", bench.package, bench.target));
        let (found, problem) = bench.run(repository, only)?;
        rows.extend(found);
        broken.extend(problem);
    }
    // The filter is the bench's own, to save time; a bench without one must not put strange rows into the table.
    rows.retain(|row| row.name.contains(only));

    write(&repository.path(RESULT), &rows)?;
    for line in table::render(&rows) {
        print::out(line);
    }
    if rows.is_empty() && !only.is_empty() {
        broken.push(format!("no row has a name with `{only}` in it"));
    }
    for problem in &broken {
        print::err(format_args!("bench: {problem}"));
    }
    let missed = rows.iter().filter(|row| row.ok == Some(false)).count();
    if missed > 0 {
        print::err(format_args!("bench: {missed} of {} rows miss their budget", rows.len()));
    }
    Ok(if missed == 0 && broken.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

#[derive(Debug, PartialEq, Eq)]
struct Bench {
    package: String,
    target: String,
}

fn benches(metadata: &Metadata) -> Vec<Bench> {
    let members = metadata.members().into_iter();
    members
        .flat_map(|member| {
            let targets = member.targets.iter().filter(|target| target.kind.iter().any(|kind| kind == "bench"));
            targets.map(|target| Bench { package: member.name.clone(), target: target.name.clone() })
        })
        .collect()
}

impl Bench {
    /// Its rows, and what went wrong after the last of them.
    fn run(&self, repository: &Repository, only: &str) -> Result<(Vec<Row>, Option<String>)> {
        // A file for each bench: it may append or start afresh, and a leftover cannot pass for a result.
        let file = repository.path(&format!("{ROWS}/{}-{}.jsonl", self.package, self.target));
        fs::create_dir_all(repository.path(ROWS))?;
        fs::write(&file, "").with_context(|| format!("cannot write `{}`", file.display()))?;
        let mut command = process::cargo();
        command.args(["bench", "--quiet", "-p", &self.package, "--bench", &self.target]);
        command.env("ROLEWRIGHT_BENCH_OUT", &file).env("ROLEWRIGHT_BENCH_ONLY", only);
        let status = command.current_dir(repository.root()).status().context("cannot start cargo")?;
        let rows = row::parse(&fs::read_to_string(&file)?)?;
        let failed = || format!("{} failed ({status}) after {} rows", process::shown(&command), rows.len());
        let problem = (!status.success()).then(failed);
        Ok((rows, problem))
    }
}

fn write(path: &Path, rows: &[Row]) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let text = serde_json::to_string_pretty(rows)?;
    fs::write(path, text + "\n").with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bench_targets_are_run() {
        let metadata: Metadata = serde_json::from_value(serde_json::json!({
            "workspace_members": ["a"],
            "packages": [{
                "id": "a", "name": "a", "version": "1.0.0", "license": null, "manifest_path": "", "dependencies": [],
                "targets": [{ "name": "a", "kind": ["lib"] }, { "name": "decision", "kind": ["bench"] }],
            }],
        }))
        .unwrap();
        assert_eq!(benches(&metadata), [Bench { package: "a".to_owned(), target: "decision".to_owned() }]);
    }
}
