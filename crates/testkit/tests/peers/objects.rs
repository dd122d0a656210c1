//! Objects of a custom kind, drawn from its schema: both servers take or refuse them alike, and show the same.

use anyhow::{Context, Result};
use rolewright_testkit::strategy::schema::{self, Choices};
use serde_json::{Value, json};

use crate::compare::answers;
use crate::servers::{Answer, JSON, Pair};

/// The namespace of all objects that have one.
pub(crate) const NAMESPACE: &str = "peers";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/// How often something was compared, and what differed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) accepted: usize,
    pub(crate) refused: usize,
    pub(crate) compared: usize,
    pub(crate) findings: Vec<String>,
}

/// One served version of a kind.
pub(crate) struct Version<'a> {
    pub(crate) group: &'a str,
    pub(crate) name: &'a str,
    pub(crate) plural: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) namespaced: bool,
    pub(crate) schema: &'a Value,
}

impl<'a> Version<'a> {
    /// The served versions of a definition.
    pub(crate) fn all(definition: &'a Value) -> Vec<Self> {
        let spec = &definition["spec"];
        let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |value: &'a Value| value.as_str().unwrap_or_default();
        let served = versions.iter().filter(|version| version["served"] == true);
        let made = served.map(|version| Self {
            group: text(&spec["group"]),
            name: text(&version["name"]),
            plural: text(&spec["names"]["plural"]),
            kind: text(&spec["names"]["kind"]),
            namespaced: spec["scope"] == "Namespaced",
            schema: &version["schema"]["openAPIV3Schema"],
        });
        made.collect()
    }

    pub(crate) fn collection(&self) -> String {
        let place = if self.namespaced { format!("namespaces/{NAMESPACE}/") } else { String::new() };
        format!("/apis/{}/{}/{place}{}", self.group, self.name, self.plural)
    }

    fn object(&self, drawn: Value, name: &str) -> Value {
        let mut object = if drawn.is_object() { drawn } else { json!({}) };
        object["apiVersion"] = format!("{}/{}", self.group, self.name).into();
        object["kind"] = self.kind.into();
        object["metadata"] = json!({"name": name});
        object
    }
}

impl Tally {
    /// Keeps what differs between two answers.
    pub(crate) fn compare(&mut self, title: &str, there: &Answer, here: &Answer, sent: Option<&Value>) -> bool {
        self.compared += 1;
        let found = answers(there, here);
        if found.is_empty() {
            return true;
        }
        let sent = sent.map(|sent| format!("\n  sent {sent}")).unwrap_or_default();
        self.findings.push(format!("{title}{sent}\n  {}", found.join("\n  ")));
        false
    }

    /// Draws `count` objects for a version, each once as it should be and twice with something wrong, and compares.
    pub(crate) async fn objects(&mut self, pair: &Pair, version: &Version<'_>, seed: u64, count: u64) -> Result<()> {
        let path = version.collection();
        let mut names = Vec::new();
        for index in 0..count {
            let mut choices = Choices::seeded(seed.wrapping_mul(31).wrapping_add(index), 600);
            let drawn = schema::object(&mut choices, version.schema);
            for variant in 0..3 {
                let drawn =
                    if variant == 0 { drawn.clone() } else { schema::mutated(&mut choices, version.schema, &drawn) };
                let name = format!("o{index}-{variant}");
                let object = version.object(drawn, &name);
                let (there, here) = both(pair, "POST", &path, object.to_string().into_bytes()).await?;
                match there.status {
                    201 => self.accepted += 1,
                    _ => self.refused += 1,
                }
                self.compare(&format!("POST {path}"), &there, &here, Some(&object));
                if there.status == 201 && here.status == 201 {
                    names.push(name);
                }
            }
        }
        for accept in [JSON, TABLE, METADATA] {
            let (there, here) = tokio::try_join!(pair.real.get_as(&path, accept), pair.ours.get_as(&path, accept))?;
            self.compare(&format!("GET {path} as {accept}"), &there, &here, None);
        }
        for name in names {
            let path = format!("{path}/{name}");
            let (there, here) = both(pair, "DELETE", &path, Vec::new()).await?;
            self.compare(&format!("DELETE {path}"), &there, &here, None);
        }
        Ok(())
    }

    /// An error with everything that differs, if anything does.
    #[expect(clippy::print_stdout, reason = "what was compared")]
    pub(crate) fn end(&self, title: &str) -> Result<()> {
        let Self { accepted, refused, compared, findings } = self;
        println!("{title}: {compared} answers compared; of random objects {accepted} accepted, {refused} refused");
        for finding in findings.iter().take(40) {
            println!("\n{finding}");
        }
        anyhow::ensure!(findings.is_empty(), "{title}: {} of {compared} answers differ", findings.len());
        Ok(())
    }
}

/// The same request to both.
pub(crate) async fn both(pair: &Pair, method: &str, path: &str, body: Vec<u8>) -> Result<(Answer, Answer)> {
    both_as(pair, method, path, JSON, body).await
}

/// The same in a form of one's choice.
pub(crate) async fn both_as(
    pair: &Pair,
    method: &str,
    path: &str,
    content: &str,
    body: Vec<u8>,
) -> Result<(Answer, Answer)> {
    tokio::try_join!(
        pair.real.send(method, path, content, body.clone()),
        pair.ours.send(method, path, content, body.clone())
    )
}

/// Waits until both servers serve a version.
pub(crate) async fn served(pair: &Pair, version: &Version<'_>) -> Result<()> {
    let path = version.collection();
    let waited = tokio::try_join!(
        pair.real.until(&path, |answer| answer.status == 200),
        pair.ours.until(&path, |answer| answer.status == 200)
    );
    waited.map(|_| ()).with_context(|| path.clone())
}
