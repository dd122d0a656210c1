//! What runs, and as whom.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Name;
use crate::kind::Kind;

/// What software runs as.
pub static SERVICE_ACCOUNT: Kind =
    Kind::namespaced::<IgnoredAny>("", &["v1"], "ServiceAccount", "serviceaccounts").bare();

/// What runs software.
pub static DEPLOYMENT: Kind = Kind::namespaced::<Deployment>("apps", &["v1"], "Deployment", "deployments");

/// The part of a deployment that says who runs in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub(crate) struct Deployment {
    /// The service account; empty for the namespace's default.
    pub(crate) service_account: Name,
    /// Whether anything runs, or should.
    pub(crate) runs: bool,
}

#[derive(Deserialize)]
struct Written {
    spec: WrittenSpec,
    #[serde(default)]
    status: Option<WrittenStatus>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenStatus {
    replicas: Option<i64>,
    terminating_replicas: Option<i64>,
}

#[derive(Deserialize)]
struct WrittenSpec {
    template: Template,
    replicas: Option<i64>,
}

#[derive(Deserialize)]
struct Template {
    #[serde(default)]
    spec: Pod,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Pod {
    service_account_name: Name,
}

impl From<Written> for Deployment {
    fn from(written: Written) -> Self {
        let WrittenSpec { template, replicas } = written.spec;
        // What was told to stop has not stopped yet.
        let WrittenStatus { replicas: running, terminating_replicas: ending } = written.status.unwrap_or_default();
        let is_left = [running, ending].into_iter().flatten().any(|count| count > 0);
        Self { service_account: template.spec.service_account_name, runs: replicas != Some(0) || is_left }
    }
}
