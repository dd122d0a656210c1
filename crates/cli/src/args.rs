//! What can be typed.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::command::{completion, down, explain, manifests, plan, reference, run, server, uninstall, up};

/// Computes, applies, protects and explains the permissions of Kubernetes platforms
#[derive(Debug, Parser)]
#[command(name = "rolewright", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say why: where a role's rules come from, what a code means
    Explain(explain::ExplainArgs),
    /// Show what a change would grant, to whom, and if it may
    Plan(plan::PlanArgs),
    /// Start a Kubernetes API with the manager and an example
    Up(up::UpArgs),
    /// End what `up` started
    Down(down::DownArgs),
    /// Run the embedded Kubernetes-compatible API server alone
    Server(server::ServerArgs),
    /// Run the manager: compute, apply and protect permissions
    Run(run::RunArgs),
    /// Print what an operator applies for the manager
    Manifests(manifests::ManifestsArgs),
    /// Remove the manager; leave or take back what it gave
    Uninstall(uninstall::UninstallArgs),
    /// Print what a shell needs to complete these commands
    Completion(completion::CompletionArgs),
    /// Print the reference
    #[command(hide = true)]
    Reference,
}

/// Commands by what one wants.
const FACES: [(&str, &[&str]); 5] = [
    ("Ask", &["explain"]),
    ("Review", &["plan"]),
    ("Try", &["up", "down", "server"]),
    ("Operate", &["run", "manifests", "uninstall"]),
    ("Other", &["completion", "help"]),
];

/// Everything that can be typed.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    let list = faces(&command);
    let template = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{list}\nOptions:\n{{options}}{{after-help}}");
    command.help_template(template).after_help("`rolewright COMMAND --help` says more of each.")
}

/// The list of commands, in groups.
fn faces(command: &clap::Command) -> String {
    let mut list = String::new();
    for (face, names) in FACES {
        for (index, name) in names.iter().enumerate() {
            let face = if index == 0 { face } else { "" };
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or("Print this, or the help of a command".to_owned(), ToString::to_string);
            // Writing to a `String` cannot fail.
            let _ = writeln!(list, "{face:<9}{name:<12}{about}");
        }
    }
    list
}

impl Args {
    /// What was typed; ends the process where that cannot be understood.
    pub(crate) fn read() -> Self {
        let matches = command().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    pub(crate) fn run(self, out: &mut impl Write) -> Result<()> {
        match self.command {
            Command::Explain(args) => explain::run(&args, out),
            Command::Plan(args) => plan::run(&args, out),
            Command::Up(args) => up::run(&args),
            Command::Down(args) => down::run(&args, out),
            Command::Server(args) => server::run(args, out),
            Command::Run(args) => run::run(args),
            Command::Manifests(args) => manifests::run(&args, out),
            Command::Uninstall(args) => uninstall::run(&args, out),
            Command::Completion(args) => completion::run(&args, out),
            Command::Reference => reference::run(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_face_and_the_help_fits_a_screen() {
        let mut command = command();
        command.build();
        for shown in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let faces = FACES.iter().filter(|(_, names)| names.contains(&shown.get_name())).count();
            assert_eq!(faces, 1, "{}", shown.get_name());
        }
        let help = command.render_help().to_string();
        assert!(help.lines().count() <= 24, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
}
