//! A sandbox that runs on when its terminal is closed.

use std::fs::{self, File};
use std::io::{self, Seek as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use super::view::{self, Output};
use super::{UpArgs, instance};

/// How long it may take to be ready.
const PATIENCE: Duration = Duration::from_mins(1);

/// What errors begin with.
const ERROR: &str = "error: ";

/// Starts another process with the same arguments, and returns when that is ready.
pub(super) fn run(args: &UpArgs) -> Result<()> {
    let folder = instance::folder()?;
    let (log, mut file) = log(&folder)?;
    let started = start(&log, &file).and_then(|mut child| wait(&mut child, &folder, &mut file));
    match started {
        Ok(record) => say(args, &record, &log),
        Err(error) => {
            let _ = fs::remove_file(&log);
            Err(error)
        }
    }
}

/// A file that no other process writes to. It goes with the sandbox.
fn log(folder: &Path) -> Result<(PathBuf, File)> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let log = folder.join(format!("up-{}-{}.log", std::process::id(), since.as_nanos()));
    // At its end, also where two write to it.
    let file = File::options().read(true).append(true).create_new(true).mode(0o600).open(&log);
    let file = file.with_context(|| {
        format!("cannot write `{}`; hint: set XDG_RUNTIME_DIR to a folder that you may write to", log.display())
    })?;
    Ok((log, file))
}

fn start(log: &Path, file: &File) -> Result<Child> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let arguments = std::env::args_os().skip(1).filter(|word| word != "--detach");
    let mut command = Command::new(program);
    command.args(arguments).arg("--detached").arg(log).stdin(Stdio::null());
    command.stdout(file.try_clone()?).stderr(file.try_clone()?);
    // A Ctrl-C in our terminal is not meant for it.
    command.process_group(0).spawn().context("cannot start this program again")
}

/// Waits until it is ready; returns what it says of itself.
fn wait(child: &mut Child, folder: &Path, log: &mut File) -> Result<Value> {
    let began = Instant::now();
    let pid = i32::try_from(child.id()).unwrap_or_default();
    loop {
        if let Some(status) = child.try_wait()? {
            let silent =
                || anyhow!("it ended before it was ready ({status}); hint: without --detach it shows how far it comes");
            return Err(last_words(log).unwrap_or_else(silent));
        }
        let running = instance::running(folder)?.into_iter().find(|running| running.pid == pid);
        if let Some(ready) = running.filter(|running| running.record.get("ready").is_some()) {
            return Ok(ready.record);
        }
        if began.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            bail!("it is not ready after a minute; hint: without --detach it shows how far it comes");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a process said before it ended, as an error of ours. It has removed the log already, but we have it open.
fn last_words(log: &mut File) -> Option<anyhow::Error> {
    log.rewind().ok()?;
    let text = io::read_to_string(log).ok()?;
    let at = if text.starts_with(ERROR) { 0 } else { text.rfind(&format!("\n{ERROR}"))? + 1 };
    Some(anyhow!("{}", text.get(at + ERROR.len()..)?.trim_end()))
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
