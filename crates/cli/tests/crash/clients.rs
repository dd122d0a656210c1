//! Those who write, those who look on, and what they make of a restart.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::model::{Content, Model, Random};
use crate::process::Running;
use rolewright_testkit::client::Connection;

const WRITERS: usize = 4;
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const LISTS: [&str; 3] = [MAPS, SECRETS, ROLES];
/// A role that gathers the rules of all others of ours, in the transaction that changes them.
const GATHERED: &str = "gathered";
const LABEL: &str = "crash";

/// When the process dies: after this many requests.
struct Fate {
    left: Cell<usize>,
    now: Notify,
}

impl Fate {
    fn step(&self) {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if left == 0 {
            self.now.notify_one();
        }
    }
}

/// Writes and watches until it is time.
pub(crate) async fn work(server: &Running, model: &Rc<Model>, random: &mut Random, round: usize) -> Result<()> {
    let mut connection = server.endpoint.connect().await?;
    if round == 0 {
        let rule = json!({"clusterRoleSelectors": [{"matchLabels": {LABEL: "yes"}}]});
        let role = json!({"metadata": {"name": GATHERED}, "aggregationRule": rule});
        let (code, answer) = connection.ask("POST", ROLES, "application/json", &role).await?;
        ensure!(code == 201, "{answer}");
    }
    for list in [MAPS, ROLES] {
        let (_, listed) = connection.get(&format!("{list}?limit=1")).await?;
        let from = listed["metadata"]["resourceVersion"].as_str().context("a list has a version")?;
        let path = format!("{list}?watch=true&resourceVersion={from}");
        let stream = connection.open("GET", &path, "application/json", &Value::Null).await?.into_body();
        let model = model.clone();
        model.starts();
        tokio::task::spawn_local(async move {
            let seen = look_on(stream, list, &model).await;
            model.ends(seen);
        });
    }
    let fate = Rc::new(Fate { left: Cell::new(1 + random.below(40)), now: Notify::new() });
    for writer in 0..WRITERS {
        let mut connection = server.endpoint.connect().await?;
        let (model, fate, mut random) = (model.clone(), fate.clone(), random.fork());
        model.starts();
        tokio::task::spawn_local(async move {
            let mut step = 0;
            let noticed = loop {
                fate.step();
                let text = format!("{round}-{writer}-{step}");
                step += 1;
                match write(&mut connection, &model, writer, &text, &mut random).await {
                    Ok(Ok(())) => {}
                    Ok(wrong) => break wrong,
                    // Nobody answers any more.
                    Err(_) => break Ok(()),
                }
            };
            fate.now.notify_one();
            model.ends(noticed);
        });
    }
    fate.now.notified().await;
    // The moment must not always be that in which a request leaves.
    tokio::time::sleep(Duration::from_micros(random.below(3_000) as u64)).await;
    Ok(())
}

/// What an object says: every text that was put into it, which must be the same one.
fn content(path: &str, object: &Value) -> Result<String> {
    let (one, other) = if path.starts_with(ROLES) {
        (&object["rules"][0]["resources"][0], &object["rules"][1]["resources"][0])
    } else if path.starts_with(SECRETS) {
        (&object["metadata"]["annotations"]["one"], &object["metadata"]["labels"]["other"])
    } else {
        (&object["data"]["one"], &object["data"]["other"])
    };
    ensure!(one == other && one.is_string(), "{path} is there by halves: {object}");
    Ok(one.as_str().unwrap_or_default().to_owned())
}

fn body(list: &str, name: &str, text: &str, large: bool) -> Value {
    let ballast = if large { "x".repeat(30_000) } else { String::new() };
    match list {
        ROLES => {
            let rule = |verb: &str| json!({"apiGroups": ["acme.io"], "resources": [text], "verbs": [verb]});
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name, "labels": {LABEL: "yes"}}, "rules": [rule("get"), rule("list")]})
        }
        SECRETS => json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"ballast": ballast},
            "metadata": {"name": name, "annotations": {"one": text}, "labels": {"other": text}}}),
        _ => json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
            "data": {"one": text, "ballast": ballast, "other": text}}),
    }
}

fn revision(object: &Value) -> Result<u64> {
    let text = object["metadata"]["resourceVersion"].as_str();
    Ok(text.with_context(|| format!("no version in {object}"))?.parse()?)
}

