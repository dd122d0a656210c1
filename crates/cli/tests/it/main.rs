//! The binary, run as users run it.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod live;
mod revisions;
mod stories;
mod usage;

use std::process::{Command, Output};

fn rolewright(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
    command.args(args).env_remove("CLICOLOR_FORCE").output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is UTF-8")
}
