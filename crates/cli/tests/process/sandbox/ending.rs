//! How it ends, and how it begins again.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Home, Sandbox, kubectl, text};

#[test]
fn it_leaves_nothing_behind() -> Result<()> {
    let home = Home::new()?;
    let (mut sandbox, ready) = Sandbox::ready(&home, &[])?;
    let kubeconfig = text(&ready, "kubeconfig").to_owned();
    ensure!(std::fs::exists(&kubeconfig)?);
    ensure!(sandbox.end("INT")? == Some(0), "{}", sandbox.erred());
    ensure!(!std::fs::exists(&kubeconfig)?, "the kubeconfig of a cluster that is gone");
    let known: Vec<_> = std::fs::read_dir(home.path("rolewright"))?.collect::<Result<_, _>>()?;
    ensure!(known.is_empty(), "{known:?}");
    Ok(())
}

#[test]
fn after_kill_9_everything_is_there_and_nothing_is_left_to_write() -> Result<()> {
    let home = Home::new()?;
    let (mut sandbox, ready) = Sandbox::ready(&home, &["--data", "data"])?;
    let kubeconfig = text(&ready, "kubeconfig").to_owned();
    ensure!(ready["written"].as_u64().is_some_and(|written| written > 0), "{ready}");
    let has_kubectl = home.has_kubectl()?;
    if has_kubectl {
        home.shell(&format!("{0} create ns lab && {0} delete ns bank", kubectl(&kubeconfig)))?;
        sandbox.says("Namespace bank is gone")?;
    }
    sandbox.child.kill()?;
    sandbox.child.wait()?;

    let (mut again, ready) = Sandbox::ready(&home, &["--data", "data"])?;
    ensure!(ready["written"] == 0, "{ready}");
    ensure!(text(&ready, "kubeconfig") == kubeconfig, "{ready}");
    if has_kubectl {
        let found = home.shell(&format!("{} get ns -o name", kubectl(&kubeconfig)))?;
        ensure!(
            found.contains("namespace/lab") && !found.contains("namespace/bank"),
            "the example does not come twice: {found}"
        );
    }
    ensure!(again.end("TERM")? == Some(0), "{}", again.erred());
    ensure!(std::fs::exists(&kubeconfig)?, "the cluster comes back, and so it is good again");

    let (empty, ready) = Sandbox::ready(&home, &["--data", "data", "--empty"])?;
    ensure!(
        ready["example"] == true && empty.erred().contains("the cluster has the example, and stays as it is"),
        "{ready}"
    );
    Ok(())
}

#[test]
fn a_start_that_was_cut_short_is_made_again() -> Result<()> {
    let home = Home::new()?;
    for wait in [0, 20, 60, 120] {
        let mut sandbox = Sandbox::start(&home, &["--data", "data"])?;
        // However far it came.
        std::thread::sleep(std::time::Duration::from_millis(wait));
        sandbox.child.kill()?;
        sandbox.child.wait()?;
    }
    let (_sandbox, ready) = Sandbox::ready(&home, &["--data", "data"])?;
    ensure!(ready["example"] == true && ready["kept"].as_u64().is_some_and(|kept| kept > 40), "{ready}");
    Ok(())
}

#[test]
fn what_is_detached_runs_until_down() -> Result<()> {
    let home = Home::new()?;
    let output = home.rolewright(&["up", "--port", "0", "--detach", "-o", "json"])?;
    ensure!(output.status.success(), "{output:?}");
    let ready: Value = serde_json::from_slice(&output.stdout)?;
    let kubeconfig = text(&ready, "kubeconfig");
    if home.has_kubectl()? {
        ensure!(home.shell(&format!("{} get ns -o name", kubectl(kubeconfig)))?.contains("namespace/shop"));
    }
    let (_other, _) = Sandbox::ready(&home, &["--empty"])?;
    let output = home.rolewright(&["down"])?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.code() == Some(4) && said.contains("several run, on the ports "), "{said}");

    let port = text(&ready, "url").rsplit(':').next().context("a port")?.to_owned();
    let output = home.rolewright(&["down", "--port", &port])?;
    ensure!(output.status.success() && String::from_utf8(output.stdout)?.starts_with("ended: "), "{:?}", output.stderr);
    ensure!(!std::fs::exists(kubeconfig)?);
    let output = home.rolewright(&["down", "--port", &port])?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.code() == Some(4) && said.contains(&format!("no `rolewright up` runs on port {port}; hint: ")),
        "{said}"
    );
    ensure!(home.rolewright(&["down"])?.status.success());
    let said = String::from_utf8(home.rolewright(&["down"])?.stderr)?;
    ensure!(said.contains("no `rolewright up` runs; hint: "), "{said}");
    Ok(())
}