/// One write. The outer result fails when there is no answer, the inner one when the answer is wrong.
async fn write(
    connection: &mut Connection,
    model: &Model,
    writer: usize,
    text: &str,
    random: &mut Random,
) -> Result<Result<()>> {
    let list = LISTS[random.below(3)];
    if random.below(6) == 0 {
        let path = format!("{MAPS}/shared-{}", random.below(2));
        model.send_shared(&path, text);
        let name = path.rsplit('/').next().unwrap_or_default();
        let apply = format!("{path}?fieldManager=writer&force=true");
        let body = body(MAPS, name, text, false);
        let (code, answer) = connection.ask("PATCH", &apply, "application/apply-patch+yaml", &body).await?;
        return Ok(acknowledged(model, &path, code, &answer, Some(text)));
    }
    let name = format!("of-{writer}-{}", random.below(3));
    let path = format!("{list}/{name}");
    let body = body(list, &name, text, random.below(10) == 0);
    let there = model.content(&path).is_some();
    let wanted = (!there || random.below(4) > 0).then(|| text.to_owned());
    model.send(&path, wanted.clone());
    let json = "application/json";
    let sent = match (there, &wanted) {
        (_, None) => connection.ask("DELETE", &path, json, &Value::Null).await,
        (false, _) if random.below(3) == 0 => apply(connection, &path, &body).await,
        (false, _) => connection.ask("POST", list, json, &body).await,
        (true, _) => match random.below(3) {
            0 => connection.ask("PUT", &path, json, &body).await,
            1 => connection.ask("PATCH", &path, "application/merge-patch+json", &body).await,
            _ => apply(connection, &path, &body).await,
        },
    };
    let (code, answer) = sent?;
    model.acknowledge(&path);
    Ok(acknowledged(model, &path, code, &answer, wanted.as_deref()))
}

async fn apply(connection: &mut Connection, path: &str, body: &Value) -> Result<(u16, Value)> {
    let path = format!("{path}?fieldManager=writer&force=true");
    connection.ask("PATCH", &path, "application/apply-patch+yaml", body).await
}

fn acknowledged(model: &Model, path: &str, code: u16, answer: &Value, wanted: Option<&str>) -> Result<()> {
    ensure!((200..300).contains(&code), "{path}: {code} {answer}");
    let Some(wanted) = wanted else { return Ok(()) };
    let content = content(path, answer)?;
    ensure!(content == wanted, "{path}: sent {wanted}, got {content}");
    model.told(path, revision(answer)?, &Some(content))
}

/// Keeps what a watch shows, until it breaks off.
async fn look_on(mut stream: hyper::body::Incoming, list: &str, model: &Model) -> Result<()> {
    let mut rest = Vec::new();
    while let Some(Ok(frame)) = stream.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        rest.extend_from_slice(&data);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            let event: Value = serde_json::from_slice(&line)?;
            let object = &event["object"];
            let revision = revision(object)?;
            model.told_of(revision);
            model.events.set(model.events.get() + 1);
            let name = object["metadata"]["name"].as_str().context("an object has a name")?;
            if is_ours(name) {
                let path = format!("{list}/{name}");
                let content: Content = if event["type"] == "DELETED" { None } else { Some(content(&path, object)?) };
                model.told(&path, revision, &content)?;
            }
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    name.starts_with("of-") || name.starts_with("shared-")
}

/// Looks at everything after a restart.
pub(crate) async fn verify(server: &Running, model: &Model) -> Result<()> {
    let mut connection = server.endpoint.connect().await?;
    let mut found = BTreeMap::new();
    for list in LISTS {
        let (code, listed) = connection.get(list).await?;
        ensure!(code == 200, "{listed}");
        let at = revision(&listed)?;
        ensure!(at >= model.on_disk.get(), "{list} is at {at}, the disk was at {}", model.on_disk.get());
        let items = listed["items"].as_array().context("a list has items")?;
        let mut gathered = None;
        let mut rules = Vec::new();
        for item in items {
            let name = item["metadata"]["name"].as_str().context("an object has a name")?;
            if name == GATHERED {
                gathered = Some(item);
            }
            if !is_ours(name) {
                continue;
            }
            let path = format!("{list}/{name}");
            let content = content(&path, item)?;
            rules.extend(item["rules"].as_array().into_iter().flatten().cloned());
            model.told(&path, revision(item)?, &Some(content.clone()))?;
            found.insert(path, (revision(item)?, content));
        }
        if let Some(gathered) = gathered {
            // Roles and what follows from them are one transaction. Nobody has made up for it since the start.
            ensure!(revision(gathered)? <= model.on_disk.get(), "the gathered role was written by the restart");
            let now = gathered["rules"].as_array().cloned().unwrap_or_default();
            let same = now.len() == rules.len() && now.iter().all(|rule| rules.contains(rule));
            ensure!(same, "gathered are {now:?}, there are {rules:?}");
        }
    }
    model.compare(&found)
}
