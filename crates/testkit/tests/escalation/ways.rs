//! How it is written: every verb, patch type and form of a body that could slip past a guard.

use anyhow::Result;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rolewright_testkit::oracle::Oracle;
use serde_json::{Value, json};

use crate::servers::Ask;
use crate::things::Object;

/// A way to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Post,
    PostGenerated,
    PostDry,
    PostYaml,
    PostProtobuf,
    /// Members of the body twice: first harmless, then not.
    PostTwice,
    /// Members in another case, which Go's decoder once took.
    PostCase,
    PostOldVersion,
    PostOtherKind,
    PostToOldUrl,
    PostToName,
    Put,
    PutNew,
    PutDry,
    PutYaml,
    PutProtobuf,
    PutStatus,
    Json,
    JsonDry,
    /// As small steps that only together are greedy.
    JsonSteps,
    Merge,
    /// The type with a parameter, and the content type of a whole object.
    MergeAsJson,
    Strategic,
    StrategicReplace,
    Apply,
    ApplyNew,
    ApplyDry,
    MergeStatus,
    Recreate,
    RecreateCollection,
    /// Only what the garbage collector changes: passes the guards and gains nothing.
    Owners,
    /// The same with one more change.
    OwnersAndMore,
}

impl Way {
    pub(crate) const ALL: [Self; 32] = [
        Self::Post,
        Self::PostGenerated,
        Self::PostDry,
        Self::PostYaml,
        Self::PostProtobuf,
        Self::PostTwice,
        Self::PostCase,
        Self::PostOldVersion,
        Self::PostOtherKind,
        Self::PostToOldUrl,
        Self::PostToName,
        Self::Put,
        Self::PutNew,
        Self::PutDry,
        Self::PutYaml,
        Self::PutProtobuf,
        Self::PutStatus,
        Self::Json,
        Self::JsonDry,
        Self::JsonSteps,
        Self::Merge,
        Self::MergeAsJson,
        Self::Strategic,
        Self::StrategicReplace,
        Self::Apply,
        Self::ApplyNew,
        Self::ApplyDry,
        Self::MergeStatus,
        Self::Recreate,
        Self::RecreateCollection,
        Self::Owners,
        Self::OwnersAndMore,
    ];
    /// Those that go different ways through the server, for what is costly to set up.
    pub(crate) const SOME: [Self; 8] = [
        Self::Post,
        Self::Put,
        Self::PutNew,
        Self::Json,
        Self::Merge,
        Self::Strategic,
        Self::Apply,
        Self::OwnersAndMore,
    ];

    /// Whether the object is there before.
    pub(crate) fn changes(self) -> bool {
        use Way::{
            Apply, ApplyDry, Json, JsonDry, JsonSteps, Merge, MergeAsJson, MergeStatus, Owners, OwnersAndMore,
            PostToName, Put, PutDry, PutProtobuf, PutStatus, PutYaml, Recreate, RecreateCollection, Strategic,
            StrategicReplace,
        };
        matches!(
            self,
            Put | PutDry
                | PutYaml
                | PutProtobuf
                | PutStatus
                | Json
                | JsonDry
                | JsonSteps
                | Merge
                | MergeAsJson
                | Strategic
                | StrategicReplace
                | Apply
                | ApplyDry
                | MergeStatus
                | PostToName
                | Recreate
                | RecreateCollection
                | Owners
                | OwnersAndMore
        )
    }

