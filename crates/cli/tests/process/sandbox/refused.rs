//! What keeps it from starting, and the way out.

use std::net::TcpListener;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};

use super::{Home, Sandbox, text, until};

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

    std::fs::create_dir(home.path("folder"))?;
    std::fs::create_dir(home.path("theirs"))?;
    std::fs::write(home.path("theirs/letter"), "")?;
    std::fs::write(home.path("list"), "- a\n- list\n")?;
    std::fs::write(home.path("broken"), "clusters: [\n")?;
    std::fs::write(home.path("several"), "kind: Config\n---\nkind: Config\n")?;
    // arguments, what is wrong, the way out
    let cases = [
        ("--data", "/dev/null/data", "nothing can be kept in `/dev/null/data`: ", "--data DIR with a folder that"),
        ("--data", "theirs", "the data folder `theirs` holds files but no `objects.log`", "use an empty folder"),
        ("--kubeconfig", "list", "`: it is no kubeconfig", "choose another with --kubeconfig"),
        ("--kubeconfig", "broken", "`: it is not YAML: ", "choose another with --kubeconfig"),
        ("--kubeconfig", "several", "`: it holds several documents", "choose another with --kubeconfig"),
        ("--kubeconfig", "folder", "Is a directory", "choose another with --kubeconfig"),
        (
            "--kubeconfig",
            "/dev/null/config",
            "cannot make the folder `/dev/null`: ",
            "choose another with --kubeconfig",
        ),
    ];
    for (flag, value, wrong, way) in cases {
        let said = refused(&home, &["--port", "0", flag, value])?;
        let (before, hint) = said.rsplit_once("; hint: ").with_context(|| said.clone())?;
        ensure!(before.contains(wrong) && hint.starts_with(way), "{said}");
    }
    ensure!(std::fs::read_to_string(home.path("list"))? == "- a\n- list\n", "it is left alone");
    ensure!(std::fs::read_dir(home.path("theirs"))?.count() == 1, "and so is a folder");

    let mut command = home.command("rolewright");
    let output = command.args(["up", "--detach"]).env("TMPDIR", "/dev/null").env_remove("XDG_RUNTIME_DIR").output()?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(
        said.contains("cannot make the folder `/dev/null/") && said.contains("; hint: set XDG_RUNTIME_DIR"),
        "{said}"
    );
    let output = home.rolewright(&["server", "--port", &port])?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(
        said.starts_with("error: cannot listen on ") && said.ends_with("; hint: --port 0 takes a free port\n"),
        "{said}"
    );
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

/// A process that does not outlive the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn one_that_starts_is_known_and_one_that_was_killed_is_not() -> Result<()> {
    let home = Home::new()?;
    // Whatever runs under the number that a sandbox had before it was killed.
    let mut other = Ends(std::process::Command::new("sleep").arg("60").spawn()?);
    let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    std::fs::create_dir(home.path("rolewright"))?;
    std::fs::write(home.path(&format!("rolewright/up-{free}.lock")), "")?;
    let record = serde_json::json!({ "pid": other.0.id(), "ready": {} });
    std::fs::write(home.path(&format!("rolewright/up-{free}.json")), record.to_string())?;

    let port = free.to_string();
    let mut command = home.command("rolewright");
    let mut sandbox = Ends(command.args(["up", "--port", &port]).stdout(Stdio::null()).spawn()?);
    // Nobody waits until it is ready.
    until("its first moment", || Ok(std::net::TcpStream::connect(("127.0.0.1", free)).is_ok()))?;
    let said = refused(&home, &["--port", &port])?;
    ensure!(said.contains(&format!("by another `rolewright up` (process {})", sandbox.0.id())), "{said}");
    let output = home.rolewright(&["down"])?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(sandbox.0.wait()?.success());
    ensure!(std::fs::read_dir(home.path("rolewright"))?.count() == 0, "nothing is left");
    ensure!(other.0.try_wait()?.is_none(), "it is nobody's business");
    Ok(())
}
