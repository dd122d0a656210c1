//! Custom kinds in OpenAPI. A document is made of the definitions when it is asked for.

use rolewright_crd::openapi::{kind_schema, list_schema};
use serde_json::{Map, Value, json};

use super::draft::shared;
use super::parameter::{DELETE, FORCE, LIST, PRETTY, Parameter, VERSION, WRITE, part};
use super::paths::{capitalized, short};
use super::schema::{self, kind_of};
use crate::facts::{Type, type_named, type_of};
use crate::strategy::Object;

const MEDIA: &[&str] = &["application/json", "application/yaml"];
const PATCHES: &[&str] =
    &["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];

/// A version of a definition, as far as it is described.
#[derive(Debug)]
pub(crate) struct CustomKind {
    group: String,
    version: String,
    plural: String,
    kind: String,
    list_kind: String,
    namespaced: bool,
    status: bool,
    scale: bool,
    /// Paths without the first dot.
    selectable: Vec<String>,
    schema: Option<Value>,
}

impl CustomKind {
    /// Reads a version of a definition.
    pub(crate) fn read(definition: &Object, version: &str) -> Option<Self> {
        let spec = definition.get("spec")?;
        let names = spec.get("names")?;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let versions = spec.get("versions")?.as_array()?;
        let item = versions.iter().find(|item| item.get("name").is_some_and(|name| name == version))?;
        let has = |part: &str| item.get("subresources").and_then(|parts| parts.get(part)).is_some_and(Value::is_object);
        let selectable = item.get("selectableFields").and_then(Value::as_array).into_iter().flatten();
        let path = |field: &Value| {
            let path = text(field, "jsonPath");
            path.strip_prefix('.').map(str::to_owned).unwrap_or(path)
        };
        Some(Self {
            group: text(spec, "group"),
            version: version.to_owned(),
            plural: text(names, "plural"),
            kind: text(names, "kind"),
            list_kind: text(names, "listKind"),
            namespaced: text(spec, "scope") == "Namespaced",
            status: has("status"),
            scale: has("scale"),
            selectable: selectable.map(path).collect(),
            schema: item.get("schema").and_then(|schema| schema.get("openAPIV3Schema")).cloned(),
        })
    }

    /// The name of a kind's schema: `com.example.v1.Widget`.
    fn model(&self, kind: &str) -> String {
        let group: Vec<&str> = self.group.rsplit('.').collect();
        format!("{}.{}.{kind}", group.join("."), self.version)
    }

    fn schemas(&self) -> [(String, Value); 2] {
        let reference = reference(&self.model(&self.kind));
        let whole = kind_schema(self.schema.as_ref());
        let list = list_schema(&self.kind, &self.list_kind, &self.plural, &reference);
        [(whole, &self.kind), (list, &self.list_kind)].map(|(mut schema, kind)| {
            let kinds = json!([kind_of(&self.group, &self.version, kind)]);
            schema.insert("x-kubernetes-group-version-kind".to_owned(), kinds);
            if !self.selectable.is_empty() {
                let fields = self.selectable.iter().map(|path| json!({"fieldPath": path})).collect();
                schema.insert("x-kubernetes-selectable-fields".to_owned(), fields);
            }
            (self.model(kind), Value::Object(schema))
        })
    }

    fn paths(&self) -> Vec<(String, Value)> {
        let (object, list) = (self.model(&self.kind), self.model(&self.list_kind));
        let root = format!("/apis/{}/{}", self.group, self.version);
        let space = if self.namespaced { "/namespaces/{namespace}" } else { "" };
        let collection = format!("{root}{space}/{}", self.plural);
        let item = format!("{collection}/{{name}}");
        let scope = if self.namespaced { "Namespaced" } else { "" };
        let end = format!("{scope}{}", self.kind);
        let status = named(shared("Status"));
        let listing = |end: String| Draft::new("get", ("list", end), "list", LIST).answers(&list, &[200]);
        let mut paths = Vec::new();
        if self.namespaced {
            let everywhere = vec![listing(format!("{}ForAllNamespaces", self.kind))];
            paths.push(self.path(format!("{root}/{}", self.plural), &[PRETTY], everywhere));
        }
        let space: Vec<Parameter> = self.namespaced.then_some(part("namespace")).into_iter().collect();
        let on_all = [space.as_slice(), &[PRETTY]].concat();
        let on_one = [space.as_slice(), &[part("name"), PRETTY]].concat();
        let all = vec![
            listing(end.clone()),
            Draft::new("post", ("create", end.clone()), "post", WRITE)
                .answers(&object, &[200, 201, 202])
                .takes(&object),
            Draft::new("delete", ("delete", format!("Collection{end}")), "deletecollection", LIST)
                .answers(&status, &[200]),
        ];
        paths.push(self.path(collection, &on_all, all));
        let options = named(shared("DeleteOptions"));
        let mut one = verbs_on(&object, &end);
        one.push(
            Draft::new("delete", ("delete", end.clone()), "delete", DELETE)
                .answers(&status, &[200, 202])
                .may_take(&options),
        );
        paths.push(self.path(item.clone(), &on_one, one));
        if self.status {
            paths.push(self.path(format!("{item}/status"), &on_one, verbs_on(&object, &format!("{end}Status"))));
        }
        if self.scale {
            let scale = named(type_of("autoscaling", "v1", "Scale"));
            paths.push(self.path(format!("{item}/scale"), &on_one, verbs_on(&scale, &format!("{end}Scale"))));
        }
        paths
    }

    /// A path with what can be done there; parameters that all operations take are those of the path.
    fn path(&self, path: String, common: &[Parameter], drafts: Vec<Draft>) -> (String, Value) {
        let first = drafts.first().map(|draft| draft.parameters).unwrap_or_default();
        let is_common = |one: &&Parameter| drafts.iter().all(|draft| draft.parameters.contains(one));
        let mut shared: Vec<Parameter> = first.iter().filter(is_common).chain(common).copied().collect();
        shared.sort_unstable();
        let name = short(&self.group);
        let stem = capitalized(&name) + &capitalized(&self.version);
        let mut item = Map::new();
        item.insert("parameters".to_owned(), shared.iter().map(|one| one.to_json()).collect());
        for draft in drafts {
            let own = draft.parameters.iter().chain(draft.force.as_ref()).filter(|one| !shared.contains(one));
            let own: Vec<Value> = own.map(|one| one.to_json()).collect();
            let mut operation = Map::new();
            operation.insert("tags".to_owned(), json!([format!("{name}_{}", self.version)]));
            operation.insert("operationId".to_owned(), format!("{}{stem}{}", draft.id.0, draft.id.1).into());
            if !own.is_empty() {
                operation.insert("parameters".to_owned(), own.into());
            }
            operation.extend(draft.body.map(|body| ("requestBody".to_owned(), body)));
            operation.insert("responses".to_owned(), draft.answers);
            operation.insert("x-kubernetes-action".to_owned(), draft.action.into());
            let kind = kind_of(&self.group, &self.version, &self.kind);
            operation.insert("x-kubernetes-group-version-kind".to_owned(), kind);
            item.insert(draft.method.to_owned(), operation.into());
        }
        (path, item.into())
    }
}

/// An operation on its way to a path.
struct Draft {
    method: &'static str,
    id: (&'static str, String),
    action: &'static str,
    parameters: &'static [Parameter],
    force: Option<Parameter>,
    body: Option<Value>,
    answers: Value,
}

impl Draft {
    fn new(
        method: &'static str,
        id: (&'static str, String),
        action: &'static str,
        parameters: &'static [Parameter],
    ) -> Self {
        Self { method, id, action, parameters, force: None, body: None, answers: Value::Null }
    }

    fn answers(self, model: &str, codes: &[u16]) -> Self {
        let answer = |code: &u16| {
            let word = match code {
                201 => "Created",
                202 => "Accepted",
                _ => "OK",
            };
            (code.to_string(), json!({"description": word, "content": content(MEDIA, model)}))
        };
        let refused = ("401".to_owned(), json!({"description": "Unauthorized"}));
        Self { answers: codes.iter().map(answer).chain([refused]).collect::<Map<_, _>>().into(), ..self }
    }

    fn takes(self, model: &str) -> Self {
        Self { body: Some(json!({"content": content(MEDIA, model), "required": true})), ..self }
    }

    fn may_take(self, model: &str) -> Self {
        Self { body: Some(json!({"content": content(MEDIA, model)})), ..self }
    }
}

fn verbs_on(model: &str, end: &str) -> Vec<Draft> {
    let patch = named(type_named("io.k8s.apimachinery.pkg.apis.meta.v1.Patch"));
    let end = || end.to_owned();
    vec![
        Draft::new("get", ("read", end()), "get", VERSION).answers(model, &[200]),
        Draft::new("put", ("replace", end()), "put", WRITE).answers(model, &[200, 201]).takes(model),
        Draft {
            force: Some(FORCE),
            body: Some(json!({"content": content(PATCHES, &patch), "required": true})),
            ..Draft::new("patch", ("patch", end()), "patch", WRITE).answers(model, &[200])
        },
    ]
}

fn named(ty: Option<&'static Type>) -> String {
    ty.map(|ty| ty.name.to_owned()).unwrap_or_default()
}

fn reference(model: &str) -> String {
    format!("#/components/schemas/{model}")
}

fn content(media: &[&str], model: &str) -> Value {
    let schema = json!({"schema": {"$ref": reference(model)}});
    media.iter().map(|media| ((*media).to_owned(), schema.clone())).collect::<Map<_, _>>().into()
}

/// The document about some kinds of one group and version.
pub(super) fn document(kinds: &[CustomKind]) -> Value {
    let mut roots: Vec<&'static Type> =
        ["ObjectMeta", "ListMeta", "Status", "DeleteOptions"].iter().filter_map(|kind| meta_type(kind)).collect();
    roots.extend(meta_type("Patch"));
    if kinds.iter().any(|kind| kind.scale) {
        roots.extend(type_of("autoscaling", "v1", "Scale"));
    }
    let home = kinds.first().map_or(("", "v1"), |kind| (kind.group.as_str(), kind.version.as_str()));
    let known = schema::reachable(roots).into_values().map(|ty| (ty.name.to_owned(), schema::of_type(ty, home)));
    let schemas: Map<String, Value> = known.chain(kinds.iter().flat_map(CustomKind::schemas)).collect();
    let paths: Map<String, Value> = kinds.iter().flat_map(CustomKind::paths).collect();
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

fn meta_type(name: &str) -> Option<&'static Type> {
    type_named(&format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}"))
}

#[cfg(test)]
mod tests;
