//! A disk that is full, and other folders that cannot be used, as users meet them.

use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::process::{Folder, Running, start};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn rolewright(arguments: &[&str]) -> Result<(Option<i32>, String, String)> {
    let output = start(Command::new(env!("CARGO_BIN_EXE_rolewright")).args(arguments))?.wait_with_output()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((output.status.code(), text(output.stdout), text(output.stderr)))
}

/// No file may grow beyond three megabytes: to a program that is a full disk.
fn limited(folder: &Folder) -> Result<Running> {
    let mut command = Command::new("bash");
    let limit = "ulimit -f 3072; trap '' XFSZ; exec \"$@\"";
    command.args(["-c", limit, "limited", env!("CARGO_BIN_EXE_rolewright")]);
    command.args(["server", "--port", "0", "--admin-token", "crash", "--data"]).arg(folder.path());
    Running::spawn(command, folder)
}

#[tokio::test]
async fn a_full_disk_stops_the_server_and_keeps_what_was_acknowledged() -> Result<()> {
    let folder = Folder::new("full");
    let server = limited(&folder)?;
    let mut connection = server.endpoint.connect().await?;
    let mut kept = 0;
    let refused = loop {
        let map = json!({"metadata": {"name": format!("map-{kept}")}, "data": {"k": "x".repeat(200_000)}});
        let (code, answer) = connection.ask("POST", MAPS, "application/json", &map).await?;
        if code != 201 {
            break answer;
        }
        kept += 1;
        ensure!(kept < 100, "three megabytes hold no {kept} maps");
    };
    let message = refused["message"].as_str().unwrap_or_default();
    let log = folder.path().join("objects.log");
    ensure!(refused["code"] == 500 && message.contains("cannot store: `"), "{refused}");
    let (status, _, errors) = server.wait()?;
    ensure!(status.code() == Some(4) && errors.contains(&format!("`{}`", log.display())), "{status}: {errors}");

    let server = Running::start(&folder, &[])?;
    let mut connection = server.endpoint.connect().await?;
    let (_, list) = connection.get(MAPS).await?;
    let names = list["items"].as_array().into_iter().flatten().filter_map(|item| item["metadata"]["name"].as_str());
    let names: Vec<&str> = names.filter(|name| name.starts_with("map-")).collect();
    ensure!(names.len() == kept, "{kept} were acknowledged, {names:?} are there");
    server.kill()
}

#[test]
fn check_says_what_is_there_or_what_is_wrong() -> Result<()> {
    let folder = Folder::new("check");
    let path = folder.path().display().to_string();
    let check = || rolewright(&["server", "--data", &path, "--check"]);
    let (code, _, errors) = check()?;
    ensure!(code == Some(1) && errors.contains(&format!("there is no data in `{path}`")), "{errors}");

    let server = Running::start(&folder, &["--data-sync", "os"])?;
    let (code, _, errors) = check()?;
    ensure!(code == Some(1) && errors.contains("in use by another process"), "{errors}");
    let (code, _, errors) = rolewright(&["server", "--port", "0", "--data", &path])?;
    ensure!(code == Some(4) && errors.contains("in use by another process"), "{errors}");
    server.kill()?;

    let (code, out, errors) = check()?;
    ensure!(code == Some(0) && out.ends_with("ok\n") && errors.is_empty(), "{out}{errors}");
    ensure!(out.contains("  clusterroles.rbac.authorization.k8s.io\n") && out.contains("last revision "), "{out}");

    let log = folder.path().join("objects.log");
    let mut bytes = std::fs::read(&log)?;
    bytes[5_000] ^= 1;
    std::fs::write(&log, bytes)?;
    for (arguments, expected) in
        [(&["server", "--data", &path, "--check"][..], 1), (&["server", "--port", "0", "--data", &path], 4)]
    {
        let (code, _, errors) = rolewright(arguments)?;
        let named = errors.contains(&format!("`{}` is damaged at byte ", log.display())) && errors.contains("hint:");
        ensure!(code == Some(expected) && named, "{errors}");
    }
    let (code, _, errors) = rolewright(&["server", "--check"])?;
    ensure!(code == Some(2) && errors.contains("--data"), "{errors}");
    Ok(())
}
