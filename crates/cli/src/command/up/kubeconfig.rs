//! Our context in somebody's kubeconfig: it comes and goes, and everything else stays as it is.

mod entries;
mod text;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rolewright_api::document::yaml;
use rolewright_server::kubeconfig::write_private;
use serde_json::Value;

pub(super) use self::entries::{Mark, Ours};

/// How long somebody on this machine may take to answer.
const MOMENT: Duration = Duration::from_millis(200);

/// Our entries in a file.
pub(super) struct Added {
    path: PathBuf,
    ours: Ours,
    /// What the file held without us; nothing if we made it.
    before: Option<String>,
    after: String,
    /// Whether its current context is ours.
    pub(super) is_current: bool,
}

impl Added {
    /// Adds our entries to a file. Those that earlier processes of ours left there for nothing go.
    pub(super) fn to(path: &Path, ours: Ours) -> Result<Self> {
        let path = target(path);
        let _lock = Lock::take(&path)?;
        let unusable = || format!("cannot use the kubeconfig `{}`", path.display());
        let found = read(&path).with_context(unusable)?;
        let is_dead = |mark: &Mark| ours.replaces(mark) || mark.data.is_none() && !answers(&mark.server);
        let config = found.as_deref().map(parsed).transpose().with_context(unusable)?.unwrap_or_default();
        let (base, merged) = entries::merged(&config, &ours, is_dead).with_context(unusable)?;
        let before = found.map(|text| if base == config { text } else { text::edited(&text, &base) });
        let after = text::edited(before.as_deref().unwrap_or_default(), &merged);
        write(&path, &after)?;
        let is_current = merged.get("current-context").and_then(Value::as_str) == Some(&ours.name);
        Ok(Self { path, ours, before, after, is_current })
    }

    /// Takes our entries out again, if they are still there.
    pub(super) fn take_back(&self) -> Result<()> {
        let path = &self.path;
        let _lock = Lock::take(path)?;
        let Some(found) = read(path)? else { return Ok(()) };
        if found == self.after {
            return self.before.as_ref().map_or_else(|| remove(path), |before| write(path, before));
        }
        // Somebody else changed it since.
        let config = parsed(&found)?;
        let left = entries::without(&config, &self.ours.mark);
        match () {
            () if left == config => Ok(()),
            () if self.before.is_none() && entries::is_empty(&left) => remove(path),
            () => write(path, &text::edited(&found, &left)),
        }
    }
}

/// Whether somebody on this machine answers there. Where that cannot be known they do.
fn answers(server: &str) -> bool {
    let Some(port) = server.strip_prefix("https://127.0.0.1:").and_then(|port| port.parse().ok()) else { return true };
    let found = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), MOMENT);
    found.err().is_none_or(|error| error.kind() != ErrorKind::ConnectionRefused)
}

/// What a link leads to: it is the file that is replaced, not the link.
fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The text of a file, if there is one.
fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(anyhow!("{error}; hint: choose another with --kubeconfig")),
    }
}

fn parsed(text: &str) -> Result<Value> {
    let yaml = yaml::parse(text.as_bytes());
    let yaml = yaml.map_err(|error| anyhow!("it is not YAML: {error}; hint: choose another with --kubeconfig"))?;
    if text::has_more_documents(text) {
        bail!("it holds several documents; hint: choose another with --kubeconfig");
    }
    let value = yaml.node.into_value();
    value.map_err(|number| anyhow!("it holds `{number}`; hint: choose another with --kubeconfig"))
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_private(path, text.as_bytes()).with_context(|| {
        format!("cannot write the kubeconfig `{}`; hint: choose another with --kubeconfig", path.display())
    })
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).with_context(|| format!("cannot remove `{}`", path.display()))
}

/// What kubectl takes before it changes the same file.
struct Lock(PathBuf);

impl Lock {
    fn take(path: &Path) -> Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = PathBuf::from(name);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).with_context(|| {
                format!("cannot make the folder `{}`; hint: choose another with --kubeconfig", folder.display())
            })?;
        }
        for _ in 0..100 {
            match File::options().write(true).create_new(true).open(&lock) {
                Ok(_) => return Ok(Self(lock)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!(
                            "cannot write beside the kubeconfig `{}`; hint: choose another with --kubeconfig",
                            path.display()
                        )
                    });
                }
            }
        }
        bail!(
            "somebody is changing the kubeconfig `{}`; hint: if nobody is, remove `{}`",
            path.display(),
            lock.display()
        )
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
