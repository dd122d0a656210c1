//! What runs, and what to try: the page that `up` begins with.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use rolewright_core::bootstrap;
use rolewright_plan::{Module, Snapshot};
use serde_json::{Value, json};

use super::commands::{Command, Shell};
use super::example::{self, Scene};
use crate::output::{CHANGE, HEADING, QUIET, YES};
use crate::render::{self, count};

/// The column of headings.
const MARGIN: usize = 13;
/// Between words that stay on one line.
const TOGETHER: &str = "\u{a0}";
/// It fits every terminal.
const WIDTH: usize = 80;

/// What runs.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) url: String,
    pub(super) data: Option<PathBuf>,
    /// Whether the cluster began with the example.
    pub(super) has_example: bool,
    /// What is there to try.
    pub(super) scene: Scene,
    pub(super) shell: Shell,
    pub(super) modules: Vec<Keeps>,
    /// Roles and bindings that the manager keeps.
    pub(super) kept: usize,
    /// So many of the writes that it took are of this start.
    pub(super) written: usize,
    pub(super) ready_in: Duration,
}

/// What a module keeps roles for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keeps {
    pub(super) module: &'static str,
    pub(super) awake: bool,
    /// How many of which kind.
    pub(super) keys: Vec<(&'static str, usize)>,
}

impl Keeps {
    pub(super) fn of(module: &dyn Module, awake: bool, snapshot: &Snapshot) -> Self {
        let mut all = module.keys(snapshot);
        all.retain(|key| snapshot.get(key).is_some());
        all.sort_unstable();
        all.dedup();
        let mut keys: Vec<(&'static str, usize)> = Vec::new();
        for key in &all {
            match keys.iter_mut().find(|(kind, _)| *kind == key.kind.kind) {
                Some((_, number)) => *number += 1,
                None => keys.push((key.kind.kind, 1)),
            }
        }
        Self { module: module.name(), awake, keys }
    }

    fn words(&self) -> String {
        if !self.awake {
            return "sleeps until its kinds are served".to_owned();
        }
        let keys: Vec<String> =
            self.keys.iter().map(|(kind, number)| count(*number, kind).replace(' ', TOGETHER)).collect();
        if keys.is_empty() { "nothing to do yet".to_owned() } else { keys.join(", ") }
    }
}

impl Summary {
    /// What there is to try.
    pub(super) fn commands(&self) -> Vec<Command> {
        self.shell.commands(self.scene, self.url.rsplit(':').next().unwrap_or_default())
    }

    /// For people.
    pub(super) fn page(&self) -> String {
        let mut page = String::new();
        let seconds = self.ready_in.as_secs_f64();
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            page,
            "{HEADING}rolewright {}{HEADING:#} is {YES}ready{YES:#} after {seconds:.1} s: Kubernetes {} API and manager",
            env!("CARGO_PKG_VERSION"),
            bootstrap::VERSION
        );
        let mut row = |heading: &str, text: &str, beside: &str| {
            let mut heading = heading;
            for line in render::wrapped(text, WIDTH - MARGIN - 2) {
                let line = line.replace(TOGETHER, " ");
                let _ = write!(page, "{}  {heading:<MARGIN$}{line}", if heading.is_empty() { "\n" } else { "" });
                heading = "";
            }
            let _ = match beside {
                "" => writeln!(page),
                beside => writeln!(page, "  {QUIET}{beside}{QUIET:#}"),
            };
        };
        let kept = match &self.data {
            Some(data) => format!("kept in {}", data.display()),
            None => "in memory; --data DIR keeps it".to_owned(),
        };
        row("server", &self.url, &kept);
        row("kubeconfig", &self.shell.kubeconfig.display().to_string(), "");
        for module in &self.modules {
            row(module.module, &module.words(), "");
        }
        let written = if self.written == 0 { "nothing was left to write" } else { "just computed and written" };
        match self.kept {
            0 => row("keeps", "nothing yet", ""),
            kept => row("keeps", &format!("{kept} roles and bindings"), written),
        }
        if self.scene == Scene::Example {
            row("people", example::PEOPLE, "");
        }
        let _ = writeln!(page, "\n{HEADING}Try{HEADING:#} in another terminal{}:", self.shell.remark());
        if let Some(export) = self.shell.export() {
            let _ = writeln!(page, "  {export}");
        }
        for Command { what, line } in self.commands() {
            let _ = writeln!(page, "  {QUIET}# {what}{QUIET:#}\n  {CHANGE}{line}{CHANGE:#}");
        }
        page
    }

    /// In one line.
    pub(super) fn line(&self) -> String {
        format!("ready: {}  kubeconfig: {}", self.url, self.shell.kubeconfig.display())
    }

    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let keys = |keeps: &Keeps| -> Value {
            keeps
                .keys
                .iter()
                .map(|(kind, number)| ((*kind).to_owned(), json!(number)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let module = |keeps: &Keeps| json!({ "name": keeps.module, "awake": keeps.awake, "keys": keys(keeps) });
        json!({
            "event": "ready",
            "url": self.url,
            "kubeconfig": self.shell.kubeconfig,
            "context": self.shell.context,
            "data": self.data,
            "example": self.has_example,
            "modules": self.modules.iter().map(module).collect::<Vec<_>>(),
            "kept": self.kept,
            "written": self.written,
            "seconds": self.ready_in.as_secs_f64(),
            "export": self.shell.export(),
            "try": self.commands().iter().map(|command| json!({ "what": command.what, "command": command.line })).collect::<Vec<_>>(),
        })
    }
}
