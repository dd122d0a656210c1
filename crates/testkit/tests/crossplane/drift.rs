//! Whoever deletes or edits what the manager keeps sees it come back.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt};
use rolewright_plan::crossplane::{Settings, UserRoles};
use rolewright_testkit::manifest::{name, rbac};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::place::{PATIENCE, Place, manage};

const MANAGED: &str = "app.kubernetes.io/managed-by";
/// Objects that are hurt at the same time.
const AT_ONCE: usize = 8;

/// Hurts every object in every way, one way after the other.
pub(crate) async fn drift(place: &Place, settings: &Settings) -> Result<()> {
    let manager = manage(place, settings)?;
    manager.rest().await?;
    let mut objects = kept(place).await?;
    ensure!(objects.len() > 100, "there is much to hurt: {}", objects.len());
    if settings.user_roles == UserRoles::Materialized {
        // The others are the same as where Kubernetes gathers.
        objects.retain(|object| name(object).starts_with("crossplane-") || name(object) == "crossplane");
    }
    let healed = objects.iter().map(|object| async move {
        let wounds = wounds(object);
        for wound in &wounds {
            heals(place, object, wound)
                .await
                .with_context(|| format!("{} of {}", wound.0, object["metadata"]["name"]))?;
        }
        anyhow::Ok(wounds.len())
    });
    let healed: Vec<usize> = futures::stream::iter(healed).buffer_unordered(AT_ONCE).try_collect().await?;
    manager.rest().await?;
    let lag: Vec<String> = manager.metrics.encode().lines().filter_map(lag).collect();
    println!(
        "  {} wounds of {} objects healed; keys by the time in which they converged: {}",
        healed.iter().sum::<usize>(),
        objects.len(),
        lag.join(", ")
    );
    manager.end().await
}

/// `<=0.005 s: 17`.
fn lag(line: &str) -> Option<String> {
    let rest = line.strip_prefix("rolewright_engine_lag_seconds_bucket{le=\"")?;
    let (limit, rest) = rest.split_once('"')?;
    Some(format!("<={limit} s {}", rest.rsplit(' ').next()?))
}

/// All that the manager keeps.
pub(crate) async fn kept(place: &Place) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for kind in ["ClusterRole", "ClusterRoleBinding"] {
        all.extend(place.list(&rbac(kind, ""), &format!("{MANAGED}=rolewright")).await?);
    }
    Ok(all)
}

/// What can be done to an object: a name, and a patch; deletion has none.
fn wounds(object: &Value) -> Vec<(&'static str, Option<Value>)> {
    let mut all = vec![("deletion", None)];
    let mut wound = |name, patch| all.push((name, Some(patch)));
    let rule = json!({"apiGroups": ["wound.example.org"], "resources": ["*"], "verbs": ["*"]});
    let labels = object["metadata"]["labels"].as_object().into_iter().flatten().map(|(key, _)| key);
    let labels: Vec<&String> = labels.collect();
    let each = |labels: &[&String], value: &Value| -> serde_json::Map<String, Value> {
        labels.iter().map(|label| ((*label).clone(), value.clone())).collect()
    };
    if !labels.is_empty() {
        wound("labels that go", json!({"metadata": {"labels": each(&labels, &Value::Null)}}));
    }
    // Whoever says of what nobody owns that it is somebody else's takes it from us.
    let is_owned = object["metadata"]["ownerReferences"].is_array();
    let labels: Vec<&String> = labels.into_iter().filter(|label| is_owned || *label != MANAGED).collect();
    if !labels.is_empty() {
        wound("labels that change", json!({"metadata": {"labels": each(&labels, &json!("other"))}}));
    }
    if object["metadata"]["ownerReferences"].is_array() {
        wound("owners", json!({"metadata": {"ownerReferences": null}}));
    }
    if object["kind"] == "ClusterRole" {
        wound("rules", json!({"rules": [rule]}));
        if object["aggregationRule"].is_object() {
            wound("no rules", json!({"rules": []}));
        }
        let selector = json!({"matchLabels": {"wound": "true"}});
        wound("aggregation", json!({"aggregationRule": {"clusterRoleSelectors": [selector]}}));
    } else {
        let eve = json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "eve"});
        wound("subjects", json!({"subjects": [eve]}));
        wound("no subjects", json!({"subjects": null}));
    }
    all
}

async fn heals(place: &Place, object: &Value, (name, patch): &(&str, Option<Value>)) -> Result<()> {
    let hurt = if let Some(patch) = patch {
        place.merge(object, patch).await?
    } else {
        place.delete(object).await?;
        Value::Null
    };
    let version = &hurt["metadata"]["resourceVersion"];
    let start = Instant::now();
    loop {
        let found = place.get(object).await?.unwrap_or_default();
        if plain(&found) == plain(object) && found["metadata"]["resourceVersion"] != *version {
            return Ok(());
        }
        // An answer that shows no wound was mended while it was written.
        if plain(&hurt) == plain(object) {
            return Ok(());
        }
        ensure!(start.elapsed() < PATIENCE / 2, "{name} do not heal:\n{:#}\nwas {:#}", plain(&found), plain(object));
        sleep(Duration::from_millis(5)).await;
    }
}

/// What an object is, without what is of one life of it.
pub(crate) fn plain(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for own in ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"] {
            metadata.remove(own);
        }
    }
    for field in ["rules", "subjects", "aggregationRule"] {
        if object[field].as_array().is_none_or(Vec::is_empty) && !object[field].is_object() {
            object[field] = Value::Null;
        }
    }
    object
}
