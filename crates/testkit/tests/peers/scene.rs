//! A story of both managers, told on the real server and on ours.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rolewright_testkit::peers::Crossplane;

use crate::chart;
use crate::manager::install;
use crate::servers::{self, Home};
use crate::world::{World, apply, undisputed};

/// Where it is told.
pub(crate) struct Scene<'a> {
    pub(crate) crossplane: &'a Crossplane,
    pub(crate) home: &'a Home,
    folder: &'a Path,
}

/// Tells it on both servers at the same time; nowhere, with a word on stderr, where there is no testbed.
pub(crate) async fn play(test: &str, story: impl AsyncFn(Scene<'_>) -> Result<()>) -> Result<()> {
    let Some(crossplane) = Crossplane::find("the peers suite")? else { return Ok(()) };
    let Some(pair) = servers::pair(test).await? else { return Ok(()) };
    let [real, ours] =
        [&pair.real, &pair.ours].map(|home| Scene { crossplane: &crossplane, home, folder: &pair.folder });
    tokio::try_join!(story(real), story(ours))?;
    std::fs::remove_dir_all(&pair.folder)?;
    Ok(())
}

impl Scene<'_> {
    /// Installs Crossplane, and a world in which nothing is in dispute.
    pub(crate) async fn begin(&self) -> Result<World> {
        install(self.crossplane, self.home).await?;
        chart::install(self.home).await?;
        let world = undisputed();
        apply(self.home, &World::default(), &world).await?;
        chart::bind(self.home).await?;
        Ok(world)
    }

    /// Where a manager writes its log.
    pub(crate) fn log(&self, number: u8) -> PathBuf {
        self.folder.join(format!("{}-{number}.log", self.home.name))
    }

    #[expect(clippy::print_stdout, reason = "which steps were taken where")]
    pub(crate) fn said(&self, step: &str) {
        println!("{}: {step}", self.home.name);
    }
}
