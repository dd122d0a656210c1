//! The `rolewright` binary: arguments in, one command run, an exit code out.

mod args;
mod cluster;
mod command;
mod exit;
mod modules;
mod output;
mod render;
mod signal;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    exit::code(args::Args::read().run(&mut output::stdout()))
}
