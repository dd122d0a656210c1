//! Resources as OpenAPI paths: every verb of discovery is an operation.

use super::draft::{Draft, answer, create, shared, verbs_on};
use super::operation::{ANY, Answers, Body, Kind, LOG, Operation, Path, STREAM};
use super::parameter::{DELETE, LIST, PRETTY, Parameter, delete_many, options, part};
use crate::facts::{Resource, Subresource, Type, type_of};

pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// `rbacAuthorization` for `rbac.authorization.k8s.io`.
pub(super) fn short(group: &str) -> String {
    if group.is_empty() {
        return "core".to_owned();
    }
    let mut words = group.strip_suffix(".k8s.io").unwrap_or(group).split(['.', '-']);
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalized(word))
}

/// A document of discovery: one path that answers with one object.
pub(super) fn discovery(path: String, tag: String, id: String, kind: &str) -> Path {
    let answer = answer(&[200], shared(kind));
    let operation = Operation { method: "get", tag, id, about: None, parameters: Vec::new(), body: None, answer };
    Path { path, operations: vec![operation] }
}

/// `/api`
pub(super) fn of_core() -> Path {
    discovery("/api/".to_owned(), "core".to_owned(), "getCoreAPIVersions".to_owned(), "APIVersions")
}

/// `/apis`
pub(super) fn of_groups() -> Path {
    discovery("/apis/".to_owned(), "apis".to_owned(), "getAPIVersions".to_owned(), "APIGroupList")
}

/// `/apis/apps`
pub(super) fn of_group(group: &str) -> Path {
    let name = short(group);
    let id = format!("get{}APIGroup", capitalized(&name));
    discovery(format!("/apis/{group}/"), name, id, "APIGroup")
}

/// `/apis/apps/v1` and everything in it.
pub(super) fn of_version(group: &str, version: &str, resources: &[&'static Resource]) -> Vec<Path> {
    let prefix = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let name = short(group);
    let tag = format!("{name}_{version}");
    let stem = capitalized(&name) + &capitalized(version);
    let id = format!("get{stem}APIResources");
    let mut paths = vec![discovery(format!("{prefix}/"), tag.clone(), id, "APIResourceList")];
    for resource in resources {
        let Some(ty) = type_of(resource.group, resource.version, resource.kind) else { continue };
        Writer { prefix: &prefix, tag: &tag, stem: &stem, resource, ty, paths: &mut paths }.write();
    }
    paths
}

/// Writes the paths of one resource.
struct Writer<'a> {
    prefix: &'a str,
    tag: &'a str,
    stem: &'a str,
    resource: &'static Resource,
    ty: &'static Type,
    paths: &'a mut Vec<Path>,
}

