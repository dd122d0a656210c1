//! The twin suite: the same requests to the real kube-apiserver and to our server, and the answers field by field.
//!
//! `cases/*.http` hold the requests, in the order they are sent. Each file has a namespace of its own, `{{ns}}`, and names
//! what it creates outside of it after that, so that files run side by side on one server.
//!
//! ```text
//! ### what it shows -> 201              the title, and the status that Kubernetes answers with
//! # as: alice                           impersonates; also `# groups: a, b`, `# token: T`, `# anonymous`
//! # capture: rv = .metadata.resourceVersion    for `{{rv}}` in later requests; `# capture if there:` keeps the last one
//! # wait: .status.phase == "Active"     repeats the request until that holds (also `status 404`, `.path`, `not .path`)
//! # watch: NAME                         leaves the answer open; `COLLECT NAME 3` reads three events of it and compares them
//! # ignore: .path because reason        the last resort; `*` stands for any text
//! # served only                         of discovery, only the groups that we serve
//! # base64                              the body is written in base64
//! POST /api/v1/namespaces/{{ns}}/configmaps
//! Accept: application/json              the default, as `Content-Type`; an empty value leaves a header off
//!
//! {"metadata": {"name": "a"}}
//! ```
//!
//! `hostile.rs` makes up those that are too large to write down.
//!
//! Ids, versions, times, ports and addresses may differ, but must be used alike. Everything else that differs fails, unless
//! `known-differences.txt` lists it with a reason; what is listed there and does not differ fails as well.
//!
//! `ROLEWRIGHT_TWIN_ONLY=rbac,patch` runs the files that begin so; `ROLEWRIGHT_TWIN` names another twin, see `ours.rs`;
//! `ROLEWRIGHT_TWIN_RANDOM=N` plays N random sequences instead of 16, `PROPTEST_RNG_SEED` chooses them;
//! `ROLEWRIGHT_TWIN_TRANSCRIPTS=FOLDER` writes down what the real server answered.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "a table of what was compared, and a word on what was not")]

mod audited;
mod compare;
mod exchange;
mod hostile;
mod judge;
mod known;
mod normalise;
mod ours;
mod path;
mod random;
mod report;
mod run;
mod served;
mod target;
mod text;
mod variables;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use rolewright_testkit::apiserver::ApiServer;
use tokio::time::sleep;

use self::audited::Logs;
use self::exchange::Script;
use self::known::Known;
use self::report::Report;
use self::target::{Ask, Target};

/// Scripts that run side by side. Most of the time they wait.
const TOGETHER: usize = 32;

/// Random sequences, unless the environment says how many.
const SEQUENCES: u64 = 16;

#[tokio::test(flavor = "multi_thread")]
async fn both_servers_answer_the_same() -> Result<()> {
    let logs = Logs::new()?;
    let Some(server) = ApiServer::start_with("the twin suite", &logs.arguments())? else { return Ok(()) };
    let Some(ours) = ours::ours(&logs).await? else {
        println!("skipped: the twin suite has no second server yet");
        return Ok(());
    };
    ensure!(server.controllers, "the twin suite needs Kubernetes' controllers, which come with the testbed");
    let real = Target::from_kubeconfig(&server.ready.kubeconfig).await?;
    let ready = tokio::join!(settled(&real), settled(&ours.target));
    ready.0.context("the real server")?;
    ready.1.context("our server")?;
    let known = Known::parse(&std::fs::read_to_string(folder().join("known-differences.txt"))?)?;
    let mut scripts = scripts()?;
    let written = scripts.len();
    scripts.extend(hostile::scripts().into_iter().filter(|script| is_wanted(&script.name)));
    let (together, alone) = scripts.split_at(written);
    let play = |script| {
        let (real, ours): (&Target, &Target) = (&real, &ours.target);
        async move { run::run(script, real, ours).await.with_context(|| script.name.clone()) }
    };
    let ran = stream::iter(together).map(play);
    let count = number("ROLEWRIGHT_TWIN_RANDOM").unwrap_or(SEQUENCES);
    let seed = number("PROPTEST_RNG_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let drawn = random::sequences(seed, count, &real, &ours.target);
    let (mut ran, drawn) = tokio::try_join!(ran.buffered(TOGETHER).try_collect::<Vec<_>>(), drawn)?;
    // They keep both servers too busy to answer anybody else in time.
    for script in alone {
        ran.push(play(script).await?);
    }
    if ours.audits() {
        logs.compare(&mut ran).await?;
    }
    let mut report = Report::default();
    for (script, played) in scripts.iter().zip(&ran) {
        report.add(&script.name, played, &known);
        if let Some(folder) = std::env::var_os("ROLEWRIGHT_TWIN_TRANSCRIPTS") {
            std::fs::write(Path::new(&folder).join(&script.name), report::transcript(&played.outcomes))?;
        }
    }
    let names: Vec<String> = scripts.iter().map(|script| script.name.clone()).collect();
    for entry in known.stale(&names) {
        report.fail(&format!("known-differences.txt excuses what does not differ any more: {entry}"));
    }
    drawn.findings.iter().for_each(|finding| report.fail(finding));
    println!("{}\n{count} random sequences, seed {seed}, by status: {:?}", report.text(), drawn.statuses);
    ensure!(report.failures == 0, "{} of {} exchanges differ", report.failures, report.exchanges);
    Ok(())
}

/// The scripts, all or those that are asked for.
fn scripts() -> Result<Vec<Script>> {
    let wanted = |file: &PathBuf| is_wanted(&file.file_stem().unwrap_or_default().to_string_lossy());
    let entries = std::fs::read_dir(folder().join("cases"))?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = entries.collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "http") && wanted(file));
    files.sort();
    files.iter().map(|file| Script::read(file)).collect()
}

/// Whether a script is among those that are asked for.
fn is_wanted(name: &str) -> bool {
    std::env::var("ROLEWRIGHT_TWIN_ONLY").unwrap_or_default().split(',').any(|start| name.starts_with(start))
}

/// A number that the environment sets.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/twin")
}

/// Waits for the controllers' first round: the scripts begin with a server at rest.
async fn settled(target: &Target) -> Result<()> {
    const LIMIT: Duration = Duration::from_secs(20);
    let headers = vec![("Authorization".to_owned(), format!("Bearer {}", target.token()))];
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin";
    let ask = Ask { method: "GET".into(), target: path.into(), headers, body: Vec::new() };
    let start = Instant::now();
    loop {
        let answer = target.send(&ask).await?;
        let role: serde_json::Value = serde_json::from_slice(&answer.body)?;
        if role["rules"].as_array().is_some_and(|rules| rules.len() > 20) {
            return Ok(());
        }
        ensure!(start.elapsed() < LIMIT, "admin is not aggregated: {role}");
        sleep(Duration::from_millis(40)).await;
    }
}
