//! Requests as they are, answers as they come.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rolewright_core::User;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Ready;
use crate::testbed::Lines;

/// What the server answered.
#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, when it is JSON.
    #[serde(default)]
    pub body: Value,
}

/// A client that sends requests as they are.
#[derive(Debug)]
pub struct Client(Transport);

#[derive(Debug)]
enum Transport {
    /// `testbed client`, which keeps its connection.
    Testbed(Lines),
    /// `curl`, where there is no testbed.
    Curl(Ready),
}

impl Client {
    pub(super) fn testbed(binary: &OsStr, ready: &Ready) -> Result<Self> {
        let mut command = Command::new(binary);
        command.arg("client").arg("--kubeconfig").arg(&ready.kubeconfig);
        Ok(Self(Transport::Testbed(Lines::start(&mut command)?)))
    }

    pub(super) fn curl(ready: &Ready) -> Self {
        Self(Transport::Curl(ready.clone()))
    }

    /// Reads.
    pub fn get(&mut self, path: &str) -> Result<Answer> {
        self.send("GET", path, None, None)
    }

    /// Creates an object.
    pub fn post(&mut self, path: &str, body: &impl Serialize) -> Result<Answer> {
        self.send("POST", path, Some(serde_json::to_value(body)?), None)
    }

    /// Creates an object as somebody else.
    pub fn post_as(&mut self, user: &User, path: &str, body: &impl Serialize) -> Result<Answer> {
        self.send("POST", path, Some(serde_json::to_value(body)?), Some(user))
    }

    /// Stores an object as somebody else, whether it exists or not.
    pub fn put_as(&mut self, user: &User, path: &str, body: &impl Serialize) -> Result<Answer> {
        self.send("PUT", path, Some(serde_json::to_value(body)?), Some(user))
    }

    /// Deletes an object.
    pub fn delete(&mut self, path: &str) -> Result<Answer> {
        self.send("DELETE", path, None, None)
    }

    fn send(&mut self, method: &str, path: &str, body: Option<Value>, user: Option<&User>) -> Result<Answer> {
        match &mut self.0 {
            Transport::Testbed(lines) => {
                let mut request = json!({"method": method, "path": path});
                let fields = request.as_object_mut().context("a request is an object")?;
                fields.extend(body.map(|body| ("body".to_owned(), body)));
                if let Some(user) = user {
                    fields.insert("header".into(), json!({"Impersonate-User": user.name}));
                    fields.insert("groups".into(), json!(user.groups));
                }
                lines.ask(request)
            }
            Transport::Curl(ready) => curl(ready, method, path, body.as_ref(), user),
        }
    }
}

fn curl(ready: &Ready, method: &str, path: &str, body: Option<&Value>, user: Option<&User>) -> Result<Answer> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--write-out", "\n%{http_code}", "--request", method]);
    command.arg("--cacert").arg(&ready.ca);
    let mut headers = vec![format!("Authorization: Bearer {}", ready.token)];
    if let Some(user) = user {
        headers.push(format!("Impersonate-User: {}", user.name));
        headers.extend(user.groups.iter().map(|group| format!("Impersonate-Group: {group}")));
    }
    if body.is_some() {
        headers.push("Content-Type: application/json".into());
        command.args(["--data-binary", "@-"]);
    }
    for header in headers {
        command.arg("--header").arg(header);
    }
    command.arg(format!("{}{path}", ready.address));
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().context("without the testbed, requests are sent by `curl`, which does not start")?;
    if let (Some(mut input), Some(body)) = (child.stdin.take(), body) {
        serde_json::to_writer(&mut input, body)?;
        input.flush()?;
    }
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "curl: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let (body, status) = text.rsplit_once('\n').context("curl was asked to write the status")?;
    Ok(Answer { status: status.parse()?, body: serde_json::from_str(body).unwrap_or_default() })
}
