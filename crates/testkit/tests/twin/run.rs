//! Plays a script on two servers at once.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::future::{Either, select};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::compare::{Difference, Twins};
use crate::exchange::{Exchange, Script};
use crate::judge::judge;
use crate::normalise::Names;
use crate::path::holds;
use crate::target::{Answer, Ask, Stream, Target};
use crate::variables::Variables;

/// The manager that `managedFields` name comes from here.
const USER_AGENT: &str = "twin/1.0";

/// What came of one exchange.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) title: String,
    pub(crate) request: String,
    /// The status that Kubernetes answered with, if it is not the one that the title promises.
    pub(crate) broken_promise: Option<u16>,
    pub(crate) differences: Vec<Difference>,
    /// The real answer, for a reader.
    pub(crate) answer: Answer,
    /// What both servers' audit logs call it.
    pub(crate) audit_id: String,
}

/// A script on one server.
pub(crate) struct Side {
    target: Target,
    variables: Variables,
    streams: BTreeMap<String, Stream>,
    pub(crate) names: Names,
    audit_id: String,
}

/// A whole script, with what stands for what on the two sides.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) time: Duration,
    pub(crate) names: (Names, Names),
    pub(crate) twins: Twins,
}

/// The same difference at another place.
pub(crate) fn moved(path: String, difference: Difference) -> Difference {
    Difference { path, ..difference }
}

/// Plays a whole script.
pub(crate) async fn run(script: &Script, real: &Target, ours: &Target) -> Result<Played> {
    let start = Instant::now();
    let mut real = Side::new(script, real);
    let mut ours = Side::new(script, ours);
    let prepared = tokio::join!(real.prepare(), ours.prepare());
    prepared.0.context("the real server")?;
    prepared.1.context("our server")?;
    let mut twins = Twins::default();
    let mut outcomes = Vec::new();
    for (at, exchange) in script.exchanges.iter().enumerate() {
        let audit_id = format!("{}-{at}", script.name);
        (real.audit_id, ours.audit_id) = (audit_id.clone(), audit_id.clone());
        let answers = both(real.answer(exchange), ours.answer(exchange)).await;
        let differences = judge(exchange, (&answers.0, &mut real.names), (&answers.1, &mut ours.names), &mut twins);
        outcomes.push(Outcome {
            title: exchange.title.clone(),
            request: format!("{} {}", exchange.method, real.variables.fill(&exchange.target)),
            broken_promise: exchange.status.filter(|status| *status != answers.0.status).map(|_| answers.0.status),
            differences,
            answer: answers.0,
            audit_id,
        });
    }
    Ok(Played { outcomes, time: start.elapsed(), names: (real.names, ours.names), twins })
}

/// Both answers. Ours may take its time for as long as Kubernetes does, and a little longer.
async fn both(real: impl Future<Output = Answer>, ours: impl Future<Output = Answer>) -> (Answer, Answer) {
    const LONGER: Duration = Duration::from_secs(6);
    match select(pin!(real), pin!(ours)).await {
        Either::Left((real, ours)) => {
            let late = |_| Answer { body: b"no answer, when Kubernetes had one".to_vec(), ..Answer::default() };
            (real, timeout(LONGER, ours).await.unwrap_or_else(late))
        }
        Either::Right((ours, real)) => (real.await, ours),
    }
}

impl Side {
    fn new(script: &Script, target: &Target) -> Self {
        let mut variables = Variables::default();
        variables.set("ns", &format!("twin-{}", script.name));
        Self {
            target: target.clone(),
            variables,
            streams: BTreeMap::new(),
            names: Names::default(),
            audit_id: String::new(),
        }
    }

    /// Creates the script's namespace, and waits for what controllers put into it.
    async fn prepare(&mut self) -> Result<()> {
        let create = Exchange {
            method: "POST".into(),
            target: "/api/v1/namespaces".into(),
            body: r#"{"metadata": {"name": "{{ns}}"}}"#.into(),
            ..Exchange::default()
        };
        let created = self.answer(&create).await;
        ensure!(created.status == 201, "no namespace: {}", String::from_utf8_lossy(&created.body));
        let mut account = Exchange {
            method: "GET".into(),
            target: "/api/v1/namespaces/{{ns}}/serviceaccounts/default".into(),
            ..Exchange::default()
        };
        account.directives.wait = Some("status 200".into());
        let found = self.answer(&account).await;
        ensure!(found.status == 200, "no service account: {}", String::from_utf8_lossy(&found.body));
        Ok(())
    }

