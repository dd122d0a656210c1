//! What `cargo metadata` says about the workspace and all that it depends on.

mod graph;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

pub(crate) use self::graph::Graph;
use crate::process;
use crate::repository::Repository;

/// The part of cargo's answer that the tasks read.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: BTreeSet<String>,
    /// Absent when only members were asked for.
    #[serde(default)]
    resolve: Option<Resolve>,
}

/// One crate at one version.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(default)]
    pub(crate) features: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
}

/// A dependency as the manifest declares it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    #[serde(default, deserialize_with = "null_as_normal")]
    pub(crate) kind: Kind,
    pub(crate) optional: bool,
    pub(crate) uses_default_features: bool,
    pub(crate) features: Vec<String>,
}

/// What a dependency is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    #[default]
    Normal,
    Build,
    Dev,
}

/// Something cargo builds from a package: a library, a binary, a bench.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Default, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Default, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Default, Deserialize)]
struct EdgeKind {
    #[serde(default, deserialize_with = "null_as_normal")]
    kind: Kind,
}

/// Cargo writes `null` for an ordinary dependency.
fn null_as_normal<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    Ok(Option::<Kind>::deserialize(deserializer)?.unwrap_or_default())
}

impl Metadata {
    /// The workspace with everything it can reach, optional dependencies included. Never asks the network and never
    /// changes the lock file.
    pub(crate) fn full(repository: &Repository) -> Result<Self> {
        Self::ask(repository, &["--all-features", "--offline", "--locked"])
            .context("hint: `cargo fetch --locked` brings what the lock file names")
    }

    /// Only the members of the workspace, as their manifests say.
    pub(crate) fn members_only(repository: &Repository) -> Result<Self> {
        Self::ask(repository, &["--no-deps", "--offline"])
    }

    fn ask(repository: &Repository, args: &[&str]) -> Result<Self> {
        let text = process::stdout_of(
            process::cargo().args(["metadata", "--format-version", "1"]).args(args).current_dir(repository.root()),
        )?;
        serde_json::from_str(&text).context("cannot read what `cargo metadata` printed")
    }

    /// The members of the workspace, by name.
    pub(crate) fn members(&self) -> Vec<&Package> {
        let mut members: Vec<_> = self.packages.iter().filter(|package| self.is_member(package)).collect();
        members.sort_by(|a, b| a.name.cmp(&b.name));
        members
    }

    /// Everything that others wrote.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| !self.is_member(package))
    }

    fn is_member(&self, package: &Package) -> bool {
        self.workspace_members.contains(&package.id)
    }
}
