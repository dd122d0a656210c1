//! The checkout: where it is and which files belong to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};

use crate::process;

/// The root folder of the workspace.
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The checkout that this run of `cargo xtask` belongs to.
    pub(crate) fn find() -> Result<Self> {
        // Read at run time: a binary in a shared target folder must not remember the checkout that built it.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
        let root = Path::new(&manifest).parent().context("the folder of xtask has no parent")?;
        Ok(Self::at(root))
    }

    /// A checkout at a known place.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The full path of a file of the repository.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A file as text.
    pub(crate) fn read(&self, relative: &str) -> Result<String> {
        let path = self.path(relative);
        fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))
    }

    /// Every file that is or could be committed: tracked ones and new ones that are not ignored, sorted.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let listed = process::stdout_of(
            Command::new("git")
                .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
                .current_dir(&self.root),
        )?;
        let unique: BTreeSet<&str> = listed.split('\0').filter(|name| !name.is_empty()).collect();
        // A file deleted but not yet committed is still listed; a submodule is listed as a folder.
        Ok(unique.into_iter().filter(|name| self.path(name).is_file()).map(str::to_owned).collect())
    }
}
