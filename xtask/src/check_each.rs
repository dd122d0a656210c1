//! `cargo xtask check-each`: every crate compiles alone.
//!
//! A build of the whole workspace unites features, so a crate can use one that only a sibling asked for, and nobody
//! notices until the crate is built by itself.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::metadata::{Metadata, Package};
use crate::repository::Repository;
use crate::{Outcome, print, process};

pub(crate) fn run(repository: &Repository) -> Result<Outcome> {
    let metadata = Metadata::members_only(repository)?;
    let mut failed = Vec::new();
    for member in metadata.members() {
        for selection in selections(member) {
            let shown = format!("cargo check -p {} {}", member.name, selection.join(" "));
            print::err(format_args!("check-each: {}", shown.trim_end()));
            if !check(repository, &member.name, &selection)? {
                failed.push(shown);
            }
        }
    }
    for command in &failed {
        print::out(format_args!("`{}` fails or warns", command.trim_end()));
    }
    Ok(if failed.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// The feature sets to try, as arguments. A crate without features has only one.
fn selections(member: &Package) -> Vec<Vec<String>> {
    let none = || vec!["--no-default-features".to_owned()];
    let mut all = vec![Vec::new()];
    if member.features.is_empty() {
        return all;
    }
    all.push(none());
    for feature in member.features.keys().filter(|name| *name != "default") {
        all.push([none(), vec!["--features".to_owned(), feature.clone()]].concat());
    }
    all.push(vec!["--all-features".to_owned()]);
    all
}

/// Whether the crate compiles without an error or a warning; what the compiler said is shown.
fn check(repository: &Repository, name: &str, selection: &[String]) -> Result<bool> {
    let mut command = process::cargo();
    command.args(["check", "--quiet", "--message-format", "json", "-p", name]).args(selection);
    let mut child =
        command.current_dir(repository.root()).stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let mut clean = true;
    for line in BufReader::new(child.stdout.take().context("cargo has no stdout")?).lines() {
        if let Some(text) = complaint(&line?) {
            print::err(text.trim_end());
            clean = false;
        }
    }
    Ok(child.wait()?.success() && clean)
}

#[derive(Deserialize)]
struct Message {
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
}

/// The text of an error or a warning in one line of cargo's JSON.
fn complaint(line: &str) -> Option<String> {
    let diagnostic = serde_json::from_str::<Message>(line).ok()?.message?;
    matches!(diagnostic.level.as_str(), "error" | "warning").then(|| diagnostic.rendered.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(features: &[&str]) -> Vec<String> {
        let features = features.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
        let package = Package { features, ..Package::default() };
        selections(&package).into_iter().map(|selection| selection.join(" ")).collect()
    }

    #[test]
    fn crate_without_features_is_checked_once() {
        assert_eq!(with(&[]), [""]);
    }

    #[test]
    fn every_feature_is_checked_alone_and_all_together() {
        assert_eq!(
            with(&["default", "serde", "yaml"]),
            [
                "",
                "--no-default-features",
                "--no-default-features --features serde",
                "--no-default-features --features yaml",
                "--all-features",
            ]
        );
    }

    #[test]
    fn warnings_are_complaints_and_notes_are_not() {
        let line = |level| format!(r#"{{"reason":"compiler-message","message":{{"level":"{level}","rendered":"x"}}}}"#);
        assert_eq!(complaint(&line("warning")), Some("x".to_owned()));
        assert_eq!(complaint(&line("error")), Some("x".to_owned()));
        assert_eq!(complaint(&line("note")), None);
        assert_eq!(complaint(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