    /// The requests, in order.
    pub(crate) fn asks(self, object: &Object, oracle: &mut Oracle) -> Result<Vec<Ask>> {
        let (all, path, greedy) = (object.collection(), object.path(), object.greedy());
        let post = |body: &Value| Ask::new("POST", &all, body);
        let put = |body: &Value| Ask::new("PUT", &path, body);
        let patch = |kind, body: &Value| Ask::new("PATCH", &path, body).typed(kind);
        let with = |change: Value| {
            let mut body = greedy.clone();
            crate::things::merge(&mut body, &change);
            body
        };
        let raw = |ask: Ask, body: Vec<u8>| Ask { body, ..ask };
        let query = |ask: Ask, query: &str| Ask { path: format!("{}?{query}", ask.path), ..ask };
        let force = format!("{path}?fieldManager=escalation&force=true");
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "b0c0ffee-0000-4000-8000-000000000000"});
        let one = match self {
            Self::Post => post(&greedy),
            Self::PostGenerated => {
                post(&with(json!({"metadata": {"name": null, "generateName": format!("{}-", object.name)}})))
            }
            Self::PostDry => query(post(&greedy), "dryRun=All"),
            Self::PostYaml => raw(post(&greedy), yaml(&greedy)).typed(YAML),
            Self::PostProtobuf => raw(post(&greedy), protobuf(oracle, &greedy)?).typed(PROTOBUF),
            Self::PostTwice => raw(post(&greedy), twice(&object.plain(), &greedy)),
            Self::PostCase => raw(post(&greedy), other_case(&greedy)),
            Self::PostOldVersion => post(&with(json!({"apiVersion": "rbac.authorization.k8s.io/v1beta1"}))),
            Self::PostOtherKind => post(&with(json!({"kind": "ClusterRoleList"}))),
            Self::PostToOldUrl => Ask::new("POST", all.replace("/v1/", "/v1alpha1/"), &greedy),
            Self::PostToName => Ask::new("POST", &path, &greedy),
            Self::Put | Self::PutNew => put(&greedy),
            Self::PutDry => query(put(&greedy), "dryRun=All"),
            Self::PutYaml => raw(put(&greedy), yaml(&greedy)).typed(YAML),
            Self::PutProtobuf => raw(put(&greedy), protobuf(oracle, &greedy)?).typed(PROTOBUF),
            Self::PutStatus => Ask::new("PUT", format!("{path}/status"), &greedy),
            Self::Json => patch(JSON_PATCH, &object.steps()),
            Self::JsonDry => query(patch(JSON_PATCH, &object.steps()), "dryRun=All"),
            Self::JsonSteps => patch(JSON_PATCH, &small_steps(&object.steps())),
            Self::Merge => patch("application/merge-patch+json; charset=utf-8", &object.change()),
            Self::MergeAsJson => patch("application/json", &object.change()),
            Self::Strategic => patch(STRATEGIC, &object.change()),
            Self::StrategicReplace => {
                let mut change = greedy.clone();
                crate::things::merge(&mut change, &json!({"$patch": "replace"}));
                patch(STRATEGIC, &change)
            }
            Self::Apply | Self::ApplyNew => Ask::new("PATCH", force, &greedy).typed(APPLY),
            Self::ApplyDry => Ask::new("PATCH", format!("{force}&dryRun=All"), &greedy).typed(APPLY),
            Self::MergeStatus => Ask::new("PATCH", format!("{path}/status"), &object.change()).typed(MERGE),
            Self::Recreate => return Ok(vec![Ask::new("DELETE", &path, &Value::Null), post(&greedy)]),
            Self::RecreateCollection => {
                let these = format!("{all}?fieldSelector=metadata.name%3D{}", object.name);
                return Ok(vec![Ask::new("DELETE", these, &Value::Null), post(&greedy)]);
            }
            Self::Owners => {
                patch(MERGE, &json!({"metadata": {"ownerReferences": [owner], "finalizers": ["acme.io/hold"]}}))
            }
            Self::OwnersAndMore => {
                let mut change = object.change();
                crate::things::merge(&mut change, &json!({"metadata": {"finalizers": ["acme.io/hold"]}}));
                patch(MERGE, &change)
            }
        };
        Ok(vec![one])
    }
}

const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// The object as protobuf, by Kubernetes' own encoder.
fn protobuf(oracle: &mut Oracle, object: &Value) -> Result<Vec<u8>> {
    let answer: Value = oracle.ask("encode_proto", json!({"items": [{"object": object}]}))?;
    Ok(BASE64_STANDARD.decode(answer["results"][0]["base64"].as_str().unwrap_or_default())?)
}

/// The object as YAML in which every value is an anchor.
fn yaml(object: &Value) -> Vec<u8> {
    let members = object.as_object().into_iter().flatten();
    let lines = members.enumerate().map(|(at, (member, value))| format!("{member}: &a{at} {value}\n"));
    format!("# greed\n{}", lines.collect::<String>()).into_bytes()
}

fn twice(first: &Value, second: &Value) -> Vec<u8> {
    let (first, second) = (first.to_string(), second.to_string());
    format!("{},{}", first.trim_end_matches('}').to_owned() + &closing(&first), second.trim_start_matches('{'))
        .into_bytes()
}

/// The braces that end a text, but for the last.
fn closing(text: &str) -> String {
    "}".repeat(text.len() - text.trim_end_matches('}').len() - 1)
}

fn other_case(object: &Value) -> Vec<u8> {
    let members = object.as_object().into_iter().flatten().map(|(member, value)| {
        let shout = matches!(member.as_str(), "rules" | "subjects" | "aggregationRule");
        (if shout { member.to_uppercase() } else { member.clone() }, value.clone())
    });
    Value::Object(members.collect()).to_string().into_bytes()
}

/// The same as a JSON patch that goes by way of an annotation's place and back.
fn small_steps(steps: &Value) -> Value {
    let mut all = Vec::new();
    for step in steps.as_array().into_iter().flatten() {
        let (path, value) = (&step["path"], &step["value"]);
        if step["op"] == "remove" || !value.is_array() {
            all.push(step.clone());
            continue;
        }
        all.push(json!({"op": "add", "path": path, "value": []}));
        for item in value.as_array().into_iter().flatten() {
            let last = format!("{}/-", path.as_str().unwrap_or_default());
            all.push(json!({"op": "add", "path": last, "value": item}));
        }
        all.push(json!({"op": "copy", "from": path, "path": "/spare"}));
        all.push(json!({"op": "replace", "path": path, "value": []}));
        all.push(json!({"op": "move", "from": "/spare", "path": path}));
    }
    Value::Array(all)
}
