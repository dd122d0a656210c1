//! The pages that the program itself writes: docs/reference and the manual.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::Output;
use crate::process;
use crate::repository::Repository;

/// Builds the program and asks it.
pub(super) fn pages(repository: &Repository) -> Result<Vec<Output>> {
    let mut cargo = process::cargo();
    cargo.args(["run", "--quiet", "--package", "rolewright", "--all-features", "--", "reference"]);
    let text = process::stdout_of(cargo.current_dir(repository.root()))?;
    let pages: BTreeMap<String, String> =
        serde_json::from_str(&text).context("`rolewright reference` prints no pages")?;
    Ok(pages.into_iter().map(|(path, contents)| Output { path, contents }).collect())
}
