//! What a terminal shows, in 80 and in 120 columns. `UPDATE=1` writes the screens anew.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{Home, kubectl, until};

/// A program on a terminal.
struct Terminal {
    child: Child,
    /// Our side of it.
    side: OwnedFd,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn start(home: &Home, columns: u16, no_color: bool) -> Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        tcsetwinsize(&ours, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
        let name = ptsname(&ours, Vec::new())?.into_string()?;
        let theirs: OwnedFd = File::options().read(true).write(true).open(name)?.into();
        let mut command = home.command("rolewright");
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command.args(["up", "--port", "0"]).env("TERM", "xterm-256color").stdin(Stdio::null()).stdout(theirs);
        let child = command.spawn()?;
        drop(command);
        let side = ours.try_clone()?;
        let shown = Arc::new(Mutex::new(Vec::new()));
        let seen = shown.clone();
        std::thread::spawn(move || {
            let mut ours = File::from(ours);
            let mut bytes = [0; 4096];
            // A terminal whose other side is closed cannot be read.
            while let Ok(count @ 1..) = ours.read(&mut bytes) {
                seen.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Ok(Self { child, side, shown })
    }

    /// Makes it as wide, and tells the program as a terminal of its own would.
    fn resize(&self, columns: u16) -> Result<()> {
        tcsetwinsize(&self.side, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
        self.signal(Signal::WINCH)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// What is on the screen now.
    fn screen(&self) -> String {
        self.painted(false)
    }

    /// The same with its colours.
    fn painted(&self, with_colours: bool) -> String {
        let mut lines = vec![String::new()];
        let text = self.text();
        let mut rest = text.as_str();
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let line = lines.last_mut().unwrap();
            match letter {
                '\n' => lines.push(String::new()),
                '\r' => {}
                '\u{1b}' => {
                    let end = rest.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(rest.len() - 1);
                    match &rest[..=end] {
                        "[J" => line.clear(),
                        colour if with_colours => line.extend(["\u{1b}", colour]),
                        _ => {}
                    }
                    rest = &rest[end + 1..];
                }
                letter => line.push(letter),
            }
        }
        lines.join("\n")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The same in every run: times, ports and folders are told by words.
fn normal(screen: &str, home: &Home) -> String {
    let folder = home.path("").display().to_string();
    let screen = screen.replace(folder.trim_end_matches('/'), "/tmp");
    let mut out = String::new();
    let mut rest = screen.as_str();
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, after) = rest.split_at(at);
        let length = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(length);
        out.push_str(before);
        match () {
            () if out.ends_with("127.0.0.1:") || out.ends_with("/rolewright-") => out.push_str("6443"),
            () if out.ends_with("after ") => out.push('0'),
            () if out.ends_with("after 0.") => out.push('1'),
            // `00:12`
            () if length == 2 && (before.ends_with('\n') || before.ends_with("\u{1b}[2m") || out.ends_with("00:")) => {
                out.push_str("00");
            }
            () => out.push_str(number),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn shows(columns: u16) -> Result<()> {
    let home = Home::new()?;
    if !home.has_kubectl()? {
        return Ok(());
    }
    let mut terminal = Terminal::start(&home, columns, false)?;
    until("the page", || Ok(terminal.screen().contains("at rest: "))).with_context(|| terminal.text())?;
    let screen = terminal.screen();
    let time = screen.split_once(" is ready after ").and_then(|(_, rest)| rest.split_once(" s: "));
    let seconds: f64 = time.context("it says how long it took")?.0.parse()?;
    // However busy the machine is; what it takes on a quiet one is a row of the benches.
    ensure!(seconds < 30.0, "{screen}");
    let kubeconfig =
        terminal.screen().lines().find_map(|line| line.trim().strip_prefix("export KUBECONFIG=").map(str::to_owned));
    let kubectl = kubectl(kubeconfig.context("the page says where the kubeconfig is")?);
    // Nobody else has to follow, so that the same is seen in every run.
    home.shell(&format!("{kubectl} delete clusterrolebinding crossplane-admin"))?;
    until("a repair", || Ok(terminal.screen().contains(", 1 repaired, ") && terminal.screen().contains("at rest: ")))
        .with_context(|| terminal.text())?;
    // A name that is too long for 80 columns.
    home.shell(&format!("{kubectl} delete clusterrolebinding crossplane:provider:provider-aws-s3-91c0:system"))?;
    until("a repair", || Ok(terminal.screen().contains(", 2 repaired, ") && terminal.screen().contains("at rest: ")))
        .with_context(|| terminal.text())?;
    home.shell(&format!("{kubectl} label clusterrole on-call-pods acme.io/aggregate-to-on-call-"))?;
    until("a revocation", || Ok(terminal.screen().contains(", 1 revoked") && terminal.screen().contains("at rest: ")))
        .with_context(|| terminal.text())?;
    let screen = normal(&terminal.screen(), &home);
    let painted = normal(&terminal.painted(true), &home);
    terminal.signal(Signal::INT)?;
    ensure!(terminal.child.wait()?.success());
    ensure!(screen.lines().all(|line| line.chars().count() <= columns.into()), "{screen}");
    recorded(&format!("up-{columns}.txt"), &screen)?;
    // The picture in the README is made of it.
    recorded(&format!("up-{columns}.ansi"), &painted)
}

/// Compares with what was recorded.
fn recorded(name: &str, screen: &str) -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/screens").join(name);
    let screen = screen.trim_end().to_owned() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &screen)?;
    }
    let expected = std::fs::read_to_string(&file)?;
    ensure!(screen == expected, "the screen is another than {}:\n{screen}", file.display());
    Ok(())
}

#[test]
fn in_80_columns() -> Result<()> {
    shows(80)
}

#[test]
fn in_120_columns() -> Result<()> {
    shows(120)
}

#[test]
fn without_colours_where_nobody_wants_them() -> Result<()> {
    let home = Home::new()?;
    let terminal = Terminal::start(&home, 80, true)?;
    until("the page", || Ok(terminal.screen().contains("at rest: "))).with_context(|| terminal.text())?;
    ensure!(terminal.painted(true) == terminal.screen(), "{}", terminal.text());
    ensure!(terminal.text().contains("\r\u{1b}[J"), "the status line stays in its place");
    Ok(())
}

#[test]
fn the_line_that_stays_follows_the_width() -> Result<()> {
    let home = Home::new()?;
    let mut terminal = Terminal::start(&home, 80, true)?;
    until("the page", || Ok(terminal.screen().contains("at rest: "))).with_context(|| terminal.text())?;
    let before = terminal.text().len();
    terminal.resize(20)?;
    // The old one is in three lines now, and goes from all of them.
    until("a shorter line", || Ok(terminal.text()[before..].contains("\u{1b}[2A\r\u{1b}[Jat rest: ")))
        .with_context(|| terminal.text())?;
    ensure!(terminal.text().ends_with(" kept,.."), "{}", terminal.text());
    terminal.signal(Signal::INT)?;
    ensure!(terminal.child.wait()?.success());
    until("a clean end", || Ok(terminal.text().ends_with("\r\u{1b}[J"))).with_context(|| terminal.text())
}
