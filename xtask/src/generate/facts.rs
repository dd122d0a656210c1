//! Where the facts come from: Kubernetes' code if it can be asked, else the committed files.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Output;
use super::server::Texts;
use crate::repository::Repository;
use crate::scratch::Scratch;
use crate::{print, process};

const FILES: [&str; 6] =
    ["bootstrap.json", "kinds.json", "fields.json", "strategies.json", "columns.json", "flows.json"];

/// What is known about the machine we run on.
pub(super) struct Surroundings {
    /// A testbed that somebody already built.
    testbed: Option<PathBuf>,
    has_go: bool,
    in_ci: bool,
}

impl Surroundings {
    pub(super) fn read() -> Self {
        Self {
            testbed: env::var_os("ROLEWRIGHT_TESTBED").filter(|path| !path.is_empty()).map(PathBuf::from),
            has_go: Command::new("go").arg("version").output().is_ok_and(|output| output.status.success()),
            in_ci: env::var("CI").is_ok_and(|value| value == "true"),
        }
    }
}

/// The facts to generate from.
pub(super) struct Facts {
    pub(super) bootstrap: String,
    pub(super) flows: String,
    pub(super) server: ServerFacts,
    /// What the files under `facts/` must contain; empty when they could not be refreshed.
    pub(super) refreshed: Vec<Output>,
}

pub(super) fn gather(repository: &Repository, surroundings: &Surroundings) -> Result<Facts> {
    let Some(testbed) = testbed(repository, surroundings)? else {
        print::err("gen: there is no Go here, so facts/*.json were not refreshed; continuing from the committed ones");
        let committed = FILES.iter().map(|name| committed(repository, name)).collect::<Result<Vec<_>>>()?;
        return Facts::from(&committed, Vec::new());
    };
    let folder = Scratch::new("facts")?;
    let mut command = Command::new(testbed);
    process::stdout_of(command.args(["facts", "--out"]).arg(folder.path()).stderr(Stdio::inherit()))?;
    let refreshed = FILES.iter().map(|name| read(folder.path(), name)).collect::<Result<Vec<_>>>()?;
    let files: Vec<_> = refreshed
        .iter()
        .map(|output| Output { path: output.path.clone(), contents: output.contents.clone() })
        .collect();
    Facts::from(&files, refreshed)
}

impl Facts {
    fn from(files: &[Output], refreshed: Vec<Output>) -> Result<Self> {
        let of = |name: &str| {
            let path = format!("facts/{name}");
            let file = files.iter().find(|file| file.path == path).with_context(|| format!("there is no `{path}`"))?;
            Ok::<_, anyhow::Error>(file.contents.clone())
        };
        let server = ServerFacts {
            kinds: of("kinds.json")?,
            fields: of("fields.json")?,
            strategies: of("strategies.json")?,
            columns: of("columns.json")?,
        };
        Ok(Self { bootstrap: of("bootstrap.json")?, flows: of("flows.json")?, server, refreshed })
    }
}

/// The facts behind the server's tables.
pub(super) struct ServerFacts {
    kinds: String,
    fields: String,
    strategies: String,
    columns: String,
}

impl ServerFacts {
    pub(super) fn texts(&self) -> Texts<'_> {
        let Self { kinds, fields, strategies, columns } = self;
        Texts { kinds, fields, strategies, columns }
    }
}

fn committed(repository: &Repository, name: &str) -> Result<Output> {
    let path = format!("facts/{name}");
    let contents = repository.read(&path).context("hint: install Go, then `cargo xtask gen`")?;
    Ok(Output { path, contents })
}

/// The testbed's binary, built if need be; `None` where it cannot be.
fn testbed(repository: &Repository, surroundings: &Surroundings) -> Result<Option<PathBuf>> {
    if let Some(given) = &surroundings.testbed {
        return Ok(Some(given.clone()));
    }
    if !surroundings.has_go {
        if surroundings.in_ci {
            bail!("there is no Go, and with CI=true the facts must be compared with Kubernetes' own code");
        }
        return Ok(None);
    }
    // Its stderr is passed on: a first build takes minutes and says so.
    let mut build = Command::new(repository.path("testbed/build.sh"));
    let printed = process::stdout_of(build.current_dir(repository.root()).stderr(Stdio::inherit()))?;
    let path = printed.lines().last().map(str::trim).filter(|line| !line.is_empty());
    Ok(Some(PathBuf::from(path.context("`testbed/build.sh` printed no path")?)))
}

fn read(folder: &Path, name: &str) -> Result<Output> {
    let contents =
        fs::read_to_string(folder.join(name)).with_context(|| format!("`testbed facts` wrote no `{name}`"))?;
    Ok(Output { path: format!("facts/{name}"), contents })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const NOWHERE: Surroundings = Surroundings { testbed: None, has_go: false, in_ci: false };

    fn script(path: &Path, body: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    const WRITES_ALL: &str = "test $1 = facts && cd $3 && echo 1 > bootstrap.json && echo 2 > kinds.json \
        && echo 3 > fields.json && echo 4 > strategies.json && echo 5 > columns.json && echo 6 > flows.json";

    #[test]
    fn without_go_the_committed_facts_are_used() {
        let scratch = Scratch::new("facts-test").unwrap();
        let repository = Repository::at(scratch.path());
        assert!(gather(&repository, &NOWHERE).is_err(), "nothing is committed yet");
        fs::create_dir(repository.path("facts")).unwrap();
        for name in FILES {
            fs::write(repository.path("facts").join(name), "committed").unwrap();
        }
        let facts = gather(&repository, &NOWHERE).unwrap();
        assert_eq!((facts.bootstrap.as_str(), facts.refreshed.len()), ("committed", 0));
    }

    #[test]
    fn without_go_ci_fails() {
        let scratch = Scratch::new("facts-test").unwrap();
        let in_ci = Surroundings { in_ci: true, ..NOWHERE };
        let error = gather(&Repository::at(scratch.path()), &in_ci).err().unwrap().to_string();
        assert!(error.contains("there is no Go"), "{error}");
    }

    #[test]
    fn given_testbed_is_asked() {
        let scratch = Scratch::new("facts-test").unwrap();
        let binary = scratch.path().join("testbed");
        script(&binary, WRITES_ALL);
        let given = Surroundings { testbed: Some(binary), in_ci: true, ..NOWHERE };
        let facts = gather(&Repository::at(scratch.path()), &given).unwrap();
        let paths: Vec<_> = facts.refreshed.iter().map(|output| output.path.as_str()).collect();
        assert_eq!(paths, FILES.map(|name| format!("facts/{name}")));
        assert_eq!(facts.bootstrap, "1\n");
    }

    #[test]
    fn with_go_the_testbed_is_built() {
        let scratch = Scratch::new("facts-test").unwrap();
        let repository = Repository::at(scratch.path());
        script(&repository.path("built"), WRITES_ALL);
        let path = repository.path("built");
        script(&repository.path("testbed/build.sh"), &format!("echo {}", path.display()));
        let facts = gather(&repository, &Surroundings { has_go: true, ..NOWHERE }).unwrap();
        assert_eq!(facts.refreshed.len(), FILES.len());
    }

    #[test]
    fn missing_fact_is_named() {
        let scratch = Scratch::new("facts-test").unwrap();
        let binary = scratch.path().join("testbed");
        script(&binary, "cd $3 && echo 1 > bootstrap.json");
        let given = Surroundings { testbed: Some(binary), ..NOWHERE };
        let error = gather(&Repository::at(scratch.path()), &given).err().unwrap().to_string();
        assert_eq!(error, "`testbed facts` wrote no `kinds.json`");
    }
}
