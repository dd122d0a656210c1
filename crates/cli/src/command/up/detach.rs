//! A sandbox that runs on when its terminal is closed.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use super::view::{self, Output};
use super::{UpArgs, instance};

/// How long it may take to be ready.
const PATIENCE: Duration = Duration::from_mins(1);

/// Starts another process with the same arguments, and returns when that is ready.
pub(super) fn run(args: &UpArgs) -> Result<()> {
    let folder = instance::folder()?;
    let log = folder.join(match args.port {
        0 => format!("up-0-{}.log", std::process::id()),
        port => format!("up-{port}.log"),
    });
    let mut child = start(&log)?;
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Err(last_words(&log).unwrap_or_else(|| anyhow!("it ended at once: {status}")));
        }
        let pid = i32::try_from(child.id()).unwrap_or_default();
        let running = instance::running(&folder)?.into_iter().find(|running| running.pid == pid);
        if let Some(ready) = running.filter(|running| running.record.get("ready").is_some()) {
            return say(args, &ready.record, &log);
        }
        if began.elapsed() > PATIENCE {
            child.kill()?;
            bail!("it is not ready after a minute; hint: `{}` says more", log.display());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn start(log: &Path) -> Result<Child> {
    let file = File::create(log).with_context(|| format!("cannot write `{}`", log.display()))?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let arguments = std::env::args_os().skip(1).filter(|word| word != "--detach");
    let mut command = Command::new(program);
    command.args(arguments).arg("--detached").arg(log).stdin(Stdio::null());
    command.stdout(file.try_clone()?).stderr(file);
    // A Ctrl-C in our terminal is not meant for it.
    command.process_group(0).spawn().context("cannot start this program again")
}

/// What a process said before it ended, as an error of ours.
fn last_words(log: &Path) -> Option<anyhow::Error> {
    let text = std::fs::read_to_string(log).ok()?;
    let (_, error) = text.rsplit_once("error: ")?;
    Some(anyhow!("{}", error.trim_end()))
}

fn say(args: &UpArgs, record: &Value, log: &Path) -> Result<()> {
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
    let said = match (args.output, args.quiet) {
        (Output::Json, _) => format!("{}\n", record.get("ready").unwrap_or(&Value::Null)),
        (Output::Human, true) => format!("{}\n", text("line")),
        (Output::Human, false) => {
            format!("{}\nIt runs on. What happens is in {}; `rolewright down` ends it.\n", text("page"), log.display())
        }
    };
    Ok(view::print(&said)?)
}
