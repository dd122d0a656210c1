//! Running a script on both servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_testkit::testbed;
use tokio::io::AsyncWriteExt;
use tokio::time::{sleep, timeout};

use super::plain::{fields, plain};
use super::script::{Command, Script, Step, words};
use crate::servers::Home;

/// No command takes longer.
const PATIENCE: Duration = Duration::from_mins(1);
/// What is waited for comes sooner.
const LIMIT: Duration = Duration::from_secs(30);

/// What came of a command.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    exit: i32,
    output: String,
    errors: String,
}

/// One of the two servers, with the files and variables of the script.
struct Side<'a> {
    home: &'a Home,
    folder: PathBuf,
    variables: BTreeMap<String, String>,
}

/// Runs every step, and tells what differs.
#[expect(clippy::print_stdout, reason = "what was the same, if asked for")]
pub(super) async fn run(script: &Script, real: &Home, ours: &Home, folder: &Path) -> Result<Vec<String>> {
    let namespace = format!("kubectl-{}", script.name);
    let mut sides = Vec::new();
    for home in [real, ours] {
        sides.push(Side::new(home, folder.join(home.name), &namespace).await?);
    }
    let show = std::env::var_os("ROLEWRIGHT_KUBECTL_SHOW").is_some();
    let mut findings = Vec::new();
    for step in &script.steps {
        match step {
            Step::File { name, text } => {
                for side in &sides {
                    std::fs::write(side.folder.join(name), side.fill(text))?;
                }
            }
            Step::Command(command) => {
                let [real, ours] = sides.as_mut_slice() else { anyhow::bail!("two sides") };
                let (real, ours) =
                    tokio::try_join!(real.play(command), ours.play(command)).with_context(|| command.title.clone())?;
                let text =
                    format!("{}\n  kubectl {}\n  {}", command.title, command.line, difference(command, &real, &ours));
                if real == ours && real.exit == command.exit {
                    if show {
                        println!(
                            "{}: {}\n$ kubectl {}\n{}{}",
                            script.name, command.title, command.line, real.output, real.errors
                        );
                    }
                } else {
                    findings.push(text);
                }
            }
        }
    }
    Ok(findings)
}

fn difference(command: &Command, real: &Outcome, ours: &Outcome) -> String {
    let mut out = format!("promised: exit {}, real: {}, ours: {}", command.exit, real.exit, ours.exit);
    for (name, real, ours) in [("stdout", &real.output, &ours.output), ("stderr", &real.errors, &ours.errors)] {
        if real == ours {
            out = format!("{out}\n  {name}, both:\n{}", indented(real));
            continue;
        }
        // The common beginning tells where to look.
        let same = real.lines().zip(ours.lines()).take_while(|(a, b)| a == b).count();
        let rest = |text: &str| text.lines().skip(same.saturating_sub(2)).take(30).collect::<Vec<_>>().join("\n");
        let (real, ours) = (indented(&rest(real)), indented(&rest(ours)));
        out = format!("{out}\n  {name} after {same} lines\n  real:\n{real}\n  ours:\n{ours}");
    }
    out
}

fn indented(text: &str) -> String {
    text.lines().take(40).map(|line| format!("    | {line}")).collect::<Vec<_>>().join("\n")
}

impl<'a> Side<'a> {
    /// A namespace and a folder of its own, and a kubeconfig that points into the namespace.
    async fn new(home: &'a Home, folder: PathBuf, namespace: &str) -> Result<Self> {
        std::fs::create_dir_all(&folder)?;
        std::fs::copy(&home.kubeconfig, folder.join("kubeconfig"))?;
        let variables =
            BTreeMap::from([("ns".to_owned(), namespace.to_owned()), ("server".to_owned(), home.address.clone())]);
        let side = Self { home, folder, variables };
        for line in
            [format!("create namespace {namespace}"), format!("config set-context --current --namespace={namespace}")]
        {
            let (exit, _, errors) = side.kubectl(&Command { line: line.clone(), ..Command::default() }).await?;
            ensure!(exit == 0, "{line}: {errors}");
        }
        // Pods and tokens want it.
        let account =
            Command { line: "get serviceaccount default".to_owned(), wait: Some(String::new()), ..Command::default() };
        side.repeat(&account).await?;
        Ok(side)
    }

    fn fill(&self, text: &str) -> String {
        self.variables
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
    }

    async fn play(&mut self, command: &Command) -> Result<Outcome> {
        let (exit, output, errors) = self.repeat(command).await?;
        if let Some(name) = &command.capture {
            self.variables.insert(name.clone(), output.trim().to_owned());
        }
        let tidy = |text: &str| {
            let text = match serde_json::from_str::<serde_json::Value>(text) {
                _ if command.fields_only => fields(text),
                Ok(value) if command.json => value.to_string(),
                _ => text.to_owned(),
            };
            let text = plain(&text, &self.home.address);
            let kept =
                text.lines().filter(|line| !command.dropped.iter().any(|dropped| line.contains(dropped.as_str())));
            let mut lines: Vec<&str> = kept.collect();
            if command.any_order {
                lines.sort_unstable();
            }
            lines.join("\n")
        };
        Ok(Outcome { exit, output: tidy(&output), errors: tidy(&errors) })
    }

    /// Runs a command, again and again if it is one that waits.
    async fn repeat(&self, command: &Command) -> Result<(i32, String, String)> {
        let start = Instant::now();
        loop {
            let outcome = self.kubectl(command).await?;
            let there = command.wait.as_ref().is_none_or(|text| outcome.0 == command.exit && outcome.1.contains(text));
            if there || start.elapsed() > LIMIT {
                return Ok(outcome);
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn kubectl(&self, command: &Command) -> Result<(i32, String, String)> {
        let binary = testbed::known().context("there is a testbed, since the real server runs")?;
        let mut process = tokio::process::Command::new(binary);
        process.arg("kubectl").args(words(&self.fill(&command.line))?).current_dir(&self.folder);
        process.env("KUBECONFIG", self.folder.join("kubeconfig")).env("KUBECACHEDIR", self.folder.join("cache"));
        process.env("HOME", &self.folder).env("TZ", "UTC").env_remove("KUBE_EDITOR");
        if let Some(editor) = &command.editor {
            process.env("KUBE_EDITOR", self.fill(editor));
        }
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = process.spawn()?;
        let mut input = child.stdin.take().context("stdin is piped")?;
        let text = self.fill(&command.input);
        // A command that reads nothing may be gone before this is written.
        let written = async {
            let _ = input.write_all(text.as_bytes()).await;
            drop(input);
        };
        let whole = async { tokio::join!(written, child.wait_with_output()).1 };
        let output = timeout(PATIENCE, whole).await.with_context(|| format!("no end of `{}`", command.line))??;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr)))
    }
}
