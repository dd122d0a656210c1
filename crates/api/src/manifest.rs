//! Objects that somebody wrote down, each with the place where it is written.

mod field;
mod form;
mod problem;
mod source;
mod split;

use std::sync::Arc;

use serde_json::Value;

use crate::document::yaml;

pub use problem::Problem;
pub use source::{read_git, read_paths};

/// One object as it is written.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The object; it has `apiVersion`, `kind` and `metadata.name`.
    pub object: Value,
    place: Place,
}

/// Where an object is written.
#[derive(Clone, Debug)]
struct Place {
    file: Arc<str>,
    /// The document that it is in, and the line where that begins, from 1.
    text: Arc<str>,
    first_line: usize,
    /// The way to the object within the document: an item of a list.
    within: Vec<String>,
}

impl Place {
    /// The line of a field, or of the last part of the way there.
    fn line_of(&self, field: &str) -> usize {
        let parts: Vec<&str> = self.within.iter().map(String::as_str).chain(field::parts(field)).collect();
        let line = yaml::line_of(self.text.as_bytes(), &parts).unwrap_or(1);
        self.first_line + line.saturating_sub(1)
    }

    fn problem(&self, field: &str, message: impl Into<String>) -> Problem {
        Problem {
            file: Arc::clone(&self.file),
            line: Some(self.line_of(field)),
            field: field.to_owned(),
            message: message.into(),
            hint: None,
        }
    }
}

impl Manifest {
    /// The file, as it was named; `-` is standard input.
    pub fn file(&self) -> &str {
        &self.place.file
    }

    /// The line where the object begins. Reads its document anew.
    pub fn line(&self) -> usize {
        self.place.line_of("")
    }

    /// `apiVersion`.
    pub fn api_version(&self) -> &str {
        self.text("apiVersion")
    }

    /// The group of `apiVersion`; `""` is the core group.
    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// `kind`.
    pub fn kind(&self) -> &str {
        self.text("kind")
    }

    /// Something is wrong with a field, such as `rules[0].verbs`.
    pub fn problem(&self, field: &str, message: impl Into<String>) -> Problem {
        self.place.problem(field, message)
    }

    fn text(&self, field: &str) -> &str {
        self.object.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Finding the place of a problem costs reading its document, so that after this many no more are looked for.
pub const MOST_PROBLEMS: usize = 50;

/// All objects of a text, in order. Lists are taken apart.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<Manifest>, Vec<Problem>> {
    let mut manifests = Vec::new();
    let mut problems = Vec::new();
    for document in split::documents(file, bytes, &mut problems) {
        take_apart(document, &mut manifests, &mut problems);
    }
    for manifest in &manifests {
        form::check(manifest, &mut problems);
    }
    problems.sort_by_key(|problem| problem.line);
    if problems.is_empty() { Ok(manifests) } else { Err(problems) }
}

/// An object is taken as it is, a list item by item.
fn take_apart(document: Manifest, manifests: &mut Vec<Manifest>, problems: &mut Vec<Problem>) {
    let Manifest { mut object, place } = document;
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let of = kind.strip_suffix("List").map(str::to_owned);
    let (Some(of), Some(Value::Array(items))) = (of, object.get_mut("items").map(Value::take)) else {
        if let Some(found) = identified(&object, &place, problems) {
            manifests.push(Manifest { object: found, place });
        }
        return;
    };
    let api_version = object.get("apiVersion").cloned().unwrap_or_default();
    for (index, mut item) in items.into_iter().enumerate() {
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
        let place = Place { within: vec!["items".to_owned(), index.to_string()], ..place.clone() };
        if let (false, Some(item)) = (of.is_empty(), item.as_object_mut()) {
            // The items of a typed list need not say what they are.
            item.entry("kind").or_insert_with(|| of.clone().into());
            item.entry("apiVersion").or_insert_with(|| api_version.clone());
        }
        if let Some(object) = identified(&item, &place, problems) {
            manifests.push(Manifest { object, place });
        }
    }
}

/// The object, if it says what it is.
fn identified(object: &Value, place: &Place, problems: &mut Vec<Problem>) -> Option<Value> {
    let before = problems.len();
    if !object.is_object() {
        problems.push(place.problem("", "this is no object"));
        return None;
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    for (field, hint) in [("apiVersion", "such as `rbac.authorization.k8s.io/v1`"), ("kind", "such as `ClusterRole`")] {
        if !text(object.get(field)) {
            problems.push(place.problem(field, "is missing").hint(hint));
        }
    }
    let metadata = object.get("metadata");
    if object.get("kind").is_some_and(|kind| kind == "Kustomization") {
        let hint = "build it first: `kubectl kustomize DIR | rolewright plan -f -`";
        problems.push(place.problem("kind", "a kustomization is no object of a cluster").hint(hint));
    } else if !text(metadata.and_then(|metadata| metadata.get("name"))) {
        let made_up = metadata.is_some_and(|metadata| metadata.get("generateName").is_some());
        problems.push(if made_up {
            place
                .problem("metadata.generateName", "a name that the server makes up cannot be planned")
                .hint("give it a name")
        } else {
            place.problem("metadata.name", "is missing").hint("every object needs a name")
        });
    }
    (problems.len() == before).then(|| object.clone())
}

#[cfg(test)]
mod tests;
