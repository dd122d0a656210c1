//! `cargo xtask mutants`: does the suite have teeth?
//!
//! Each mutant of `xtask/mutants.json` is a small, plausible mistake. It is planted into a copy of the workspace, the
//! suite runs there, and some test must fail. A mutant that survives is a hole in the tests; one that does not compile
//! or no longer finds its place proves nothing and counts as an error of the list.

mod copy;
mod list;
mod report;
mod suite;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anyhow::{Context, Result, bail};

use self::copy::Copy;
use self::list::{List, Mutant};
use self::suite::{Suite, Verdict};
use crate::repository::Repository;
use crate::{Outcome, print};

const LIST: &str = "xtask/mutants.json";
const SOURCE: &str = "target/mutants/src";
const TARGET: &str = "target/mutants/target";

/// A mutant may loop for ever. It gets this many times what the sound tree needs, and never less than the floor.
const PATIENCE: u32 = 10;
const FLOOR: Duration = Duration::from_mins(2);

pub(crate) fn run(repository: &Repository, only: Option<&str>) -> Result<Outcome> {
    let list = List::parse(&repository.read(LIST)?).with_context(|| format!("cannot use `{LIST}`"))?;
    let chosen = list.choose(only)?;
    let results = Hunt { repository, list: &list, floor: FLOOR }.run(&chosen)?;
    for line in report::render(&results) {
        print::out(line);
    }
    if std::env::var_os("ROLEWRIGHT_TESTBED").is_none() && results.iter().any(|(_, fate)| *fate == Fate::Survived) {
        print::err(
            "mutants: ROLEWRIGHT_TESTBED is not set, so the suite may have skipped itself; hint: `make mutants`",
        );
    }
    let all_caught = results.iter().all(|(_, result)| matches!(result, Fate::Caught(_)));
    Ok(if all_caught { Outcome::Clean } else { Outcome::Findings })
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// By the test of this name, or by the way the run ended.
    Caught(String),
    Survived,
    /// The list is wrong: why.
    Invalid(String),
}

struct Hunt<'a> {
    repository: &'a Repository,
    list: &'a List,
    /// The shortest time limit.
    floor: Duration,
}

impl Hunt<'_> {
    fn run(&self, mutants: &[&Mutant]) -> Result<Vec<(String, Fate)>> {
        let copy = Copy::new(self.repository, self.repository.path(SOURCE));
        copy.sync()?;
        let baselines = self.baselines(mutants)?;
        let mut results = Vec::new();
        for mutant in mutants {
            let suite = self.suite(mutant);
            let sound = baselines.iter().find(|(command, _)| *command == suite).map_or(self.floor, |(_, time)| *time);
            let limit = (sound * PATIENCE).max(self.floor);
            let fate = self.try_one(&copy, mutant, limit)?;
            print::err(format_args!("mutants: {}: {}", mutant.name, report::short(&fate)));
            results.push((mutant.name.clone(), fate));
        }
        // Leave the copy sound: the next run then has nothing to restore, and its builds stay warm.
        copy.sync()?;
        Ok(results)
    }

    /// Runs each suite once on the sound tree, and returns how long that took.
    fn baselines<'a>(&'a self, mutants: &[&'a Mutant]) -> Result<Vec<(&'a [String], Duration)>> {
        let mut baselines: Vec<(&[String], Duration)> = Vec::new();
        for mutant in mutants {
            let command = self.suite(mutant);
            if baselines.iter().any(|(known, _)| *known == command) {
                continue;
            }
            print::err(format_args!("mutants: `{}` on the sound tree", command.join(" ")));
            let suite = self.prepared(command, "")?;
            if let Err(said) = suite.build()? {
                bail!("the sound tree does not compile:\n{said}");
            }
            let (verdict, time) = suite.run(Duration::MAX)?;
            if let Verdict::Failed(test) = verdict {
                bail!("the suite fails on the sound tree, at `{test}`; a mutant would prove nothing");
            }
            baselines.push((command, time));
        }
        Ok(baselines)
    }

    fn try_one(&self, copy: &Copy<'_>, mutant: &Mutant, limit: Duration) -> Result<Fate> {
        // A full sync, not only the mutated file: a failing run may leave corpus files that would help the next one.
        copy.sync()?;
        let mutated = match mutant.apply(&self.repository.read(&mutant.file)?) {
            Ok(text) => text,
            Err(problem) => return Ok(Fate::Invalid(problem)),
        };
        copy.overwrite(&mutant.file, &mutated)?;
        let suite = self.prepared(self.suite(mutant), &mutant.name)?;
        if suite.build()?.is_err() {
            return Ok(Fate::Invalid("does not compile".to_owned()));
        }
        Ok(match suite.run(limit)?.0 {
            Verdict::Failed(test) => Fate::Caught(test),
            Verdict::Passed => Fate::Survived,
        })
    }

    fn suite<'a>(&'a self, mutant: &'a Mutant) -> &'a [String] {
        mutant.suite.as_deref().unwrap_or(&self.list.suite)
    }

    fn prepared<'a>(&self, command: &'a [String], mutant: &'a str) -> Result<Suite<'a>> {
        Suite::new(command, mutant, self.repository.path(SOURCE), self.repository.path(TARGET))
    }
}
