//! What keeps it from starting, and the way out.

use std::net::TcpListener;

use anyhow::{Context, Result, ensure};

use super::{Home, Sandbox, text};

/// The one line that it ends with.
fn refused(home: &Home, arguments: &[&str]) -> Result<String> {
    let output = home.rolewright(&[&["up"], arguments].concat())?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(output.status.code() == Some(4) && output.stdout.is_empty(), "{said}");
    ensure!(said.lines().count() == 1 && said.starts_with("error: "), "{said}");
    Ok(said)
}

#[test]
fn every_refusal_has_a_way_out() -> Result<()> {
    let home = Home::new()?;
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port().to_string();
    let busy = format!("the port {port} is in use by somebody else; hint: --port 0 takes a free one");
    ensure!(refused(&home, &["--port", &port])?.contains(&busy));
    ensure!(refused(&home, &["--port", &port, "--detach"])?.contains(&busy));

    let said = refused(&home, &["--port", "0", "--data", "/dev/null/data"])?;
    ensure!(
        said.contains("nothing can be kept in `/dev/null/data`; hint: --data DIR with a folder that you may write to"),
        "{said}"
    );

    std::fs::write(home.path("config"), "- a\n- list\n")?;
    let said = refused(&home, &["--port", "0", "--kubeconfig", "config"])?;
    ensure!(said.contains("it is no kubeconfig; hint: choose another with --kubeconfig"), "{said}");
    ensure!(std::fs::read_to_string(home.path("config"))? == "- a\n- list\n", "it is left alone");
    let said = refused(&home, &["--port", "0", "--kubeconfig", "/dev/null/config"])?;
    ensure!(said.contains("`/dev/null/config`") || said.contains("`/dev/null`"), "{said}");
    Ok(())
}

#[test]
fn a_second_one_is_told_of_the_first() -> Result<()> {
    let home = Home::new()?;
    let (first, ready) = Sandbox::ready(&home, &["--data", "data"])?;
    let port = text(&ready, "url").rsplit(':').next().context("a port")?.to_owned();
    let pid = first.child.id();
    let said = refused(&home, &["--port", &port])?;
    let way = format!("by another `rolewright up` (process {pid}); hint: `rolewright down --port {port}` ends it");
    ensure!(said.contains(&way), "{said}");
    let said = refused(&home, &["--port", "0", "--data", "data"])?;
    ensure!(said.contains("the data folder `data` is in use ") && said.contains(&way), "{said}");
    Ok(())
}
