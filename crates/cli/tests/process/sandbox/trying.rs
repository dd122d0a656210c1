//! The five commands of the page, as they are printed.

use anyhow::{Context, Result, ensure};

use super::{Home, Sandbox, until};

/// The commands of a page: what stands after `Try`, without the words between.
fn commands(page: &str) -> Result<Vec<String>> {
    let (_, rest) = page.split_once("Try in another terminal:\n").context("the page says what to try")?;
    let (rest, _) = rest.split_once("\n\n").context("the list ends")?;
    let mut commands: Vec<String> = Vec::new();
    for line in rest.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
        match commands.last_mut().filter(|last| last.ends_with('\\')) {
            Some(last) => *last = format!("{last}\n{line}"),
            None => commands.push(line.to_owned()),
        }
    }
    Ok(commands)
}

/// Begins, and runs the commands one after the other in one shell; returns what each printed.
fn tried(home: &Home, arguments: &[&str]) -> Result<(Sandbox, Vec<String>)> {
    let mut sandbox = Sandbox::start(home, arguments)?;
    sandbox.says("What happens")?;
    let page = sandbox.said();
    let commands = commands(&page)?;
    let mut said = Vec::new();
    let mut before = String::new();
    for command in &commands {
        if command.starts_with("export ") {
            before = format!("{command}\n");
            continue;
        }
        said.push(run(home, &format!("{before}{command}"))?);
    }
    ensure!(said.len() == 5, "{page}");
    ensure!(sandbox.child.try_wait()?.is_none(), "it still runs");
    Ok((sandbox, said))
}

/// Runs a command. The manager follows at once, but on a busy machine not before the next command of a program: what only
/// asks is asked again.
fn run(home: &Home, script: &str) -> Result<String> {
    let mut said = home.shell(script);
    if script.contains("rolewright explain ") {
        let answer = until("an answer", || {
            if said.is_err() {
                said = home.shell(script);
            }
            Ok(said.is_ok())
        });
        answer.with_context(|| script.to_owned())?;
    }
    said
}

#[test]
fn the_commands_of_the_page_work_as_printed() -> Result<()> {
    let home = Home::new()?;
    if !home.has_kubectl()? {
        return Ok(());
    }
    let (mut sandbox, said) = tried(&home, &[])?;
    let expected =
        ["yes", "+ User/ben", "annotated", "deleted", "crossplane:composite:databases.acme.io:aggregate-to-edit"];
    for (said, expected) in said.iter().zip(expected) {
        ensure!(said.contains(expected), "`{expected}` is not in: {said}");
    }
    // What they did is seen, each with its cause.
    for line in [
        "planned  2 writes for Namespace bank  it changed",
        "wrote    ~ ClusterRole crossplane-ns-bank-edit  +1 selector: namespace `bank` enables definitions",
        "wrote    ~ ClusterRole crossplane-ns-bank-edit  +1 rule from `crossplane:composite:databases.acme.io:aggregate-to-edit`",
        "repaired + ClusterRole crossplane-ns-shop-edit  somebody deleted it; namespace `shop` enables definitions",
    ] {
        sandbox.says(line)?;
    }
    ensure!(sandbox.end("INT")? == Some(0), "{}", sandbox.erred());
    ensure!(sandbox.erred().is_empty(), "{}", sandbox.erred());
    Ok(())
}

#[test]
fn those_of_an_empty_cluster_and_those_of_a_context_work_as_well() -> Result<()> {
    let home = Home::new()?;
    if !home.has_kubectl()? {
        return Ok(());
    }
    let (_sandbox, said) = tried(&home, &["--empty"])?;
    ensure!(said[3].contains("caches"), "{said:?}");

    let config = home.path("config");
    let other =
        "{clusters: [], users: [], contexts: [{name: prod, context: {cluster: a, user: b}}], current-context: prod}";
    std::fs::write(&config, other)?;
    let (_sandbox, said) = tried(&home, &["--kubeconfig", "config"])?;
    ensure!(said[0].contains("yes"), "{said:?}");
    Ok(())
}
