//! `rolewright completion`: what a shell needs to complete our commands.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell; `rolewright completion bash > /etc/bash_completion.d/rolewright`, or `source <(rolewright completion zsh)`
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionArgs, out: &mut impl Write) -> Result<()> {
    let mut script = Vec::new();
    let mut command = shown(&crate::args::command()).version(env!("CARGO_PKG_VERSION"));
    clap_complete::generate(args.shell, &mut command, "rolewright", &mut script);
    Ok(out.write_all(&script)?)
}

/// A command without what is hidden, which shells would offer like everything else.
fn shown(command: &Command) -> Command {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set()).map(shown);
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned();
    Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(args)
        .subcommands(below)
}
