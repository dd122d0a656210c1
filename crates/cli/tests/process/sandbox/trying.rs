//! The five commands of the page, as they are printed.

use anyhow::{Context, Result, ensure};

use super::{Home, Sandbox, kubectl, text, until};

/// The commands of a page: what stands after `Try`, without the words between.
fn commands(page: &str) -> Result<Vec<String>> {
    let (_, rest) = page.split_once("\nTry in another terminal").context("the page says what to try")?;
    let (rest, _) = rest.split_once("\n\n").context("the list ends")?;
    let mut commands: Vec<String> = Vec::new();
    for line in rest.lines().skip(1).filter(|line| !line.starts_with("  #")) {
        let line = line.strip_prefix("  ").context("the list is indented")?;
        // What is indented more goes on.
        match commands.last_mut().filter(|_| line.starts_with(' ')) {
            Some(last) => *last = format!("{last}\n{line}"),
            None => commands.push(line.to_owned()),
        }
    }
    Ok(commands)
}

/// Begins, and runs the commands one after the other in one shell; returns what each printed.
fn tried(home: &Home, arguments: &[&str]) -> Result<(Sandbox, Vec<String>)> {
    tried_on(home, Sandbox::start(home, arguments)?)
}

fn tried_on(home: &Home, mut sandbox: Sandbox) -> Result<(Sandbox, Vec<String>)> {
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
    let is_ended = commands.last().is_some_and(|last| last.contains(" down "));
    ensure!(is_ended || sandbox.child.try_wait()?.is_none(), "it still runs");
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
    // Nobody but the manager aggregates there.
    ensure!(said[1].contains("(standard input)") && !said[1].contains("\nCluster "), "{}", said[1]);
    // What they did is seen, each with its cause.
    for line in [
        "planned  2 writes for Namespace bank  it changed",
        "wrote    ~ ClusterRole crossplane-ns-bank-edit  +1 selector: namespace `bank` enables definitions",
        "wrote    ~ ClusterRole crossplane-ns-bank-edit  +1 rule from `crossplane:composite:databases.acme.io:aggregate-to-edit`",
        "repaired + ClusterRole crossplane-ns-shop-edit  somebody deleted it; namespace `shop` enables definitions",
    ] {
        sandbox.says(line)?;
    }
    // A platform that is as it should be warns of nothing, from the beginning.
    let said = sandbox.said();
    let export = said.lines().find(|line| line.trim_start().starts_with("export ")).context("where it is")?;
    let warnings = home.shell(&format!("{export}\nkubectl get events -A --field-selector type=Warning -o name"))?;
    ensure!(!warnings.contains("event/"), "{warnings}");
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
    ensure!(said[3].contains("from node-readers") && said[3].contains("nodes  get,list"), "{said:?}");

    let config = home.path("config");
    let other =
        "{clusters: [], users: [], contexts: [{name: prod, context: {cluster: a, user: b}}], current-context: prod}";
    std::fs::write(&config, other)?;
    let (_sandbox, said) = tried(&home, &["--kubeconfig", "config"])?;
    ensure!(said[0].contains("yes"), "{said:?}");
    Ok(())
}

#[test]
fn without_kubectl_they_need_only_this_program_wherever_it_is() -> Result<()> {
    let home = Home::new()?;
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_rolewright"))?;
    let config = home.path("config");
    let mut command = home.command(&program);
    // The variable is that of this terminal only, and so is the folder.
    command.env("PATH", "/nowhere").env("KUBECONFIG", &config);
    command.current_dir(program.parent().context("a folder")?);
    let config = config.to_str().context("a path")?;
    let sandbox = Sandbox::of(command, &["--kubeconfig", config])?;
    let (mut sandbox, said) = tried_on(&home, sandbox)?;
    let page = sandbox.said();
    ensure!(page.contains(&format!("\n  export KUBECONFIG={config}\n")), "{page}");
    ensure!(!page.contains("  kubectl "), "{page}");
    ensure!(page.contains(&format!("\n  {} explain ", program.display())), "{page}");
    let expected = [
        "crossplane:composite:databases.acme.io:aggregate-to-edit",
        "+ User/ben",
        "RW0201",
        "kind: ClusterRole",
        "ended: ",
    ];
    for (said, expected) in said.iter().zip(expected) {
        ensure!(said.contains(expected), "`{expected}` is not in: {said}");
    }
    ensure!(sandbox.ended()? == Some(0), "{}", sandbox.erred());
    Ok(())
}

#[test]
fn on_what_somebody_made_of_it_they_work_as_well() -> Result<()> {
    let home = Home::new()?;
    if !home.has_kubectl()? {
        return Ok(());
    }
    let (mut sandbox, ready) = Sandbox::ready(&home, &["--data", "used"])?;
    home.shell(&format!("{} delete ns bank", kubectl(text(&ready, "kubeconfig"))))?;
    sandbox.says("Namespace bank is gone")?;
    sandbox.end("INT")?;
    let (sandbox, _) = tried(&home, &["--data", "used"])?;
    ensure!(!sandbox.said().contains("bank"), "{}", sandbox.said());

    let (mut sandbox, _) = tried(&home, &["--data", "empty", "--empty"])?;
    ensure!(sandbox.said().contains("  keeps        nothing yet\n"), "{}", sandbox.said());
    sandbox.end("INT")?;
    tried(&home, &["--data", "empty", "--empty"])?;
    Ok(())
}

#[test]
fn what_is_lost_is_told_with_its_cause() -> Result<()> {
    let home = Home::new()?;
    if !home.has_kubectl()? {
        return Ok(());
    }
    let mut sandbox = Sandbox::start(&home, &[])?;
    sandbox.says("What happens")?;
    let said = sandbox.said();
    let export = said.lines().find(|line| line.trim_start().starts_with("export ")).context("where it is")?;
    let losses: [(&str, &[&str]); 5] = [
        (
            "kubectl annotate ns shop rbac.crossplane.io/xrds=caches.acme.io --overwrite",
            &[
                "crossplane-ns-shop-edit  -1 selector: namespace `shop` no longer enables `databases.acme.io`",
                "crossplane-ns-shop-edit  -1 rule: it no longer selects `",
            ],
        ),
        (
            "kubectl label clusterrole on-call-pods acme.io/aggregate-to-on-call-",
            &["ClusterRole on-call  -1 rule: `on-call-pods` no longer has the label acme.io/aggregate-to-on-call=true"],
        ),
        (
            "kubectl delete clusterrole on-call-workloads",
            &["ClusterRole on-call  -1 rule: `on-call-workloads` is gone"],
        ),
        (
            "kubectl delete providerrevision provider-aws-rds-7d3e",
            &[
                "for ProviderRevision provider-aws-s3-91c0  ProviderRevision provider-aws-rds-7d3e is gone",
                "provider-aws-s3-91c0:system  +1 rule, -2 rules: ProviderRevision provider-aws-rds-7d3e is gone",
            ],
        ),
        (
            "kubectl delete rootsync platform -n config-management-system",
            &[
                "for RootSync config-management-system/platform  it is being deleted",
                "  RootSync platform is being deleted",
            ],
        ),
    ];
    for (command, causes) in losses {
        home.shell(&format!("{export}\n{command}"))?;
        for cause in causes {
            sandbox.says(cause)?;
        }
    }
    ensure!(sandbox.end("INT")? == Some(0), "{}", sandbox.erred());
    Ok(())
}