    /// The answer; what went wrong on the way is an answer, too.
    async fn answer(&mut self, exchange: &Exchange) -> Answer {
        let answered =
            if exchange.method == "COLLECT" { self.collect(exchange).await } else { self.ask(exchange).await };
        answered.unwrap_or_else(|error| Answer { body: format!("{error:#}").into_bytes(), ..Answer::default() })
    }

    async fn ask(&mut self, exchange: &Exchange) -> Result<Answer> {
        let ask = self.fill(exchange)?;
        self.names.expect(&ask.body);
        if let Some(name) = &exchange.directives.watch {
            let (answer, stream) = self.target.open(&ask).await?;
            self.streams.extend(stream.map(|stream| (name.clone(), stream)));
            return Ok(answer);
        }
        let answer = match &exchange.directives.wait {
            Some(condition) => self.wait(&ask, &self.variables.fill(condition)).await?,
            None => self.target.send(&ask).await?,
        };
        let body = body(&answer);
        for (name, path) in &exchange.directives.captures {
            self.variables.capture(name, path, &body);
        }
        for (name, path) in &exchange.directives.captures_if_there {
            self.variables.capture_if_there(name, path, &body);
        }
        Ok(answer)
    }

    async fn wait(&self, ask: &Ask, condition: &str) -> Result<Answer> {
        const LIMIT: Duration = Duration::from_secs(20);
        let start = Instant::now();
        loop {
            let answer = self.target.send(ask).await?;
            if holds(condition, answer.status, &body(&answer)) {
                return Ok(answer);
            }
            let seen = String::from_utf8_lossy(&answer.body);
            ensure!(start.elapsed() < LIMIT, "waited in vain for `{condition}`, last seen: {} {seen}", answer.status);
            sleep(Duration::from_millis(40)).await;
        }
    }

    /// `COLLECT NAME COUNT`: the events of an open stream.
    async fn collect(&mut self, exchange: &Exchange) -> Result<Answer> {
        let (name, count) = exchange.target.split_once(' ').context("`COLLECT NAME COUNT`")?;
        let count: usize = count.parse()?;
        let stream = self.streams.remove(name).with_context(|| format!("there is no open stream `{name}`"))?;
        let counts =
            |line: &&Vec<u8>| !serde_json::from_slice(line).is_ok_and(|event| is_bookmark_by_the_clock(&event));
        let body = stream.collect(|lines| lines.iter().filter(counts).count() >= count).await;
        Ok(Answer { status: 200, body, ..Answer::default() })
    }

    fn fill(&self, exchange: &Exchange) -> Result<Ask> {
        let directives = &exchange.directives;
        let mut headers: Vec<(String, String)> = vec![("User-Agent".into(), USER_AGENT.into())];
        let given: Vec<(String, String)> = exchange.headers.iter().chain(&directives.identity).cloned().collect();
        let missing = |name: &str| !given.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        if missing("Authorization") && !directives.anonymous {
            headers.push(("Authorization".into(), format!("Bearer {}", self.target.token())));
        }
        if missing("Accept") {
            headers.push(("Accept".into(), "application/json".into()));
        }
        if missing("Content-Type") && !exchange.body.is_empty() {
            headers.push(("Content-Type".into(), "application/json".into()));
        }
        if missing("Audit-ID") && !self.audit_id.is_empty() {
            headers.push(("Audit-ID".into(), self.audit_id.clone()));
        }
        // A header without a value is one that is left off.
        let given = given.into_iter().filter(|(_, value)| !value.is_empty());
        headers.extend(given.map(|(name, value)| (name, self.variables.fill(&value))));
        let body = self.variables.fill(&exchange.body);
        let body = if directives.base64 { BASE64_STANDARD.decode(body.replace('\n', ""))? } else { body.into_bytes() };
        Ok(Ask { method: exchange.method.clone(), target: self.variables.fill(&exchange.target), headers, body })
    }
}

/// The first document of an answer.
fn body(answer: &Answer) -> Value {
    serde_json::Deserializer::from_slice(&answer.body).into_iter().next().and_then(Result::ok).unwrap_or_default()
}

/// A bookmark that does not end the initial events comes when the server likes.
pub(crate) fn is_bookmark_by_the_clock(event: &Value) -> bool {
    const END: &str = "metadata/annotations/k8s.io~1initial-events-end";
    let places = [format!("/object/{END}"), format!("/object/rows/0/object/{END}")];
    let ends = places.iter().any(|place| event.pointer(place).is_some());
    event.get("type").is_some_and(|kind| kind == "BOOKMARK") && !ends
}
