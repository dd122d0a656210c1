//! Config Sync's kinds: what is synced, and with which roles.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::Name;
use crate::kind::{Kind, Reports};

const GROUP: &str = "configsync.gke.io";
const VERSIONS: &[&str] = &["v1beta1", "v1alpha1"];
/// The condition that says whether a sync's reconciler has the rights that it should have.
pub(super) const CONDITION: &str = "PermissionsReady";

/// Syncs of the platform's own sources.
pub static ROOT_SYNC: Kind = Kind::namespaced::<Sync>(GROUP, VERSIONS, "RootSync", "rootsyncs")
    .reporting(Reports::Always(CONDITION))
    .with_one_list();

/// Syncs of a namespace's sources.
pub static REPO_SYNC: Kind = Kind::namespaced::<Sync>(GROUP, VERSIONS, "RepoSync", "reposyncs")
    .reporting(Reports::Always(CONDITION))
    .with_one_list();

/// The part of a sync that says with which rights it works.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub(super) struct Sync {
    /// `spec.override.roleRefs`, or what is wrong with it.
    pub(super) role_refs: Result<Vec<WrittenRef>, String>,
    /// Whether somebody wrote `spec.overrides`, which no server keeps.
    pub(super) is_misspelt: bool,
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

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    spec: Option<Spec>,
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

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    #[serde(rename = "override")]
    settings: Option<Value>,
    overrides: Option<IgnoredAny>,
    source_type: Option<Name>,
    git: Option<Source>,
    oci: Option<Source>,
    helm: Option<Source>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Source {
    auth: Name,
    gcp_service_account_email: Name,
}

impl Spec {
    fn google_account(&self) -> Name {
        let source = match self.source_type.as_deref().unwrap_or("git") {
            "oci" => &self.oci,
            "helm" => &self.helm,
            _ => &self.git,
        };
        let used = source.as_ref().filter(|source| source.auth == "gcpserviceaccount");
        used.map(|source| source.gcp_service_account_email.clone()).unwrap_or_default()
    }
}

impl From<Written> for Sync {
    fn from(written: Written) -> Self {
        let spec = written.spec.unwrap_or_default();
        let last_applied = written.metadata.annotations.and_then(|annotations| annotations.last_applied);
        Self {
            google_account: spec.google_account(),
            role_refs: role_refs(spec.settings.as_ref()),
            is_misspelt: spec.overrides.is_some() || last_applied.is_some_and(|text| says_overrides(&text)),
        }
    }
}

fn role_refs(settings: Option<&Value>) -> Result<Vec<WrittenRef>, String> {
    let Some(written) = settings.and_then(|settings| settings.get("roleRefs")).filter(|refs| !refs.is_null()) else {
        return match settings {
            None | Some(Value::Null | Value::Object(_)) => Ok(Vec::new()),
            Some(_) => Err("`spec.override` is not an object".to_owned()),
        };
    };
    serde_path_to_error::deserialize(written)
        .map_err(|error| format!("`spec.override.roleRefs{}`: {}", error.path(), error.inner()))
}

/// Whether what somebody applied says `spec.overrides`. The server drops what it does not know; this it keeps.
fn says_overrides(last_applied: &str) -> bool {
    #[derive(Deserialize)]
    struct Applied {
        spec: Option<AppliedSpec>,
    }
    #[derive(Deserialize)]
    struct AppliedSpec {
        overrides: Option<IgnoredAny>,
    }
    let applied = serde_json::from_str::<Applied>(last_applied);
    applied.is_ok_and(|applied| applied.spec.is_some_and(|spec| spec.overrides.is_some()))
}