#[test]
fn a_log_belongs_to_one_process_and_goes_with_it() -> Result<()> {
    let home = Home::new()?;
    let files = || -> Result<Vec<PathBuf>> {
        let all = std::fs::read_dir(home.path("rolewright"))?.map(|entry| Ok(entry?.path()));
        let mut all = all.collect::<Result<Vec<_>>>()?;
        all.sort();
        Ok(all)
    };
    let output = home.rolewright(&["up", "--port", "0", "--detach", "-o", "json"])?;
    ensure!(output.status.success(), "{output:?}");
    let ready: Value = serde_json::from_slice(&output.stdout)?;
    let port = text(&ready, "url").rsplit(':').next().context("a port")?.to_owned();
    let before = files()?;
    let log = before.iter().find(|file| file.extension().is_some_and(|ending| ending == "log")).context("a log")?;
    let said = std::fs::read(log)?;
    ensure!(said.starts_with(b"{"), "{said:?}");

    let output = home.rolewright(&["up", "--port", &port, "--detach"])?;
    ensure!(String::from_utf8(output.stderr)?.contains("is in use by another `rolewright up`"));
    ensure!(files()? == before, "a second one leaves nothing");
    let after = std::fs::read(log)?;
    ensure!(after.starts_with(&said) && !after.contains(&0), "{after:?}");
    ensure!(home.rolewright(&["down", "--port", &port])?.status.success());
    ensure!(files()?.is_empty(), "{:?}", files()?);
    Ok(())
}

#[test]
fn all_can_be_ended_at_once() -> Result<()> {
    let home = Home::new()?;
    let (mut one, _) = Sandbox::ready(&home, &["--empty"])?;
    let (mut other, _) = Sandbox::ready(&home, &["--empty"])?;
    let output = home.rolewright(&["down", "--all"])?;
    ensure!(output.status.success() && String::from_utf8(output.stdout)?.matches("ended: ").count() == 2);
    ensure!(one.ended()? == Some(0) && other.ended()? == Some(0), "{}{}", one.erred(), other.erred());
    Ok(())
}

#[test]
fn a_closed_terminal_ends_it_unless_it_is_detached() -> Result<()> {
    let home = Home::new()?;
    let (mut sandbox, _) = Sandbox::ready(&home, &["--empty"])?;
    ensure!(sandbox.end("HUP")? == Some(0), "{}", sandbox.erred());
    ensure!(std::fs::read_dir(home.path("rolewright"))?.count() == 0, "in order");

    let output = home.rolewright(&["up", "--port", "0", "--empty", "--detach", "-o", "json"])?;
    let ready: Value = serde_json::from_slice(&output.stdout)?;
    let address = text(&ready, "url").strip_prefix("https://").context("an address")?.to_owned();
    let port = address.rsplit(':').next().context("a port")?;
    let record = std::fs::read(home.path(&format!("rolewright/up-{port}.json")))?;
    let pid = serde_json::from_slice::<Value>(&record)?["pid"].to_string();
    home.shell(&format!("kill -s HUP {pid}"))?;
    // Were it to end, it would within a moment.
    std::thread::sleep(std::time::Duration::from_millis(500));
    ensure!(std::net::TcpStream::connect(&address).is_ok(), "it runs on");
    ensure!(home.rolewright(&["down"])?.status.success());
    Ok(())
}

#[test]
fn a_reader_that_has_seen_enough_ends_it() -> Result<()> {
    let home = Home::new()?;
    let mut command = home.command("rolewright");
    let mut child = command.args(["up", "--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("piped")?).read_line(&mut line)?;
    ensure!(line.starts_with("rolewright "), "{line}");
    // The page is longer than one line, or else the next line finds nobody.
    if home.has_kubectl()? {
        let config = std::fs::read_dir(home.path(""))?.filter_map(Result::ok).map(|entry| entry.path());
        let mut config = config.filter(|path| path.extension().is_some_and(|ending| ending == "kubeconfig"));
        if let Some(config) = config.next() {
            // It may be gone before it is asked.
            let _ = home.shell(&format!("{} delete clusterrole crossplane-view", kubectl(config)));
        }
        let output = child.wait_with_output()?;
        ensure!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    } else {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}
