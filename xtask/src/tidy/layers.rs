//! Who may depend on whom.
//!
//! A crate boundary exists where something must be forbidden. Cargo stops an import without a dependency; this stops
//! the dependency.

mod table;
#[cfg(test)]
mod tests;

use self::table::{LAYERS, Layer, TESTKIT, ThirdParty};
use super::Finding;
use crate::metadata::{Dependency, Graph, Kind, Metadata, Package};

const HERE: &str = "xtask/src/tidy/layers/table.rs";

/// Checks every member. `line` finds where a manifest names a dependency.
pub(super) fn check(metadata: &Metadata, line: impl Fn(&Package, &str) -> Option<usize>) -> Vec<Finding> {
    let graph = Graph::new(metadata);
    let members = metadata.members();
    let is_ours = |name: &str| members.iter().any(|member| member.name == name);
    let mut findings = Vec::new();
    for member in &members {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == member.name) else {
            findings.push(unknown(member));
            continue;
        };
        for dependency in &member.dependencies {
            let problem = if is_ours(&dependency.name) {
                check_ours(layer, dependency)
            } else {
                check_third_party(layer, dependency)
            };
            let at = || line(member, &dependency.name);
            findings.extend(problem.map(|(message, fix)| Finding::new(manifest(member), at(), message, fix)));
        }
        findings.extend(check_reach(layer, member, &graph, &line));
    }
    findings
}

type Problem = (String, String);

fn check_ours(layer: &Layer, dependency: &Dependency) -> Option<Problem> {
    let (name, own) = (dependency.name.as_str(), layer.name);
    if name == TESTKIT && layer.uses_testkit() {
        return None;
    }
    if name == TESTKIT {
        return (dependency.kind != Kind::Dev).then(|| {
            (
                format!("`{own}` builds with `{TESTKIT}`, which is for tests only"),
                "move it to `[dev-dependencies]`".to_owned(),
            )
        });
    }
    // Development edges count too: a test that needs the other side gets it from the testkit.
    (!layer.uses.contains(&name)).then(|| {
        let uses = if layer.uses.is_empty() { "none of ours".to_owned() } else { layer.uses.join(", ") };
        (format!("`{own}` must not depend on `{name}`"), format!("it may use {uses}; {}", layer.why))
    })
}

fn check_third_party(layer: &Layer, dependency: &Dependency) -> Option<Problem> {
    if dependency.kind == Kind::Dev {
        return None;
    }
    let (name, own) = (dependency.name.as_str(), layer.name);
    if let ThirdParty::Only { always, optional } = layer.third_party {
        if optional.contains(&name) && !dependency.optional {
            return Some((
                format!("`{own}` depends on `{name}` always"),
                "make it `optional = true` behind a feature".to_owned(),
            ));
        }
        if !always.contains(&name) && !optional.contains(&name) {
            return Some((
                format!("`{own}` must not depend on `{name}`"),
                format!("do without it, or move what needs it to another crate; {}", layer.why),
            ));
        }
    }
    if layer.never.contains(&name) {
        return Some((format!("`{own}` must not depend on `{name}`"), layer.why.to_owned()));
    }
    let (_, off) = layer.features_off.iter().find(|(known, _)| *known == name)?;
    let on = dependency.features.iter().find(|feature| off.contains(&feature.as_str()));
    let on = on.map(String::as_str).or(dependency.uses_default_features.then_some("default"))?;
    Some((
        format!("`{own}` uses `{name}` with the feature `{on}`"),
        format!("leave off the default features and {}; {}", off.join(", "), layer.why),
    ))
}

fn check_reach(
    layer: &Layer,
    member: &Package,
    graph: &Graph<'_>,
    line: &impl Fn(&Package, &str) -> Option<usize>,
) -> Vec<Finding> {
    let paths = layer.unreachable.iter().filter_map(|name| graph.path(&member.id, name));
    paths
        .map(|path| {
            let end = path.last().copied().unwrap_or_default();
            let first_step = path.get(1).copied().unwrap_or_default();
            Finding::new(
                manifest(member),
                line(member, first_step),
                format!("`{}` reaches `{end}`: {}", layer.name, path.join(" -> ")),
                format!("cut one of these edges; {}", layer.why),
            )
        })
        .collect()
}

fn unknown(member: &Package) -> Finding {
    Finding::new(
        manifest(member),
        None,
        format!("`{}` has no row in the dependency table", member.name),
        format!("say in `{HERE}` what it may use and why it is a crate of its own"),
    )
}

/// The manifest, by its last folders: enough to find it, and the same in every checkout.
fn manifest(member: &Package) -> String {
    let parts: Vec<_> = member.manifest_path.iter().rev().take(3).map(|part| part.to_string_lossy()).collect();
    let inside_crates = parts.get(2).is_some_and(|folder| folder == "crates");
    parts.into_iter().take(if inside_crates { 3 } else { 2 }).rev().collect::<Vec<_>>().join("/")
}
