//! Config Sync's kinds: what is synced, and with which roles.

use serde::Deserialize;
use serde_json::Value;

use super::misspelt::Misspelt;
use crate::Name;
use crate::kind::{Kind, Reports};

const GROUP: &str = "configsync.gke.io";
const VERSIONS: &[&str] = &["v1beta1", "v1alpha1"];
/// The condition that says whether a sync's reconciler has the rights that it should have.
pub(super) const CONDITION: &str = "PermissionsReady";

/// Syncs of the platform's own sources.
pub static ROOT_SYNC: Kind = Kind::namespaced::<Sync>(GROUP, VERSIONS, "RootSync", "rootsyncs")
    .seeing_metadata::<Sync>()
    .reporting(Reports::Always(CONDITION))
    .with_one_list();

/// Syncs of a namespace's sources.
pub static REPO_SYNC: Kind = Kind::namespaced::<Sync>(GROUP, VERSIONS, "RepoSync", "reposyncs")
    .seeing_metadata::<Sync>()
    .reporting(Reports::Always(CONDITION))
    .with_one_list();

/// The part of a sync that says with which rights it works.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub(super) struct Sync {
    /// `spec.override.roleRefs`, or what is wrong with it.
    pub(super) role_refs: Result<Vec<WrittenRef>, String>,
    /// A field that somebody wrote to name roles, and that nobody reads.
    pub(super) misspelt: Option<Misspelt>,
    /// The Google account that the reconciler stands for; empty for none.
    pub(super) google_account: Name,
}

/// An entry of `roleRefs` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct WrittenRef {
    pub(super) kind: Name,
    pub(super) name: Name,
    pub(super) namespace: Name,
}

/// The object as it is stored. Of a spec nothing is taken for granted: what cannot be read must still be able to go.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    spec: Value,
}

#[derive(Default, Deserialize)]
struct Metadata {
    annotations: Option<Annotations>,
}

#[derive(Deserialize)]
struct Annotations {
    #[serde(rename = "kubectl.kubernetes.io/last-applied-configuration")]
    last_applied: Option<String>,
}

impl From<Written> for Sync {
    fn from(Written { metadata, spec }: Written) -> Self {
        // The server drops what it does not know; this it keeps.
        let last_applied = metadata.annotations.and_then(|annotations| annotations.last_applied);
        let applied = last_applied.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let applied = applied.as_ref().and_then(|applied| applied.get("spec"));
        Self {
            google_account: google_account(&spec),
            role_refs: role_refs(&spec),
            misspelt: Misspelt::of(&spec).or_else(|| applied.and_then(Misspelt::of)),
        }
    }
}

/// The account of the source in use.
fn google_account(spec: &Value) -> Name {
    let text = |path: &str| spec.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let source = match text("/sourceType") {
        known @ ("oci" | "helm") => known,
        _ => "git",
    };
    let is_used = text(&format!("/{source}/auth")) == "gcpserviceaccount";
    Name::new(if is_used { text(&format!("/{source}/gcpServiceAccountEmail")) } else { "" })
}

fn role_refs(spec: &Value) -> Result<Vec<WrittenRef>, String> {
    let settings = match spec {
        Value::Null => None,
        Value::Object(fields) => fields.get("override"),
        _ => return Err("`spec` is not an object".to_owned()),
    };
    let written = match settings {
        None | Some(Value::Null) => None,
        Some(Value::Object(fields)) => fields.get("roleRefs"),
        Some(_) => return Err("`spec.override` is not an object".to_owned()),
    };
    let Some(written) = written.filter(|refs| !refs.is_null()) else { return Ok(Vec::new()) };
    serde_path_to_error::deserialize(written)
        .map_err(|error| format!("`spec.override.roleRefs{}`: {}", error.path(), error.inner()))
}
