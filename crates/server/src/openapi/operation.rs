//! What can be done at a path, and how that looks in OpenAPI.

use serde_json::{Map, Value, json};

use super::parameter::Parameter;
use super::schema::{kind_of, reference};
use crate::facts::Type;

/// A path and what can be done there.
pub(super) struct Path {
    pub(super) path: String,
    pub(super) operations: Vec<Operation>,
}

/// One thing that can be done.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) tag: String,
    pub(super) id: String,
    /// The action and the kind that it is about; not there for discovery.
    pub(super) about: Option<(&'static str, Kind)>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) answer: Answers,
}

/// Group, version and name.
pub(super) type Kind = (&'static str, &'static str, &'static str);

/// What is sent along.
pub(super) enum Body {
    Object(&'static Type),
    Options(&'static Type),
    Patch(&'static Type),
}

/// What comes back.
pub(super) struct Answers {
    pub(super) codes: &'static [u16],
    pub(super) media: &'static [&'static str],
    /// Plain text where there is none.
    pub(super) ty: Option<&'static Type>,
}

/// How objects are written.
pub(super) const OBJECT: &[&str] = &["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"];
/// How lists and watches are written.
pub(super) const STREAM: &[&str] = &[
    "application/json",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf;stream=watch",
    "application/yaml",
];
/// How logs are written.
pub(super) const LOG: &[&str] =
    &["application/json", "application/vnd.kubernetes.protobuf", "application/yaml", "text/plain"];
/// Whatever is at the other end of a connection.
pub(super) const ANY: &[&str] = &["*/*"];
const PATCHES: &[&str] = &[
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

impl Path {
    /// The types that are named here.
    pub(super) fn types(&self) -> impl Iterator<Item = &'static Type> {
        self.operations.iter().flat_map(|operation| {
            let sent = operation.body.as_ref().map(|body| match body {
                Body::Object(ty) | Body::Options(ty) | Body::Patch(ty) => *ty,
            });
            sent.into_iter().chain(operation.answer.ty)
        })
    }

    /// The path item. Parameters that all operations take are those of the path.
    pub(super) fn to_json(&self) -> Value {
        let mut item = Map::new();
        let is_common = |wanted: &&Parameter| self.operations.iter().all(|one| one.parameters.contains(wanted));
        let common: Vec<&Parameter> = self
            .operations
            .first()
            .map(|first| first.parameters.iter().filter(is_common).collect())
            .unwrap_or_default();
        if !common.is_empty() {
            item.insert("parameters".to_owned(), common.iter().map(|parameter| parameter.to_json()).collect());
        }
        for operation in &self.operations {
            item.insert(operation.method.to_owned(), operation.to_json(&common));
        }
        Value::Object(item)
    }
}

impl Operation {
    fn to_json(&self, common: &[&Parameter]) -> Value {
        let mut out = Map::new();
        let mut add = |member: &str, value: Value| out.insert(member.to_owned(), value);
        add("tags", json!([self.tag]));
        add("operationId", self.id.as_str().into());
        let own = self.parameters.iter().filter(|parameter| !common.contains(parameter));
        let own: Vec<Value> = own.map(|parameter| parameter.to_json()).collect();
        if !own.is_empty() {
            add("parameters", own.into());
        }
        match self.body {
            None => {}
            Some(Body::Options(ty)) => {
                add("requestBody", json!({"content": content(ANY, Some(ty))}));
            }
            Some(Body::Object(ty)) => {
                add("requestBody", json!({"content": content(ANY, Some(ty)), "required": true}));
            }
            Some(Body::Patch(ty)) => {
                add("requestBody", json!({"content": content(PATCHES, Some(ty)), "required": true}));
            }
        }
        add("responses", self.answer.to_json());
        if let Some((action, (group, version, kind))) = self.about {
            add("x-kubernetes-action", action.into());
            add("x-kubernetes-group-version-kind", kind_of(group, version, kind));
        }
        Value::Object(out)
    }
}

impl Answers {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        for code in self.codes {
            let word = match code {
                201 => "Created",
                202 => "Accepted",
                _ => "OK",
            };
            out.insert(code.to_string(), json!({"description": word, "content": content(self.media, self.ty)}));
        }
        out.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        Value::Object(out)
    }
}

fn content(media: &[&str], ty: Option<&Type>) -> Value {
    let schema = ty.map_or_else(|| json!({"type": "string"}), reference);
    media.iter().map(|media| ((*media).to_owned(), json!({"schema": schema}))).collect::<Map<_, _>>().into()
}
