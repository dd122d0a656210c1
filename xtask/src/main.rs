//! The workspace's own tasks: `cargo xtask <task>`.
//!
//! Everything that needs more than one shell line lives here, so that the Makefile stays a list of names and CI runs
//! exactly what a developer runs. Tasks read the repository and call cargo, git and the testbed; nothing here is
//! shipped.

mod bench;
mod check_each;
mod generate;
mod metadata;
mod mutants;
mod print;
mod process;
mod repository;
mod scratch;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::repository::Repository;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Development tasks of the rolewright workspace")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the repository's own rules: files, manifests, dependencies, licences
    Tidy,
    /// Check every crate alone, with each of its features
    CheckEach,
    /// Refresh the facts about Kubernetes, and the code and pages that are made
    Gen {
        /// Write nothing; fail when a file is stale
        #[arg(long)]
        check: bool,
    },
    /// Plant mutants into the engine and require that the tests catch each
    Mutants {
        /// Run only the mutant with this name
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
    },
    /// Run the benches, print one table and write target/bench.json
    Bench {
        /// Run only rows whose name contains this text
        only: Option<String>,
    },
}

/// How a task ended that could do its work: a finding is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Clean,
    Findings,
}

fn main() -> ExitCode {
    match run(&Args::parse().task) {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(error) => {
            print::err(format_args!("error: {error:#}"));
            ExitCode::from(4)
        }
    }
}

fn run(task: &Task) -> anyhow::Result<Outcome> {
    let repository = Repository::find()?;
    match task {
        Task::Tidy => tidy::run(&repository),
        Task::CheckEach => check_each::run(&repository),
        Task::Gen { check } => generate::run(&repository, *check),
        Task::Mutants { only } => mutants::run(&repository, only.as_deref()),
        Task::Bench { only } => bench::run(&repository, only.as_deref()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_well_formed() {
        super::Args::command().debug_assert();
    }
}
