//! `rolewright down`: ends what `up` began.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};

use super::up::instance::{self, Running};

/// How long a sandbox may take to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which one.
#[derive(Debug, Args)]
pub(crate) struct DownArgs {
    /// The port of the one to end, where several run
    #[arg(long)]
    port: Option<u16>,
    /// End all of them
    #[arg(long, conflicts_with = "port")]
    all: bool,
}

pub(crate) fn run(args: &DownArgs, out: &mut impl Write) -> Result<()> {
    let mut running = instance::running(&instance::folder()?)?;
    if let Some(port) = args.port {
        running.retain(|running| running.port == port);
    }
    match running.as_slice() {
        [] => match args.port {
            Some(port) => bail!("no `rolewright up` runs on port {port}; hint: without --port the only one is ended"),
            None => bail!("no `rolewright up` runs; hint: `rolewright up --detach` starts one"),
        },
        [_, _, ..] if !args.all => {
            let ports: Vec<String> = running.iter().map(|running| running.port.to_string()).collect();
            bail!("several run, on the ports {}; hint: name one with --port, or say --all", ports.join(", "))
        }
        all => {
            for one in all {
                end(one)?;
                writeln!(out, "ended: `rolewright up` on port {}", one.port)?;
            }
            Ok(())
        }
    }
}

/// Ends a process in order, and returns when it has ended.
fn end(running: &Running) -> Result<()> {
    let pid = Pid::from_raw(running.pid).context("a process has a number")?;
    // Another may have ended before it was its turn.
    if !running.is_alive() {
        return Ok(());
    }
    kill_process(pid, Signal::TERM)
        .with_context(|| format!("cannot end the process {}; hint: end it as the user who started it", running.pid))?;
    let began = Instant::now();
    while running.is_alive() {
        if began.elapsed() > PATIENCE {
            bail!("the process {0} does not end; hint: `kill -9 {0}` ends it at once", running.pid);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
