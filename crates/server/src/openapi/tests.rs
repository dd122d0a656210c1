use std::collections::BTreeSet;

use http_body_util::BodyExt;
use ring::digest::{SHA512, digest};
use serde_json::Value;

use super::*;
use crate::Settings;

/// A server, and what drives it.
struct Bench {
    runtime: tokio::runtime::Runtime,
    server: Server,
}

impl Bench {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let server = {
            let _entered = runtime.enter();
            Server::start(Settings::default()).unwrap()
        };
        Self { runtime, server }
    }

    /// What comes for `/openapi/v3/..` with these headers.
    fn ask(&self, path: &str, headers: &[(HeaderName, &str)]) -> (u16, HeaderMap, Vec<u8>) {
        let headers =
            headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let below: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        self.read(answer(&self.server, &headers, &below, query))
    }

    fn read(&self, answer: Answer) -> (u16, HeaderMap, Vec<u8>) {
        let (head, body) = answer.into_parts();
        let body = self.runtime.block_on(body.collect()).unwrap().to_bytes().to_vec();
        (head.status.as_u16(), head.headers, body)
    }

    /// Names and addresses of all documents.
    fn index(&self) -> Vec<(String, String)> {
        let index: Value = serde_json::from_slice(&self.ask("", &[]).2).unwrap();
        let paths = index["paths"].as_object().unwrap();
        paths
            .iter()
            .map(|(name, place)| (name.clone(), place["serverRelativeURL"].as_str().unwrap().to_owned()))
            .collect()
    }

    fn document(&self, name: &str) -> Value {
        serde_json::from_slice(&self.ask(name, &[]).2).unwrap()
    }
}

#[test]
fn the_index_has_every_group_and_version_with_the_hash_of_its_document() {
    let bench = Bench::new();
    let index = bench.index();
    let names: BTreeSet<&str> = index.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["api", "api/v1", "apis", "apis/apps", "apis/apps/v1", "apis/rbac.authorization.k8s.io/v1"] {
        assert!(names.contains(name), "{name}");
    }
    for (name, url) in &index {
        let (code, headers, body) = bench.ask(name, &[]);
        let hash = digest(&SHA512, &body).as_ref().iter().fold(String::new(), |text, byte| format!("{text}{byte:02X}"));
        assert_eq!((code, headers[ETAG].to_str().unwrap()), (200, format!("\"{hash}\"").as_str()));
        assert_eq!(*url, format!("/openapi/v3/{name}?hash={hash}"));
    }
}

#[test]
fn documents_are_negotiated_and_kept_as_in_kubernetes() {
    let bench = Bench::new();
    let name = "apis/scheduling.k8s.io/v1";
    let (_, url) = bench.index().into_iter().find(|(known, _)| known == name).unwrap();
    let with_hash = url.strip_prefix("/openapi/v3/").unwrap();
    let hash = url.split_once('=').unwrap().1;
    let tag = format!("\"{hash}\"");
    let protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
    let both = format!("{protobuf}, application/json;q=0.5");
    let accept = |value| vec![(header::ACCEPT, value)];
    for (path, headers, code, is_kept) in [
        (name, vec![], 200, false),
        (name, accept("application/json"), 200, false),
        (name, accept(&both), 200, false),
        (name, accept(protobuf), 406, false),
        (with_hash, vec![], 200, true),
        (with_hash, vec![(IF_NONE_MATCH, tag.as_str())], 304, true),
        (name, vec![(IF_NONE_MATCH, tag.as_str())], 304, false),
        (name, vec![(IF_NONE_MATCH, "\"other\"")], 200, false),
        ("apis/scheduling.k8s.io/v1?hash=OLD", vec![], 301, false),
    ] {
        let (got, answer, body) = bench.ask(path, &headers);
        assert_eq!(got, code, "{path} {headers:?}");
        assert_eq!(body.is_empty(), code != 200);
        assert_eq!(answer[VARY], "Accept");
        assert_eq!(answer.get(CACHE_CONTROL).is_some_and(|kept| kept == "public, immutable"), is_kept, "{path}");
        assert_eq!(answer.contains_key(EXPIRES), is_kept);
        assert_eq!(answer.get(LOCATION).is_some_and(|at| *at == url), code == 301);
    }
    for unknown in ["apis/nonsense/v1", "apis/apps/v2", "nonsense"] {
        assert_eq!(bench.ask(unknown, &[]).0, 404, "{unknown}");
    }
}

#[test]
fn every_reference_leads_to_a_schema_and_every_schema_is_needed() {
    fn collect(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
            Value::Object(members) => {
                let reference = members.get("$ref").and_then(Value::as_str);
                into.extend(reference.map(|at| at.strip_prefix("#/components/schemas/").unwrap().to_owned()));
                members.values().for_each(|member| collect(member, into));
            }
            _ => {}
        }
    }
    let bench = Bench::new();
    for (name, _) in bench.index() {
        let document = bench.document(&name);
        let mut used = BTreeSet::new();
        collect(&document, &mut used);
        let there: BTreeSet<String> = document["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(used, there, "{name}");
    }
}

#[test]
fn kubectl_finds_what_it_looks_for() {
    let bench = Bench::new();
    let document = bench.document("apis/rbac.authorization.k8s.io/v1");
    let patch = &document["paths"]["/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"]["patch"];
    assert_eq!(patch["operationId"], "patchRbacAuthorizationV1ClusterRole");
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "ClusterRole");
    let parameters: Vec<&str> =
        patch["parameters"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(parameters, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    let rule = &document["components"]["schemas"]["io.k8s.api.rbac.v1.PolicyRule"];
    assert_eq!(rule["required"], serde_json::json!(["verbs"]));
    assert_eq!(rule["properties"]["verbs"]["x-kubernetes-list-type"], "atomic");
}

#[test]
fn defaults_of_the_tables_are_json() {
    for field in crate::facts::types().iter().flat_map(|ty| ty.own_fields()).filter(|field| !field.default.is_empty()) {
        assert!(serde_json::from_str::<Value>(field.default).is_ok(), "{}: {}", field.name, field.default);
    }
}

#[test]
fn the_old_document_is_there_and_empty() {
    let bench = Bench::new();
    for (accept, code, content_type) in [
        ("", 200, "application/json"),
        ("application/json", 200, "application/json"),
        ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf", 200, "protobuf"),
        ("text/html", 406, ""),
    ] {
        let (got, headers, body) = bench.read(legacy(accept));
        let got_type = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap()).unwrap_or_default();
        assert_eq!(got, code, "{accept}");
        assert!(got_type.ends_with(content_type), "{accept}: {got_type}");
        if content_type == "protobuf" {
            assert_eq!(body, b"\x0a\x032.0\x12\x12\x0a\x0aKubernetes\x12\x041.36");
        }
    }
}

#[test]
fn tags_are_matched_as_http_says() {
    for (header, expected) in
        [("", false), ("\"AB\"", true), ("W/\"AB\"", true), ("\"CD\", \"AB\"", true), ("\"CD\"", false), ("*", true)]
    {
        assert_eq!(matches(header, "AB"), expected, "{header}");
    }
}
