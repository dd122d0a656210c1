//! The definitions of Crossplane and Open Cluster Management are accepted as they are, where Go has their modules.

use std::path::PathBuf;
use std::process::Command;

use rolewright_server::codec::{self, FieldValidation, Gvk};
use serde_json::Value;

use crate::compare::{Item, compare_all};

/// The directory of a module that `testbed/crossplane` uses.
fn module(name: &str) -> Option<PathBuf> {
    let at = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testbed/crossplane");
    let found = Command::new("go").args(["list", "-m", "-f", "{{.Dir}}", name]).current_dir(at).output().ok()?;
    let path = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim());
    path.is_dir().then_some(path)
}

fn definitions(under: PathBuf, found: &mut Vec<Value>) {
    for entry in std::fs::read_dir(under).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // What is there is broken on purpose.
            if path.file_name().is_some_and(|name| name != "test" && name != "hack") {
                definitions(path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read_to_string(&path).unwrap();
            for document in text.split("\n---\n").filter(|document| document.contains("kind: CustomResourceDefinition"))
            {
                let expected = Gvk { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" };
                let read =
                    codec::decode(Some("application/yaml"), document.as_bytes(), expected, FieldValidation::Ignore);
                let object = read.unwrap_or_else(|failure| panic!("{}: {}", path.display(), failure.to_json())).object;
                found.push(object.into());
            }
        }
    }
}

#[test]
fn definitions_of_peers_are_accepted() {
    let mut found = Vec::new();
    for (name, below) in
        [("github.com/crossplane/crossplane/v2", "cluster/crds"), ("open-cluster-management.io/api", "")]
    {
        if let Some(path) = module(name) {
            definitions(path.join(below), &mut found);
        }
    }
    let items: Vec<Item> = found.into_iter().map(|definition| Item::create(definition).accepted()).collect();
    compare_all("definitions_peers", &items);
}
