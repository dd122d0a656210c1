//! kubectl, command by command: what it prints on our server is what it prints on the real one.
//!
//! `cases/*.txt` hold the commands, in the order they run. Each file has a namespace of its own, `{{ns}}`, which is also the
//! current one, and a folder to work in.
//!
//! ```text
//! ### file a.yaml                       writes a file; its text follows
//!
//! ### what it shows -> 0                the title, and the exit code on both servers
//! # editor: sed -i s/a/b/               what `kubectl edit` runs
//! # capture: token                      keeps what is printed, for `{{token}}` in later commands
//! # wait                                repeats the command until it ends with the promised code
//! # wait: text                          .. and prints this
//! # any order                           the order of lines is left open
//! # json                                what is printed is JSON, whose order means nothing
//! # fields                              of an explanation, only names and types of fields; our server has no prose
//! # drop: text because reason           lines with this text are not compared
//! kubectl apply -f -
//!
//! what kubectl reads
//! ```
//!
//! Exit codes, and both outputs, must be the same, up to ids, versions, times, ages, addresses and tokens.
//! `ROLEWRIGHT_KUBECTL_ONLY=get,rbac` runs the files that begin so, `ROLEWRIGHT_KUBECTL_SHOW=1` prints what was the same.

mod plain;
mod run;
mod script;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use rolewright_server::Controllers;

use self::script::Script;
use crate::servers;

/// Files that run side by side.
const TOGETHER: usize = 3;

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "a table of what was compared")]
async fn kubectl_finds_no_difference() -> Result<()> {
    let Some(real) = servers::real().await? else { return Ok(()) };
    let folder = servers::folder("kubectl")?;
    // WHY: the testbed runs no publisher of the authority's certificate.
    let ours = servers::ours(Controllers { root_ca: false, ..Controllers::default() }, &folder).await?;
    let scripts = scripts()?;
    ensure!(!scripts.is_empty(), "no case begins with ROLEWRIGHT_KUBECTL_ONLY");
    let ran = stream::iter(&scripts).map(|script| {
        let (real, ours, folder) = (&real, &ours, folder.join(&script.name));
        async move { run::run(script, real, ours, &folder).await.with_context(|| script.name.clone()) }
    });
    let findings: Vec<Vec<String>> = ran.buffered(TOGETHER).try_collect().await?;
    for (script, findings) in scripts.iter().zip(&findings) {
        println!("{:<12} {:>3} commands, {} differ", script.name, script.commands(), findings.len());
        for finding in findings {
            println!("\n{}: {finding}\n", script.name);
        }
    }
    let differ: usize = findings.iter().map(Vec::len).sum();
    ensure!(differ == 0, "{differ} of {} commands differ", scripts.iter().map(Script::commands).sum::<usize>());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn scripts() -> Result<Vec<Script>> {
    let only = std::env::var("ROLEWRIGHT_KUBECTL_ONLY").unwrap_or_default();
    let wanted = |file: &PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        only.split(',').any(|start| name.starts_with(start))
    };
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/cases");
    let entries = std::fs::read_dir(cases)?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = entries.collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "txt") && wanted(file));
    files.sort();
    files.iter().map(|file| Script::read(file)).collect()
}
