//! `rolewright up`: the engine at work on a cluster in memory.
//!
//! The story is the one that aggregation was invented for: a platform team ships a new API with one labelled role, every
//! namespace's admins and editors gain it at once, and taking it away takes it from all of them.

mod example;
mod story;

use std::io::Write;

use anyhow::Result;
use rolewright_core::{Role, RoleKey, bootstrap};

use self::story::Story;
use crate::output::HEADING;

/// Plays the example and prints what happens.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let mut story = Story::new(bootstrap::world().with(example::platform()));
    writeln!(
        out,
        "{HEADING}rolewright{HEADING:#} on a cluster in memory, as Kubernetes {} starts it",
        bootstrap::VERSION
    )?;
    writeln!(out, "{}", story.inventory())?;

    heading(out, "Before: the platform has no caches")?;
    ask_everyone(out, &story)?;

    heading(out, "A team ships the Cache API with one labelled ClusterRole")?;
    story.set(out, example::cache_editor())?;
    ask_everyone(out, &story)?;

    heading(out, "Somebody strips the verbs down to reading")?;
    story.set(out, example::cache_reader())?;
    ask_everyone(out, &story)?;

    heading(out, "The Cache API is removed again")?;
    story.remove(out, &RoleKey::cluster("cache-editor"))?;
    ask_everyone(out, &story)?;

    writeln!(out)?;
    writeln!(out, "All of it ran in this process; no cluster was contacted and nothing was written.")?;
    Ok(())
}

fn heading(out: &mut impl Write, text: &str) -> Result<()> {
    writeln!(out)?;
    Ok(writeln!(out, "{HEADING}{text}{HEADING:#}")?)
}

fn ask_everyone(out: &mut impl Write, story: &Story) -> Result<()> {
    for (user, request) in example::questions() {
        story.ask(out, &user, &request)?;
    }
    Ok(())
}

/// What a role is called in the story.
fn title(role: &Role) -> String {
    format!("{} {}", role.key.kind(), role.key.name())
}
