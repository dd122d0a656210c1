//! What is served, told to clients: the old documents one by one, and the new one in a single answer.

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use rolewright_core::Name;
use serde_json::{Value, json};

use super::negotiate::{self, choices};
use super::respond::{self, Answer};
use crate::Server;
use crate::catalog::{Served, api_version};
use crate::facts;
use crate::json::put;
use crate::status::Failure;

pub(super) const GROUP_LIST: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

pub(super) fn answer(server: &Server, headers: &HeaderMap, accept: &str, parts: &[&str]) -> Result<Answer, Failure> {
    if !matches!(parts, [_]) || !accept.contains("as=") {
        negotiate::plain(accept, false)?;
    }
    match parts {
        ["api"] if wants_all(accept) => Ok(all(server, true)),
        ["apis"] if wants_all(accept) => Ok(all(server, false)),
        ["api" | "apis"] if !acceptable(accept) => Err(Failure::not_acceptable(&negotiate::ACCEPTED)),
        ["api"] => Ok(respond::value(StatusCode::OK, &versions(headers))),
        ["apis"] => Ok(respond::value(StatusCode::OK, &group_list(server))),
        ["api", "v1"] => Ok(respond::value(StatusCode::OK, &resources(server, "", "v1"))),
        ["apis", group] => {
            let found = groups(server).into_iter().find(|known| known.name == *group);
            let Some(found) = found else { return Ok(respond::text(StatusCode::NOT_FOUND, "404 page not found\n")) };
            let mut document = group_document(&found);
            put(&mut document, "kind", "APIGroup");
            put(&mut document, "apiVersion", "v1");
            Ok(respond::value(StatusCode::OK, &document))
        }
        ["apis", group, version] if server.catalog().has_version(group, version) => {
            Ok(respond::value(StatusCode::OK, &resources(server, group, version)))
        }
        ["apis", group, _] if server.catalog().is_built_in(group) => Err(Failure::no_such_resource()),
        ["api", _] => Err(Failure::no_such_resource()),
        _ => Ok(respond::text(StatusCode::NOT_FOUND, "404 page not found\n")),
    }
}

/// Among the choices is one that is served: plain, or one of the documents with everything.
fn acceptable(accept: &str) -> bool {
    let choices = choices(accept);
    choices.is_empty()
        || choices.iter().any(|choice| choice.parameter("as").is_empty() || choice.media != "application/json")
        || wants_all(accept)
}

/// The client understands the document that has everything. Peers are not merged here, so `profile` does not matter.
fn wants_all(accept: &str) -> bool {
    let first = choices(accept).into_iter().find(|choice| {
        choice.media == "application/json"
            && (choice.parameter("as").is_empty()
                || choice.parameter("v") == "v2" && choice.parameter("g") == "apidiscovery.k8s.io")
    });
    first.is_some_and(|choice| choice.parameter("as") == "APIGroupDiscoveryList")
}

fn versions(headers: &HeaderMap) -> Value {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}],
    })
}

/// A group with its versions.
struct Group {
    name: Name,
    versions: Vec<Name>,
    preferred: Name,
}

/// All groups with a name: Kubernetes' own in its order, then those of custom resources.
fn groups(server: &Server) -> Vec<Group> {
    let name = |text: &'static str| Name::new_static(text);
    let mut all: Vec<Group> = facts::groups()
        .iter()
        .map(|group| Group {
            name: name(group.name),
            versions: group.versions.iter().map(|version| name(version)).collect(),
            preferred: name(group.preferred),
        })
        .collect();
    for (group, versions) in server.catalog().custom_groups() {
        if let Some(known) = all.iter_mut().find(|known| known.name == group) {
            let new: Vec<Name> = versions.into_iter().filter(|version| !known.versions.contains(version)).collect();
            known.versions.extend(new);
        } else {
            let preferred = versions.first().cloned().unwrap_or_default();
            all.push(Group { name: group, versions, preferred });
        }
    }
    all
}

