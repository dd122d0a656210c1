//! Random definitions and random objects of them: taken or refused alike, stored alike after pruning and defaulting.

use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use rolewright_testkit::random::seed;
use rolewright_testkit::strategy::schema::{self, Choices};
use rolewright_testkit::testbed;
use serde_json::{Value, json};

use crate::definitions::{DEFINITIONS, established};
use crate::objects::{NAMESPACE, Tally, Version, both, served};
use crate::servers::{self, Pair};

/// Definitions, unless the environment says how many.
const COUNT: u64 = 40;
/// Objects of each, in three variants.
const OBJECTS: u64 = 6;
/// Definitions that are looked at side by side.
const TOGETHER: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn random_definitions_find_no_difference() -> Result<()> {
    if testbed::binary("the peers suite")?.is_none() {
        return Ok(());
    }
    let Some(pair) = servers::pair("random").await? else { return Ok(()) };
    let namespace = json!({"metadata": {"name": NAMESPACE}}).to_string().into_bytes();
    both(&pair, "POST", "/api/v1/namespaces", namespace).await?;
    let count = std::env::var("ROLEWRIGHT_PEERS_RANDOM").ok().and_then(|text| text.parse().ok()).unwrap_or(COUNT);
    let seed = seed();
    let played = stream::iter(0..count).map(|index| play(&pair, seed, index));
    let tallies: Vec<Tally> = played.buffer_unordered(TOGETHER).try_collect().await?;
    let mut all = Tally::default();
    for tally in tallies {
        all.accepted += tally.accepted;
        all.refused += tally.refused;
        all.compared += tally.compared;
        all.findings.extend(tally.findings);
    }
    std::fs::remove_dir_all(&pair.folder)?;
    all.end(&format!("{count} random definitions, seed {seed}"))
}

async fn play(pair: &Pair, seed: u64, index: u64) -> Result<Tally> {
    let mut tally = Tally::default();
    let drawn = schema::schema(&mut Choices::seeded(seed.wrapping_add(index), 400));
    let definition = definition(index, &drawn);
    let (there, here) = both(pair, "POST", DEFINITIONS, definition.to_string().into_bytes()).await?;
    tally.compare(&format!("definition {index}"), &there, &here, Some(&definition));
    if there.status != 201 || here.status != 201 {
        return Ok(tally);
    }
    let path = format!("{DEFINITIONS}/{}", definition["metadata"]["name"].as_str().unwrap_or_default());
    let (there, here) = tokio::try_join!(established(&pair.real, &path), established(&pair.ours, &path))?;
    tally.compare(&format!("GET {path}"), &there, &here, None);
    for version in Version::all(&there.body) {
        served(pair, &version).await?;
        tally.objects(pair, &version, seed.wrapping_add(index), OBJECTS).await?;
    }
    Ok(tally)
}

fn definition(index: u64, schema: &Value) -> Value {
    let (plural, group) = (format!("things{index}"), "random.example.com");
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": format!("Thing{index}")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
    })
}
