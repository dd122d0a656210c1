//! `cargo xtask tidy`: the rules of this repository that neither rustc nor clippy can know.
//!
//! Each rule is one file with one function from what it reads to findings, so that each can be shown to fail in a unit
//! test without touching the disk.

mod attributes;
mod duplicates;
mod inherit;
mod layers;
mod licence;
mod manifest;
mod mask;
mod names;
mod purity;
mod size;
mod spdx;
mod text;
mod words;

#[cfg(test)]
mod fake;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::metadata::{Metadata, Package};
use crate::repository::Repository;
use crate::{Outcome, print};

/// A broken rule: where, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    file: String,
    line: Option<usize>,
    message: String,
    fix: String,
}

impl Finding {
    fn new(
        file: impl Into<String>,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { file: file.into(), line: line.into(), message: message.into(), fix: fix.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}\n  fix: {}", self.message, self.fix)
    }
}

/// Checks everything, prints what is wrong and how to mend it.
pub(crate) fn run(repository: &Repository) -> Result<Outcome> {
    let files = repository.files()?;
    let mut findings = Vec::new();
    for file in &files {
        findings.extend(names::check(file));
        findings.extend(check_contents(repository, file)?);
    }
    findings.extend(check_workspace(repository)?);

    for finding in &findings {
        print::out(finding);
    }
    if findings.is_empty() {
        print::err(format_args!("tidy: {} files, nothing to report", files.len()));
        return Ok(Outcome::Clean);
    }
    print::err(format_args!("tidy: {} finding(s) in {} files", findings.len(), files.len()));
    Ok(Outcome::Findings)
}

fn check_contents(repository: &Repository, file: &str) -> Result<Vec<Finding>> {
    let bytes = fs::read(repository.path(file)).with_context(|| format!("cannot read `{file}`"))?;
    // Pictures and archives have no lines; everything of ours that has lines is UTF-8.
    let Ok(contents) = String::from_utf8(bytes) else { return Ok(Vec::new()) };
    let mut findings = text::check(file, &contents);
    findings.extend(size::check(file, &contents));
    if Path::new(file).extension().is_some_and(|extension| extension == "rs") {
        let code = mask::code_only(&contents);
        findings.extend(attributes::check(file, &code));
        findings.extend(purity::check(file, &code));
    }
    Ok(findings)
}

fn check_workspace(repository: &Repository) -> Result<Vec<Finding>> {
    let metadata = Metadata::full(repository)?;
    let mut findings = inherit::check_root("Cargo.toml", &repository.read("Cargo.toml")?);
    for member in metadata.members() {
        let manifest = relative(repository, member);
        findings.extend(inherit::check_member(&manifest, &repository.read(&manifest)?));
    }
    findings.extend(layers::check(&metadata, |member, dependency| {
        let text = repository.read(&relative(repository, member)).ok()?;
        inherit::line_of(&text, dependency)
    }));
    findings.extend(duplicates::check(&metadata, duplicates::TOLERATED));
    findings.extend(licence::check(&metadata));
    Ok(findings)
}

/// The manifest's path as one would type it in the checkout.
fn relative(repository: &Repository, member: &Package) -> String {
    let path = member.manifest_path.strip_prefix(repository.root()).unwrap_or(&member.manifest_path);
    path.to_string_lossy().into_owned()
}