impl Writer<'_> {
    fn has(&self, verb: &str) -> bool {
        self.resource.verbs.contains(&verb)
    }

    fn kind(&self) -> Kind {
        (self.resource.group, self.resource.version, self.resource.kind)
    }

    /// What stands before the kind in ids of operations in a namespace.
    fn scope(&self) -> &'static str {
        if self.resource.namespaced { "Namespaced" } else { "" }
    }

    /// The path of the collection below a prefix.
    fn collection(&self, prefix: &str) -> String {
        let space = if self.resource.namespaced { "/namespaces/{namespace}" } else { "" };
        format!("{prefix}{space}/{}", self.resource.plural)
    }

    fn space(&self) -> Option<Parameter> {
        self.resource.namespaced.then_some(part("namespace"))
    }

    /// Adds a path if anything can be done there. All of it is about one kind and takes these parameters.
    fn add(&mut self, path: String, kind: Kind, parameters: &[Parameter], drafts: Vec<Draft>) {
        let operations: Vec<Operation> = drafts
            .into_iter()
            .map(|draft| {
                let mut all: Vec<Parameter> = draft.parameters.into_iter().chain(parameters.iter().copied()).collect();
                all.sort_unstable();
                let (start, end) = draft.id;
                Operation {
                    method: draft.method,
                    tag: self.tag.to_owned(),
                    id: format!("{start}{}{end}", self.stem),
                    about: Some((draft.action, kind)),
                    parameters: all,
                    body: draft.body,
                    answer: draft.answer,
                }
            })
            .collect();
        if !operations.is_empty() {
            self.paths.push(Path { path, operations });
        }
    }

    fn write(mut self) {
        self.write_collection();
        self.write_item();
        self.write_watches();
        for sub in self.resource.subresources {
            self.write_subresource(sub);
        }
    }

    fn write_collection(&mut self) {
        let (kind, resource) = (self.resource.kind, self.resource);
        let named = format!("{}{kind}", self.scope());
        let list = type_of(resource.group, resource.version, &format!("{kind}List"));
        let listing = |end: String| Draft {
            method: "get",
            id: ("list", end),
            action: "list",
            parameters: LIST.to_vec(),
            body: None,
            answer: Answers { codes: &[200], media: STREAM, ty: list },
        };
        let mut drafts = Vec::new();
        if self.has("list") {
            drafts.push(listing(named.clone()));
        }
        if self.has("create") {
            drafts.push(create(self.ty, named.clone()));
        }
        if self.has("deletecollection") {
            drafts.push(Draft {
                method: "delete",
                id: ("delete", format!("Collection{named}")),
                action: "deletecollection",
                parameters: delete_many().collect(),
                body: shared("DeleteOptions").map(Body::Options),
                answer: answer(&[200], shared("Status")),
            });
        }
        let parameters: Vec<Parameter> = self.space().into_iter().chain([PRETTY]).collect();
        self.add(self.collection(self.prefix), self.kind(), &parameters, drafts);
        if resource.namespaced && self.has("list") {
            let everywhere = format!("{}/{}", self.prefix, resource.plural);
            self.add(everywhere, self.kind(), &[PRETTY], vec![listing(format!("{kind}ForAllNamespaces"))]);
        }
    }

    fn item_parameters(&self) -> Vec<Parameter> {
        self.space().into_iter().chain([part("name"), PRETTY]).collect()
    }

    fn item(&self) -> String {
        format!("{}/{{name}}", self.collection(self.prefix))
    }

    fn write_item(&mut self) {
        let end = format!("{}{}", self.scope(), self.resource.kind);
        let mut drafts = verbs_on(self.resource.verbs, self.ty, &end);
        if self.has("delete") {
            // The document says of namespaces what the server does not do.
            let returned = self.resource.handling.returns_deleted && self.kind() != ("", "v1", "Namespace");
            drafts.push(Draft {
                method: "delete",
                id: ("delete", end),
                action: "delete",
                parameters: DELETE.to_vec(),
                body: shared("DeleteOptions").map(Body::Options),
                answer: answer(&[200, 202], if returned { Some(self.ty) } else { shared("Status") }),
            });
        }
        self.add(self.item(), self.kind(), &self.item_parameters(), drafts);
    }

    fn write_watches(&mut self) {
        if !self.has("watch") {
            return;
        }
        let watch = |action: &'static str, end: String| Draft {
            method: "get",
            id: ("watch", end),
            action,
            parameters: LIST.to_vec(),
            body: None,
            answer: Answers { codes: &[200], media: STREAM, ty: shared("WatchEvent") },
        };
        let (kind, scope) = (self.resource.kind, self.scope());
        let prefix = format!("{}/watch", self.prefix);
        let collection = self.collection(&prefix);
        let item = format!("{collection}/{{name}}");
        let parameters: Vec<Parameter> = self.space().into_iter().chain([PRETTY]).collect();
        self.add(collection, self.kind(), &parameters, vec![watch("watchlist", format!("{scope}{kind}List"))]);
        self.add(item, self.kind(), &self.item_parameters(), vec![watch("watch", format!("{scope}{kind}"))]);
        if self.resource.namespaced {
            let everywhere = format!("{prefix}/{}", self.resource.plural);
            let draft = watch("watchlist", format!("{kind}ListForAllNamespaces"));
            self.add(everywhere, self.kind(), &[PRETTY], vec![draft]);
        }
    }

    fn write_subresource(&mut self, sub: &'static Subresource) {
        let (group, version) = sub.kind_from.unwrap_or((self.resource.group, self.resource.version));
        let kind = (group, version, sub.kind);
        let Some(ty) = type_of(group, version, sub.kind) else { return };
        if sub.kind.ends_with("Options") {
            return self.write_connection(sub, kind, ty);
        }
        let end = format!("{}{}{}", self.scope(), self.resource.kind, capitalized(sub.name));
        let mut drafts = verbs_on(sub.verbs, ty, &end);
        if sub.verbs.contains(&"create") {
            drafts.push(create(ty, end));
        }
        if sub.name == "log"
            && let Some(options_type) = type_of("", "v1", "PodLogOptions")
        {
            for draft in &mut drafts {
                draft.parameters.extend(options(options_type));
                draft.answer = Answers { codes: &[200], media: LOG, ty: None };
            }
        }
        self.add(format!("{}/{}", self.item(), sub.name), kind, &self.item_parameters(), drafts);
    }

    /// Subresources that lead somewhere else. Proxies pass on every method and, in a second path, a path.
    fn write_connection(&mut self, sub: &'static Subresource, kind: Kind, ty: &'static Type) {
        let path = format!("{}/{}", self.item(), sub.name);
        let mut parameters: Vec<Parameter> =
            self.space().into_iter().chain([part("name")]).chain(options(ty)).collect();
        let connections = |writer: &Self, methods: &[&'static str], suffix: &str| {
            let drafts = methods.iter().map(|method| {
                let sub = capitalized(sub.name);
                let end = format!("{}{}{}{sub}{suffix}", capitalized(method), writer.scope(), writer.resource.kind);
                Draft {
                    method,
                    id: ("connect", end),
                    action: "connect",
                    parameters: Vec::new(),
                    body: None,
                    answer: Answers { codes: &[200], media: ANY, ty: None },
                }
            });
            drafts.collect::<Vec<_>>()
        };
        if sub.name != "proxy" {
            let drafts = connections(self, &["get", "post"], "");
            return self.add(path, kind, &parameters, drafts);
        }
        let methods = ["get", "post", "put", "delete", "patch", "options", "head"];
        let below = format!("{path}/{{path}}");
        let drafts = connections(self, &methods, "");
        self.add(path, kind, &parameters, drafts);
        parameters.push(part("path"));
        let drafts = connections(self, &methods, "WithPath");
        self.add(below, kind, &parameters, drafts);
    }
}
