//! What both servers wrote down about the same requests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::run::{Played, moved};

/// What the real server is told to write down: everything that ours does.
const POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}]}"#;

/// The files that both servers write to. They are removed when this is dropped.
pub(crate) struct Logs {
    folder: PathBuf,
}

/// The events of each request, by the id that the suite gave it, and by stage. Of a request that was sent until something
/// held, the last one counts.
type Events = BTreeMap<String, BTreeMap<String, Value>>;

impl Logs {
    pub(crate) fn new() -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("rolewright-twin-audit-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("policy.json"), POLICY)?;
        Ok(Self { folder })
    }

    /// How the real server is told.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let file = |name: &str| self.folder.join(name).display().to_string();
        let (log, policy) = (file("real.log"), file("policy.json"));
        vec!["--arg".into(), format!("audit-log-path={log}"), "--arg".into(), format!("audit-policy-file={policy}")]
    }

    pub(crate) fn ours(&self) -> PathBuf {
        self.folder.join("ours.log")
    }

    /// Adds to each outcome what the logs tell differently about it.
    pub(crate) async fn compare(&self, played: &mut [Played]) -> Result<()> {
        let ids: Vec<&str> = played.iter().flat_map(|played| &played.outcomes).map(|it| it.audit_id.as_str()).collect();
        let (real, ours) = self.both(&ids).await?;
        for played in played {
            for outcome in &mut played.outcomes {
                let told = |events: &Events| json!(events.get(&outcome.audit_id).cloned().unwrap_or_default());
                let (mut real, mut ours) = (told(&real), told(&ours));
                forget_modes(&mut real, &mut ours);
                played.names.0.normalise(&mut real);
                played.names.1.normalise(&mut ours);
                for difference in played.twins.compare(&real, &ours) {
                    outcome.differences.push(moved(format!("audit{}", difference.path), difference));
                }
            }
        }
        Ok(())
    }

    /// Both logs. A watch is told of when it ends, which the servers learn a moment later.
    async fn both(&self, ids: &[&str]) -> Result<(Events, Events)> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let start = Instant::now();
        loop {
            let (real, ours) = (read(&self.folder.join("real.log"))?, read(&self.ours())?);
            let count = |events: &Events, id: &str| events.get(id).map_or(0, BTreeMap::len);
            let level = ids.iter().all(|id| count(&real, id) == count(&ours, id));
            if level || start.elapsed() > PATIENCE {
                return Ok((real, ours));
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        // A folder that stays is a nuisance, no failure.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn read(path: &Path) -> Result<Events> {
    let text = fs::read_to_string(path).with_context(|| format!("no log `{}`", path.display()))?;
    let mut events = Events::new();
    // The last line may be half written.
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let mut event: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
        let Some(fields) = event.as_object_mut() else { continue };
        for time in ["requestReceivedTimestamp", "stageTimestamp"] {
            let told = fields.get(time).and_then(Value::as_str).unwrap_or_default();
            let micros = told.len() == "2026-11-16T01:30:14.795811Z".len();
            fields.insert(time.to_owned(), json!(micros));
        }
        forget(fields);
        let id = fields.remove("auditID").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
        let stage = fields.get("stage").and_then(Value::as_str).unwrap_or_default().to_owned();
        let watch = fields.get("verb").is_some_and(|verb| verb == "watch");
        let of_request = events.entry(id).or_default();
        if !watch {
            of_request.clear();
        }
        of_request.insert(stage, event);
    }
    Ok(events)
}

/// Which right lets somebody speak for another is told only while a cache does not know it yet, so it may be on one side
/// only. Where both tell, they tell the same.
fn forget_modes(real: &mut Value, ours: &mut Value) {
    const MODE: &str = "authenticationMetadata";
    let (Some(real), Some(ours)) = (real.as_object_mut(), ours.as_object_mut()) else { return };
    for (stage, real) in real {
        let Some(ours) = ours.get_mut(stage).and_then(Value::as_object_mut) else { continue };
        let Some(real) = real.as_object_mut() else { continue };
        if real.contains_key(MODE) != ours.contains_key(MODE) {
            real.remove(MODE);
            ours.remove(MODE);
        }
    }
}

/// What differs for reasons outside the log: the superuser is called otherwise, nobody here looks after pod security, slow
/// requests say what took so long, versions in a URL come from earlier answers, and Go finds conflicts in any order.
fn forget(fields: &mut serde_json::Map<String, Value>) {
    if let Some(user) = fields.get_mut("user").and_then(Value::as_object_mut)
        && user
            .get("username")
            .is_some_and(|name| ["testbed-admin", "kubernetes-admin"].iter().any(|admin| name == admin))
    {
        user.remove("uid");
        user.insert("username".to_owned(), json!("<admin>"));
    }
    if let Some(annotations) = fields.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("pod-security.kubernetes.io/enforce-policy");
        annotations.retain(|key, _| !key.starts_with("apiserver.latency.k8s.io/"));
    }
    let causes = fields.get_mut("responseStatus").and_then(|status| status.pointer_mut("/details/causes"));
    if let Some(Value::Array(causes)) = causes {
        causes.sort_by_cached_key(Value::to_string);
    }
    if let Some(Value::String(uri)) = fields.get_mut("requestURI") {
        for key in ["resourceVersion=", "continue="] {
            if let Some(at) = uri.find(key).map(|at| at + key.len()) {
                let end = uri[at..].find('&').map_or(uri.len(), |end| at + end);
                uri.replace_range(at..end, "<>");
            }
        }
    }
}
