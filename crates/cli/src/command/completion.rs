//! `rolewright completion`: what a shell needs to complete our commands.

use std::io::Write;

use anyhow::Result;
use clap::Args;
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
    clap_complete::generate(args.shell, &mut crate::args::command(), "rolewright", &mut script);
    Ok(out.write_all(&script)?)
}
