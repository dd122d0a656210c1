//! `cargo xtask gen`: what nobody should type by hand.
//!
//! ```text
//! testbed facts ──> facts/*.json ──> crates/core/src/bootstrap/generated.rs
//!  (needs Go)        committed       crates/server/src/facts/generated.rs, committed
//!                                    crates/server/src/fairness/flows.json, as it is
//! rolewright reference ───────────> docs/reference/*.md, docs/man/*.1
//! what a terminal showed to a test ─> docs/up.svg
//! ```
//!
//! The facts come out of Kubernetes' own code. Without Go the committed facts are taken as they are, so that everyone
//! can build; CI has Go and compares both steps.

mod bootstrap;
mod facts;
mod picture;
mod reference;
mod rustfmt;
mod server;
mod tables;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use self::facts::{Facts, Surroundings};
use crate::repository::Repository;
use crate::{Outcome, print};

const BOOTSTRAP: &str = "crates/core/src/bootstrap/generated.rs";
const SERVER: &str = "crates/server/src/facts/generated.rs";
const FLOWS: &str = "crates/server/src/fairness/flows.json";
const COMMAND: &str = "cargo xtask gen";

/// A file that a program writes: its place and what must be in it.
#[derive(Debug, PartialEq, Eq)]
struct Output {
    path: String,
    contents: String,
}

pub(crate) fn run(repository: &Repository, check: bool) -> Result<Outcome> {
    let facts = facts::gather(repository, &Surroundings::read())?;
    let outputs = outputs(repository, facts)?;
    if check {
        return Ok(compare(repository, &outputs));
    }
    write(repository, &outputs)?;
    Ok(Outcome::Clean)
}

fn outputs(repository: &Repository, facts: Facts) -> Result<Vec<Output>> {
    let bootstrap = bootstrap::parse(&facts.bootstrap).context("cannot use `facts/bootstrap.json`")?;
    let tables = rustfmt::format(repository, &tables::render(&bootstrap))?;
    let server = server::render(&facts.server.texts())?;
    let mut outputs = facts.refreshed;
    outputs.push(Output { path: BOOTSTRAP.to_owned(), contents: tables });
    outputs.push(Output { path: SERVER.to_owned(), contents: server });
    outputs.push(Output { path: FLOWS.to_owned(), contents: facts.flows });
    outputs.extend(reference::pages(repository)?);
    outputs.extend(picture::pictures(repository)?);
    Ok(outputs)
}

fn write(repository: &Repository, outputs: &[Output]) -> Result<()> {
    for output in stale(repository, outputs) {
        let path = repository.path(&output.path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        fs::write(&path, &output.contents).with_context(|| format!("cannot write `{}`", path.display()))?;
        print::out(format_args!("wrote {}", output.path));
    }
    Ok(())
}

fn compare(repository: &Repository, outputs: &[Output]) -> Outcome {
    let mut outcome = Outcome::Clean;
    for output in stale(repository, outputs) {
        print::out(format_args!("{} is stale; run `{COMMAND}` and commit the result", output.path));
        outcome = Outcome::Findings;
    }
    outcome
}

fn stale<'a>(repository: &'a Repository, outputs: &'a [Output]) -> impl Iterator<Item = &'a Output> {
    outputs.iter().filter(|output| {
        fs::read_to_string(repository.path(&output.path)).ok().as_deref() != Some(output.contents.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn output(path: &str, contents: &str) -> Output {
        Output { path: path.to_owned(), contents: contents.to_owned() }
    }

    #[test]
    fn check_finds_stale_and_missing_files_and_writes_nothing() {
        let scratch = Scratch::new("gen").unwrap();
        let repository = Repository::at(scratch.path());
        fs::write(repository.path("same"), "1").unwrap();
        fs::write(repository.path("old"), "1").unwrap();
        let outputs = [output("same", "1"), output("old", "2"), output("a/new", "3")];

        let names: Vec<_> = stale(&repository, &outputs).map(|output| output.path.as_str()).collect();
        assert_eq!(names, ["old", "a/new"]);
        assert_eq!(compare(&repository, &outputs), Outcome::Findings);
        assert_eq!(repository.read("old").unwrap(), "1");
        assert!(!repository.path("a").exists());
    }

    #[test]
    fn check_is_clean_after_writing() {
        let scratch = Scratch::new("gen").unwrap();
        let repository = Repository::at(scratch.path());
        let outputs = [output("a/b/new", "3")];
        write(&repository, &outputs).unwrap();
        assert_eq!(compare(&repository, &outputs), Outcome::Clean);
    }
}
