//! Invented `cargo metadata`, to show that each rule about dependencies can fail.

use serde_json::{Value, json};

use crate::metadata::Metadata;

/// A workspace under construction. Packages are named by their plain names; a foreign one exists once it is added.
#[derive(Default)]
pub(super) struct Fake {
    packages: Vec<Value>,
    members: Vec<String>,
    nodes: Vec<Value>,
}

impl Fake {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A crate of ours. A dependency is a name, after `dev:`, `build:` or `optional:` where it is not a plain one, and
    /// may list features: `kube+client+runtime`; `kube-default` leaves the default features off.
    pub(super) fn member(mut self, name: &str, dependencies: &[&str]) -> Self {
        self.members.push(name.to_owned());
        self.package(name, name, "0.1.0", Some("Apache-2.0"), dependencies)
    }

    /// Somebody else's crate without dependencies.
    pub(super) fn foreign(self, name: &str, version: &str, licence: Option<&str>) -> Self {
        self.package(&format!("{name}@{version}"), name, version, licence, &[])
    }

    /// Somebody else's crate with dependencies, reached by members under its plain name.
    pub(super) fn library(self, name: &str, dependencies: &[&str]) -> Self {
        self.package(name, name, "1.0.0", Some("MIT"), dependencies)
    }

    pub(super) fn metadata(self) -> Metadata {
        let all = json!({
            "packages": self.packages,
            "workspace_members": self.members,
            "resolve": { "nodes": self.nodes },
        });
        serde_json::from_value(all).unwrap()
    }

    fn package(mut self, id: &str, name: &str, version: &str, licence: Option<&str>, dependencies: &[&str]) -> Self {
        let parsed: Vec<_> = dependencies.iter().map(|text| declared(text)).collect();
        let edge = |d: &Value| json!({ "pkg": d["name"], "dep_kinds": [{ "kind": d["kind"] }] });
        self.nodes.push(json!({ "id": id, "deps": parsed.iter().map(edge).collect::<Vec<_>>() }));
        self.packages.push(json!({
            "id": id,
            "name": name,
            "version": version,
            "license": licence,
            "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
            "dependencies": parsed,
        }));
        self
    }
}

fn declared(text: &str) -> Value {
    let (kind, rest) = text.split_once(':').unwrap_or(("", text));
    let mut parts = rest.split('+');
    let name = parts.next().unwrap_or_default();
    let (name, defaults) = name.strip_suffix("-default").map_or((name, true), |name| (name, false));
    json!({
        "name": name,
        "kind": matches!(kind, "dev" | "build").then_some(kind),
        "optional": kind == "optional",
        "uses_default_features": defaults,
        "features": parts.collect::<Vec<_>>(),
    })
}