fn group_list(server: &Server) -> Value {
    let groups: Vec<Value> = groups(server).iter().map(group_document).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn group_document(group: &Group) -> Value {
    let version = |version: &str| json!({"groupVersion": api_version(&group.name, version), "version": version});
    let versions: Vec<Value> = group.versions.iter().map(|name| version(name)).collect();
    json!({"name": group.name, "versions": versions, "preferredVersion": version(&group.preferred)})
}

fn resources(server: &Server, group: &str, version: &str) -> Value {
    let mut list = Vec::new();
    for served in server.catalog().of_version(group, version) {
        let mut entry = json!({
            "name": served.plural, "singularName": served.singular(), "namespaced": served.namespaced,
            "kind": served.kind, "verbs": served.shown_verbs(),
        });
        put_names(&mut entry, &served);
        let hash = served.storage_version_hash();
        if !hash.is_empty() {
            put(&mut entry, "storageVersionHash", hash);
        }
        list.push(entry);
        for sub in served.subresources() {
            let mut entry = json!({
                "name": format!("{}/{}", served.plural, sub.name), "singularName": "", "namespaced": served.namespaced,
                "kind": sub.kind, "verbs": sub.verbs,
            });
            if let Some((group, version)) = sub.kind_from {
                put(&mut entry, "group", group);
                put(&mut entry, "version", version);
            }
            list.push(entry);
        }
    }
    let mut document = json!({
        "kind": "APIResourceList", "groupVersion": api_version(group, version), "resources": list,
    });
    if !group.is_empty() {
        put(&mut document, "apiVersion", "v1");
    }
    document
}

/// The document with everything outside the core group, kept until what is served changes.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Option<(u64, Whole)>>);

/// A document and its tag.
#[derive(Clone, Debug)]
struct Whole {
    body: Bytes,
    tag: String,
}

fn all(server: &Server, core: bool) -> Answer {
    if core {
        return answer_with(whole(server, true));
    }
    // Asked before it is made: a change meanwhile makes it old, never new.
    let generation = server.catalog().generation();
    let mut kept = server.discovery().0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, document)) = kept.as_ref().filter(|(made, _)| *made == generation) {
        return answer_with(document.clone());
    }
    let document = whole(server, false);
    *kept = Some((generation, document.clone()));
    answer_with(document)
}

fn whole(server: &Server, core: bool) -> Whole {
    let items: Vec<Value> = if core {
        vec![json!({"metadata": {}, "versions": [version(server, "", "v1")]})]
    } else {
        groups(server)
            .iter()
            .map(|group| {
                let versions: Vec<Value> =
                    group.versions.iter().map(|name| version(server, &group.name, name)).collect();
                json!({"metadata": {"name": group.name}, "versions": versions})
            })
            .collect()
    };
    let document = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
    });
    let body = document.to_string();
    let digest = ring::digest::digest(&ring::digest::SHA512, body.as_bytes());
    Whole { tag: hex(digest.as_ref()), body: body.into() }
}

fn answer_with(Whole { body, tag }: Whole) -> Answer {
    let mut answer = respond::typed(StatusCode::OK, GROUP_LIST, body);
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    answer.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{tag}\"")) {
        answer.headers_mut().insert(header::ETAG, tag);
    }
    answer
}

fn version(server: &Server, group: &str, version: &str) -> Value {
    let resources: Vec<Value> =
        server.catalog().of_version(group, version).iter().map(|served| resource(served)).collect();
    json!({"version": version, "resources": resources, "freshness": "Current"})
}

fn resource(served: &Served) -> Value {
    let home = served.home();
    let mut entry = json!({
        "resource": served.plural, "responseKind": kind(home.0, home.1, &served.kind),
        "scope": if served.namespaced { "Namespaced" } else { "Cluster" }, "singularResource": served.singular(),
        "verbs": served.shown_verbs(),
    });
    put_names(&mut entry, served);
    let subresources: Vec<Value> = served
        .subresources()
        .into_iter()
        .map(|sub| {
            let (group, version) = sub.kind_from.unwrap_or(home);
            json!({"subresource": sub.name, "responseKind": kind(group, version, sub.kind), "verbs": sub.verbs})
        })
        .collect();
    if !subresources.is_empty() {
        put(&mut entry, "subresources", subresources);
    }
    entry
}

fn put_names(entry: &mut Value, served: &Served) {
    for (member, values) in [("shortNames", served.short_names()), ("categories", served.categories())] {
        if !values.is_empty() {
            put(entry, member, json!(values));
        }
    }
}

fn kind(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
