//! `testbed`, the Go program around Kubernetes' own code: where it is, and how to talk to it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The environment variable that names the testbed binary; `make test` sets it.
const BINARY: &str = "ROLEWRIGHT_TESTBED";

/// The testbed binary, if there is one.
pub fn known() -> Option<OsString> {
    std::env::var_os(BINARY)
}

/// The testbed binary, or a word on stderr that `suite` is skipped because there is none. In CI that is an error.
#[expect(clippy::print_stderr, reason = "a skipped suite must be seen")]
pub fn binary(suite: &str) -> Result<Option<OsString>> {
    let found = known();
    if found.is_none() {
        if std::env::var("CI").is_ok_and(|ci| ci == "true") {
            bail!("{BINARY} is not set in CI; run the tests with `make test`");
        }
        eprintln!("skipped: {suite} needs Kubernetes' Go code; run `make test` with Go installed");
    }
    Ok(found)
}

/// A child process that answers each line of JSON with one line of JSON. It ends when this is dropped.
#[derive(Debug)]
pub struct Lines {
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Lines {
    /// Starts the child.
    pub fn start(command: &mut Command) -> Result<Self> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.with_context(|| format!("`{}` does not start", command.get_program().display()))?;
        let input = child.stdin.take().context("stdin is piped")?;
        let output = child.stdout.take().context("stdout is piped")?;
        Ok(Self { child, input: Some(BufWriter::new(input)), output: BufReader::new(output), next_id: 0 })
    }

    /// Sends an object and reads the answer into `T`. An answer with an `error` is one.
    pub fn ask<T: DeserializeOwned>(&mut self, mut request: Value) -> Result<T> {
        self.next_id += 1;
        let id = json!(self.next_id);
        request.as_object_mut().context("a request is an object")?.insert("id".into(), id.clone());
        let input = self.input.as_mut().context("the child is open until it is dropped")?;
        serde_json::to_writer(&mut *input, &request)?;
        input.write_all(b"\n")?;
        input.flush()?;
        let answer = self.line()?;
        if let Some(error) = answer.get("error").and_then(Value::as_str).filter(|error| !error.is_empty()) {
            bail!("{error}");
        }
        if answer.get("id") != Some(&id) {
            bail!("answer to another question: {answer}");
        }
        serde_json::from_value(answer).context("the answer has another shape")
    }

    /// One line that the child prints. Go passes on bytes that are no text; they are read as Go would read them.
    pub fn line(&mut self) -> Result<Value> {
        let mut line = Vec::new();
        if self.output.read_until(b'\n', &mut line)? == 0 {
            bail!("the child ended with {}", self.child.wait()?);
        }
        let mut text = String::with_capacity(line.len());
        for chunk in line.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Ends the child's input, which ends the child, and waits for that.
    pub fn end(&mut self) -> Result<()> {
        drop(self.input.take());
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // Nothing can be done about a child that will not be waited for.
        let _ = self.end();
    }
}
