//! Which sandboxes run: a file for each, and one that its process holds locked as long as it lives.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rolewright_server::kubeconfig::write_private;
use serde_json::Value;

/// The way out where the folder cannot be used.
const ELSEWHERE: &str = "hint: set XDG_RUNTIME_DIR to a folder that you may write to";

/// The folder in which running sandboxes are known.
pub(crate) fn folder() -> Result<PathBuf> {
    let own = rustix::process::getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = match runtime.filter(|folder| folder.is_dir()) {
        Some(runtime) => runtime.join("rolewright"),
        None => std::env::temp_dir().join(format!("rolewright-{own}")),
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| format!("cannot make the folder `{}`; {ELSEWHERE}", folder.display()));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(&folder)
        .with_context(|| format!("cannot use the folder `{}`; {ELSEWHERE}", folder.display()))?;
    // Whoever else could write there could choose which process we end.
    if !found.is_dir() || found.uid() != own {
        bail!("the folder `{}` is somebody else's; {ELSEWHERE}", folder.display());
    }
    Ok(folder)
}

/// As long as it is held, nobody else comes, goes or looks: a record and the lock beside it are of one process.
fn alone(folder: &Path) -> Result<File> {
    let held = File::open(folder).and_then(|held| held.lock().map(|()| held));
    held.with_context(|| format!("cannot use the folder `{}`; {ELSEWHERE}", folder.display()))
}

/// This process, as others find it; nothing is left of it in the end.
#[derive(Debug)]
pub(crate) struct Instance {
    folder: PathBuf,
    record: PathBuf,
    lock: PathBuf,
    /// What is written for whoever detached us.
    log: Option<PathBuf>,
    _held: File,
}

impl Instance {
    /// Makes this process known by its port, with what there is to know so far.
    pub(crate) fn claim(folder: &Path, port: u16, record: &Value) -> Result<Self> {
        let _alone = alone(folder)?;
        let lock = folder.join(format!("up-{port}.lock"));
        let open = File::options().create(true).truncate(false).write(true).open(&lock);
        let held = open.with_context(|| format!("cannot write `{}`; {ELSEWHERE}", lock.display()))?;
        held.try_lock().with_context(|| format!("another process holds `{}`", lock.display()))?;
        let file = folder.join(format!("up-{port}.json"));
        // One that was killed leaves its own, and its number may be somebody else's by now.
        if let Some(left) = read(&file) {
            remove_log(folder, &left);
        }
        if let Err(error) = tell(&file, record) {
            let _ = fs::remove_file(&file);
            let _ = fs::remove_file(&lock);
            return Err(error);
        }
        let log = record.get("log").and_then(Value::as_str).map(PathBuf::from);
        Ok(Self { folder: folder.to_owned(), record: file, lock, log, _held: held })
    }

    /// Says what there is to know.
    pub(crate) fn tell(&self, record: &Value) -> Result<()> {
        tell(&self.record, record)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _alone = alone(&self.folder);
        for file in [Some(&self.record), Some(&self.lock), self.log.as_ref()].into_iter().flatten() {
            let _ = fs::remove_file(file);
        }
    }
}

/// A sandbox that runs.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) pid: i32,
    /// All that it says of itself.
    pub(crate) record: Value,
    lock: PathBuf,
}

impl Running {
    /// Whether its process still lives.
    pub(crate) fn is_alive(&self) -> bool {
        // Who cannot be asked is taken for alive: nobody forgets a process that runs.
        match File::open(&self.lock) {
            Ok(lock) => matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }
}

/// Every sandbox that runs or starts, by port. What died without a word is forgotten.
pub(crate) fn running(folder: &Path) -> Result<Vec<Running>> {
    let _alone = alone(folder)?;
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let port =
            name.strip_prefix("up-").and_then(|name| name.strip_suffix(".json")).and_then(|port| port.parse().ok());
        let (Some(port), Some(record)) = (port, read(&path)) else { continue };
        let pid = record.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
        let Some(pid) = pid.filter(|pid| *pid > 1) else { continue };
        let running = Running { port, pid, record, lock: path.with_extension("lock") };
        if running.is_alive() {
            all.push(running);
        } else {
            remove_log(folder, &running.record);
            let _ = fs::remove_file(&path);
            let _ = fs::remove_file(&running.lock);
        }
    }
    all.sort_by_key(|running| running.port);
    Ok(all)
}

fn tell(file: &Path, record: &Value) -> Result<()> {
    let written = write_private(file, record.to_string().as_bytes());
    written.with_context(|| format!("cannot write `{}`; {ELSEWHERE}", file.display()))
}

fn read(record: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(record).ok()?).ok()
}

/// The log of one that died without a word.
fn remove_log(folder: &Path, record: &Value) {
    let log = record.get("log").and_then(Value::as_str).map(Path::new);
    if let Some(log) = log.filter(|log| log.parent() == Some(folder)) {
        let _ = fs::remove_file(log);
    }
}
