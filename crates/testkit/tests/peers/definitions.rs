//! Every definition of Crossplane and Open Cluster Management: applied, established, discovered, described and used alike.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use rolewright_testkit::peers::{Crossplane, Project};
use rolewright_testkit::random::seed;
use serde_json::Value;

use crate::objects::{NAMESPACE, Tally, Version, both, both_as, served};
use crate::servers::{self, Answer, Home, Pair};

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Random objects of each version, each in three variants.
const OBJECTS: u64 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn definitions_of_other_projects_find_no_difference() -> Result<()> {
    const SUITE: &str = "the peers suite";
    let Some(crossplane) = Crossplane::find(SUITE)? else { return Ok(()) };
    let Some(pair) = servers::pair("definitions").await? else { return Ok(()) };
    let namespace = serde_json::json!({"metadata": {"name": NAMESPACE}}).to_string().into_bytes();
    both(&pair, "POST", "/api/v1/namespaces", namespace).await?;
    let seed = seed();
    let mut tally = Tally::default();
    let mut definitions = Vec::new();
    for project in [Project::Crossplane, Project::Ocm] {
        for file in crossplane.definitions(project)? {
            let definition = install(&pair, &file, &mut tally).await.with_context(|| file.display().to_string())?;
            definitions.push(definition);
        }
    }
    described(&pair, &definitions, &mut tally).await?;
    for (index, definition) in definitions.iter().enumerate() {
        for version in Version::all(definition) {
            tally.objects(&pair, &version, seed.wrapping_add(index as u64), OBJECTS).await?;
        }
    }
    std::fs::remove_dir_all(&pair.folder)?;
    tally.end(&format!("{} definitions, seed {seed}", definitions.len()))
}

/// Applies a definition, which may replace one of the same name, and waits until it is served.
async fn install(pair: &Pair, file: &Path, tally: &mut Tally) -> Result<Value> {
    const APPLY: &str = "application/apply-patch+yaml";
    let text = std::fs::read_to_string(file)?;
    let name = text.lines().find_map(|line| line.strip_prefix("  name: ")).context("a definition has a name")?;
    let path = format!("{DEFINITIONS}/{name}");
    let query = format!("{path}?fieldManager=peers&force=true");
    let (there, here) = both_as(pair, "PATCH", &query, APPLY, text.clone().into_bytes()).await?;
    // What is established already may or may not show it in the answer to an update.
    if there.status == 201 {
        tally.compare(&format!("apply {name}"), &there, &here, None);
    }
    let (there, here) = tokio::try_join!(established(&pair.real, &path), established(&pair.ours, &path))?;
    for version in Version::all(&there.body) {
        served(pair, &version).await?;
    }
    tally.compare(&format!("GET {path}"), &there, &here, None);
    Ok(there.body)
}

pub(crate) async fn established(home: &Home, path: &str) -> Result<Answer> {
    let is_so = |answer: &Answer| {
        let conditions = answer.body["status"]["conditions"].as_array();
        let of = |kind: &str| {
            conditions.is_some_and(|list| list.iter().any(|one| one["type"] == kind && one["status"] == "True"))
        };
        of("Established") && of("NamesAccepted")
    };
    home.until(path, is_so).await
}

/// Discovery and OpenAPI of all groups, when everything is there.
async fn described(pair: &Pair, definitions: &[Value], tally: &mut Tally) -> Result<()> {
    let mut groups = BTreeSet::new();
    let mut wanted: BTreeSet<(String, String)> = BTreeSet::new();
    for definition in definitions {
        for version in Version::all(definition) {
            groups.insert(format!("/apis/{}", version.group));
            wanted.insert((format!("apis/{}/{}", version.group, version.name), version.kind.to_owned()));
        }
    }
    for group in groups {
        let (there, here) = tokio::try_join!(pair.real.get(&group), pair.ours.get(&group))?;
        tally.compare(&format!("GET {group}"), &there, &here, None);
    }
    let places: BTreeSet<&String> = wanted.iter().map(|(place, _)| place).collect();
    for place in places {
        let kinds: Vec<&str> =
            wanted.iter().filter(|(other, _)| other == place).map(|(_, kind)| kind.as_str()).collect();
        let path = format!("/{place}");
        let listed = |answer: &Answer| {
            let resources = answer.body["resources"].as_array();
            kinds.iter().all(|kind| resources.is_some_and(|list| list.iter().any(|one| one["kind"] == *kind)))
        };
        let (there, here) = tokio::try_join!(pair.real.until(&path, listed), pair.ours.until(&path, listed))?;
        tally.compare(&format!("GET {path}"), &there, &here, None);
        let path = format!("/openapi/v3/{place}");
        let all = |answer: &Answer| {
            let schemas = answer.body["components"]["schemas"].as_object();
            let has = |kind: &&str| {
                schemas.is_some_and(|schemas| schemas.keys().any(|name| name.ends_with(&format!(".{kind}"))))
            };
            kinds.iter().all(has)
        };
        let (there, here) = tokio::try_join!(pair.real.until(&path, all), pair.ours.until(&path, all))?;
        tally.compare(&format!("GET {path}"), &there, &here, None);
    }
    Ok(())
}
