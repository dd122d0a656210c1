//! Generated code looks like written code, so that `cargo fmt` has nothing to say about it.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::repository::Repository;

/// The code as rustfmt lays it out under the workspace's settings.
pub(super) fn format(repository: &Repository, code: &str) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--config-path"])
        .arg(repository.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start `rustfmt`; hint: it comes with the toolchain")?;
    // rustfmt reads all before it writes, so writing first cannot block both sides.
    child.stdin.take().context("rustfmt has no stdin")?.write_all(code.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("`rustfmt` refused the generated code ({})", output.status);
    }
    String::from_utf8(output.stdout).context("`rustfmt` printed something that is not UTF-8")
}
