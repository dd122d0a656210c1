//! Which world is asked: manifests, a cluster, or the one on top of the other.

mod ground;
mod written;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use rolewright_api::manifest::{self, Manifest, Problem};
use rolewright_controller::{connect, load};
use rolewright_core::{User, World};
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use rolewright_plan::{Event, Kind, Live, Snapshot};

use crate::cluster::ClusterArgs;
pub(crate) use written::{Written, faults};

/// Which world is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "World")]
pub(crate) struct WorldArgs {
    /// Manifests: files, folders, or - for standard input. Alone they are a world of their own, on top of the roles that
    /// every cluster has; no cluster is contacted
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    filename: Vec<PathBuf>,
    /// Look into the folders of folders
    #[arg(short = 'R', long)]
    recursive: bool,
    /// What is underneath: live, a file or folder, or git:REV:PATH
    #[arg(long, value_name = "WORLD")]
    base: Option<String>,
    /// What the manifests take the place of: its objects are removed first. A file or folder, or git:REV:PATH
    #[arg(long, value_name = "WORLD")]
    replaces: Option<String>,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// The namespace of manifests that name none
    #[arg(short = 'n', long, default_value = "default", value_name = "NAME")]
    namespace: String,
}

/// A world: what is underneath, and what is put on it.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// All objects underneath, kind by kind.
    pub(crate) ground: Vec<Event>,
    /// Whether the ground is a cluster, and not what somebody wrote.
    pub(crate) live: bool,
    /// Whether something was put on the ground.
    pub(crate) has_files: bool,
    /// Whether nobody said what is underneath.
    pub(crate) is_fresh: bool,
    /// What the manifests say.
    pub(crate) files: Vec<Written>,
    /// What they take the place of.
    pub(crate) replaced: Vec<Written>,
    /// Kinds of manifests that are not looked at.
    pub(crate) ignored: BTreeSet<String>,
    /// What could not be read.
    pub(crate) missing: Vec<String>,
    /// Who we are on the cluster.
    pub(crate) me: Option<User>,
}

/// Manifests that cannot be used.
#[derive(Debug)]
struct Unusable(Vec<Problem>);

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\nerror: "))
    }
}

impl std::error::Error for Unusable {}

impl WorldArgs {
    /// Reads the world: these kinds, and always roles, bindings and namespaces.
    pub(crate) fn load(&self, kinds: impl IntoIterator<Item = &'static Kind>) -> Result<Place> {
        let mut kinds: BTreeSet<&'static Kind> = kinds.into_iter().collect();
        kinds.extend([&CLUSTER_ROLE, &ROLE, &CLUSTER_ROLE_BINDING, &ROLE_BINDING, &NAMESPACE]);
        let has_files = !self.filename.is_empty() || self.replaces.is_some();
        let mut place = Place { has_files, ..Place::default() };
        let sort = |manifests: Vec<Manifest>, place: &mut Place| {
            written::sort(manifests, &kinds, &self.namespace, &mut place.ignored).map_err(Unusable)
        };
        if !self.filename.is_empty() {
            let manifests = manifest::read_paths(&self.filename, self.recursive).map_err(Unusable)?;
            place.files = sort(manifests, &mut place)?;
        }
        if let Some(world) = &self.replaces {
            place.replaced = sort(self.manifests_of(world).context("cannot read --replaces")?, &mut place)?;
        }
        match self.base.as_deref() {
            Some("live") => self.load_live(&kinds, &mut place)?,
            Some(world) => {
                let mut ignored = BTreeSet::new();
                let manifests = self.manifests_of(world).context("cannot read --base")?;
                let below = written::sort(manifests, &kinds, &self.namespace, &mut ignored).map_err(Unusable)?;
                place.ground = ground::closed(&kinds, below, &place.files);
            }
            None if self.filename.is_empty() => self.load_live(&kinds, &mut place)?,
            None => {
                place.ground = ground::closed(&kinds, Vec::new(), &place.files);
                place.is_fresh = true;
            }
        }
        Ok(place)
    }

    fn manifests_of(&self, world: &str) -> Result<Vec<Manifest>> {
        if world == "live" {
            bail!("a live cluster can only be underneath; hint: --base live");
        }
        let read = match world.strip_prefix("git:") {
            Some(rest) => {
                let (revision, path) = rest.split_once(':').ok_or_else(|| {
                    anyhow!("`{world}` names no path; hint: write git:REV:PATH, such as git:main:deploy")
                })?;
                manifest::read_git(Path::new("."), revision, path)
            }
            None => manifest::read_paths(&[PathBuf::from(world)], self.recursive),
        };
        Ok(read.map_err(Unusable)?)
    }

    fn load_live(&self, kinds: &BTreeSet<&'static Kind>, place: &mut Place) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        runtime.block_on(async {
            let client =
                self.cluster.connect().await.context("no cluster; hint: -f PATH asks about manifests without one")?;
            let loaded = load::load(&client, kinds.iter().copied()).await.context("cannot read the cluster")?;
            place.ground = loaded.events;
            place.missing = loaded.missing.iter().map(ToString::to_string).collect();
            // Who we are matters only for what we would write.
            place.me = connect::whoami(&client).await.ok();
            place.live = true;
            Ok(())
        })
    }
}

/// The roles and bindings of a snapshot.
pub(crate) fn rbac_of(snapshot: &Snapshot) -> World {
    let roles = [&CLUSTER_ROLE, &ROLE].into_iter().flat_map(|kind| snapshot.all(kind).filter_map(Live::role));
    let bindings = [&CLUSTER_ROLE_BINDING, &ROLE_BINDING];
    World::new(roles, bindings.into_iter().flat_map(|kind| snapshot.all(kind).filter_map(Live::binding)))
}
