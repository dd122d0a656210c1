//! The tours in docs, as they are printed: commands and what they say. `UPDATE=1` writes what they say anew.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Home;

/// The manager follows at once, but not in the same moment.
const PATIENCE: Duration = Duration::from_secs(20);

/// A reader's terminal.
struct Reader {
    home: Home,
    /// Lines that hold for all that come after them.
    exports: String,
    /// The port that a tour shows, and the one that is used instead.
    port: Option<String>,
}

impl Reader {
    /// What a command says, on both streams; the folder for temporary files and the port are those that the tour shows.
    fn run(&mut self, command: &str) -> Result<String> {
        let real = self.real(command);
        if command.starts_with("export ") {
            self.exports.push_str(&real);
            self.exports.push('\n');
            return Ok(String::new());
        }
        let script = format!("exec 2>&1\n{}{real}", self.exports);
        let output = self.home.command("bash").args(["-c", &script]).stdin(Stdio::null()).output()?;
        let said = String::from_utf8(output.stdout)?;
        if self.port.is_none() {
            let url = said.split_whitespace().find_map(|word| word.strip_prefix("https://127.0.0.1:"));
            self.port = url.map(str::to_owned);
        }
        Ok(self.shown(&said))
    }

    fn real(&self, command: &str) -> String {
        let command = command.replace("rolewright up ", "rolewright up --port 0 ");
        let command = command.replace("/tmp/", &format!("{}/", self.folder()));
        self.port.as_ref().map_or(command.clone(), |port| command.replace("6443", port))
    }

    fn shown(&self, said: &str) -> String {
        let said = said.replace(&self.folder(), "/tmp");
        self.port.as_ref().map_or(said.clone(), |port| said.replace(port.as_str(), "6443"))
    }

    fn folder(&self) -> String {
        self.home.path("").display().to_string().trim_end_matches('/').to_owned()
    }

    /// Runs a command until it says what it should, as long as it only asks.
    fn expect(&mut self, command: &str, expected: &str) -> Result<String> {
        let asks =
            ["kubectl auth can-i ", "kubectl get ", "rolewright explain "].iter().any(|ask| command.starts_with(ask));
        let start = Instant::now();
        loop {
            let said = self.run(command)?;
            if said == expected || !asks || start.elapsed() > PATIENCE {
                return Ok(said);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A page with the commands of its sessions run.
fn toured(home: Home, page: &str) -> Result<String> {
    let mut reader = Reader { home, exports: String::new(), port: None };
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    let mut in_session = false;
    while let Some(line) = lines.next() {
        writeln!(out, "{line}")?;
        in_session = if line.starts_with("```") { line == "```console" } else { in_session };
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_session) else { continue };
        let mut command = command.to_owned();
        while command.ends_with(['\\', '|']) {
            let next = lines.next().context("a command ends")?;
            writeln!(out, "{next}")?;
            write!(command, "\n{next}")?;
        }
        let mut expected = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```")) {
            writeln!(expected, "{line}")?;
        }
        out.push_str(&reader.expect(&command, &expected)?);
    }
    Ok(out)
}

fn goes_as_printed(name: &str) -> Result<()> {
    let home = Home::new()?;
    if !home.has_kubectl()? {
        return Ok(());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let told = std::fs::read_to_string(&file)?;
    let found = toured(home, &told)?;
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &found)?;
    }
    ensure!(found == told, "{name} goes another way:\n{found}");
    Ok(())
}

#[test]
fn aggregation_goes_as_printed() -> Result<()> {
    goes_as_printed("tour-aggregation.md")
}

#[test]
fn crossplane_goes_as_printed() -> Result<()> {
    goes_as_printed("tour-crossplane.md")
}

#[test]
fn sync_goes_as_printed() -> Result<()> {
    goes_as_printed("tour-sync.md")
}
