//! A second tree to break things in.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::repository::Repository;

/// A copy of everything in the repository that could be committed.
pub(super) struct Copy<'a> {
    original: &'a Repository,
    root: PathBuf,
}

impl<'a> Copy<'a> {
    pub(super) fn new(original: &'a Repository, root: PathBuf) -> Self {
        Self { original, root }
    }

    /// Makes the copy equal to the original. Files that are already equal are not written, because cargo rebuilds what
    /// has a new time stamp.
    pub(super) fn sync(&self) -> Result<()> {
        let files: BTreeSet<PathBuf> = self.original.files()?.into_iter().map(PathBuf::from).collect();
        for file in &files {
            let from = self.original.root().join(file);
            let contents = fs::read(&from).with_context(|| format!("cannot read `{}`", from.display()))?;
            let to = self.root.join(file);
            if fs::read(&to).ok().as_ref() != Some(&contents) {
                write(&to, &contents)?;
                fs::set_permissions(&to, fs::metadata(&from)?.permissions())?;
            }
        }
        self.remove_others(&self.root, &files)
    }

    /// Replaces one file of the copy.
    pub(super) fn overwrite(&self, file: &str, contents: &str) -> Result<()> {
        write(&self.root.join(file), contents.as_bytes())
    }

    fn remove_others(&self, folder: &Path, files: &BTreeSet<PathBuf>) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Ok(relative) = path.strip_prefix(&self.root) else { continue };
            if path.is_dir() && !path.is_symlink() {
                self.remove_others(&path, files)?;
            } else if !files.contains(relative) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

fn write(path: &Path, contents: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    fs::write(path, contents).with_context(|| format!("cannot write `{}`", path.display()))
}
