//! Programs of other projects that work with RBAC and custom resources: they run unchanged on the real server and on ours.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The environment variable that names Crossplane's RBAC manager; `make test` sets it.
const BINARY: &str = "ROLEWRIGHT_CROSSPLANE";

/// The namespace that it believes to run in.
const NAMESPACE: &str = "crossplane-system";

/// A project whose custom resource definitions the build of `ROLEWRIGHT_CROSSPLANE` keeps beside it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Project {
    /// Crossplane v2.4.0
    Crossplane,
    /// The API of Open Cluster Management v1.3.0
    Ocm,
}

/// Crossplane's RBAC manager, if it is built.
#[derive(Clone, Debug)]
pub struct Crossplane {
    binary: PathBuf,
}

/// A running manager. It ends when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: Option<ChildStdin>,
}

impl Crossplane {
    /// The manager, or a word on stderr that `suite` is skipped because there is none. In CI that is an error.
    #[expect(clippy::print_stderr, reason = "a skipped suite must be seen")]
    pub fn find(suite: &str) -> Result<Option<Self>> {
        let found: Option<OsString> = std::env::var_os(BINARY);
        if found.is_none() {
            if std::env::var("CI").is_ok_and(|ci| ci == "true") {
                bail!("{BINARY} is not set in CI; run the tests with `make test`");
            }
            eprintln!("skipped: {suite} needs Crossplane's Go code; run `make test` with Go installed");
        }
        Ok(found.map(|binary| Self { binary: binary.into() }))
    }

    /// Starts `crossplane rbac start` for the superuser of a kubeconfig; what it logs goes to the file.
    pub fn rbac(&self, kubeconfig: &Path, log: &Path) -> Result<Running> {
        self.start(&[], kubeconfig, log)
    }

    /// The same with `--leader-election`: it works once it holds its lease.
    pub fn rbac_elected(&self, kubeconfig: &Path, log: &Path) -> Result<Running> {
        self.start(&[&format!("--elect-in={NAMESPACE}")], kubeconfig, log)
    }

    fn start(&self, arguments: &[&str], kubeconfig: &Path, log: &Path) -> Result<Running> {
        let log = std::fs::File::create(log).with_context(|| log.display().to_string())?;
        let mut command = Command::new(&self.binary);
        // A program is known to the server by its name, and that of the real one is not ours.
        command.arg0("crossplane").arg("--debug").args(arguments);
        command.args(["rbac", "start", "--provider-clusterrole=crossplane:allowed-provider-permissions"]);
        command.env("KUBECONFIG", kubeconfig).env("POD_NAMESPACE", NAMESPACE);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        let mut child = command.spawn().with_context(|| format!("`{}` does not start", self.binary.display()))?;
        let input = child.stdin.take();
        Ok(Running { child, input })
    }

    /// The files with a project's definitions, in a fixed order.
    pub fn definitions(&self, project: Project) -> Result<Vec<PathBuf>> {
        let mut folder = self.binary.clone().into_os_string();
        folder.push(match project {
            Project::Crossplane => ".crds/crossplane",
            Project::Ocm => ".crds/ocm",
        });
        let folder = PathBuf::from(folder);
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        files.sort();
        ensure!(!files.is_empty(), "`{}` is empty; hint: build Crossplane's manager again", folder.display());
        Ok(files)
    }
}

impl Running {
    /// An error if it has ended by itself.
    pub fn alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("Crossplane's manager ended with {status}"),
            None => Ok(()),
        }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it and waits for that.
    pub fn end(&mut self) -> Result<()> {
        drop(self.input.take());
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing can be done about a child that will not be waited for.
        let _ = self.end();
    }
}
