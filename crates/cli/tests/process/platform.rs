//! A small platform of Crossplane's: one definition, one namespace that enables it, and two people.

use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use rolewright_api::manifest;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::PATIENCE;
use crate::place::{Place, ROLES};
use crate::process::Manager;

const KINDS: &[u8] = include_bytes!("../../../../examples/platform/1-kinds.yaml");

const PLATFORM: &str = r"
apiVersion: v1
kind: Namespace
metadata: {name: crossplane-system}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, annotations: {rbac.crossplane.io/xrds: databases.acme.io}}
---
apiVersion: v1
kind: Namespace
metadata: {name: bank}
---
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: databases.acme.io}
spec:
  group: acme.io
  names: {plural: databases, kind: Database}
  scope: Namespaced
  versions:
  - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: platform-team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: crossplane-edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: shop-team, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: crossplane-ns-shop-edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ben}]
";

/// Who may use databases where while the manager does its job.
const MAY: [(&str, &str); 3] = [("ann", "shop"), ("ann", "bank"), ("ben", "shop")];

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/crossplane-system/leases/crossplane-leader-election-rbac";

/// The modules that do it.
pub(crate) const MODULES: &str = "aggregation,crossplane";

/// Crossplane's manager holds its lease: ours plans, writes nothing, and takes over when they let go, also if it was told
/// that it is alone.
pub(crate) async fn beside_a_peer(place: &Place) -> Result<()> {
    install(place).await?;
    place.peer_holds("crossplane-1").await?;
    let manager = Manager::start_modules(MODULES, &place.kubeconfig(None)?, &["--no-leader-election"])?;
    manager.says("the module only plans").await?;
    let counted = async |metric: &str| -> Result<u32> {
        let (_, metrics) = manager.ask("/metrics").await?;
        let value = metrics.lines().find_map(|line| line.strip_prefix(metric));
        Ok(value.and_then(|value| value.trim().parse().ok()).unwrap_or(0))
    };
    let withheld = "rolewright_engine_withheld_writes{module=\"crossplane\"}";
    let leader = "rolewright_lease_leader{lease=\"crossplane-system/crossplane-leader-election-rbac\"}";
    let start = Instant::now();
    while counted(withheld).await? == 0 {
        ensure!(start.elapsed() < PATIENCE, "nothing is planned");
        sleep(Duration::from_millis(10)).await;
    }
    ensure!(counted(leader).await? == 0 && place.get(&format!("{ROLES}/crossplane-edit")).await?.is_none());
    place.peer_holds("").await?;
    may(place, &MAY).await?;
    ensure!(counted(leader).await? == 1 && counted(withheld).await? == 0);
    manager.end_well().await
}

async fn install(place: &Place) -> Result<()> {
    for text in [KINDS, PLATFORM.as_bytes()] {
        for manifest in manifest::read("platform", text).map_err(|problems| anyhow!("{problems:?}"))? {
            place.apply_manifest(&manifest.object).await?;
            if manifest.object["kind"] == "CustomResourceDefinition" {
                let name = manifest.object["metadata"]["name"].as_str().unwrap_or_default();
                let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
                place.until("a kind", &path, rolewright_testkit::manifest::is_established).await?;
            }
        }
    }
    Ok(())
}

/// Waits until everybody may use databases who may, and nobody else.
pub(crate) async fn everybody_may(place: &Place) -> Result<()> {
    may(place, &MAY).await
}

/// Waits until nobody may.
pub(crate) async fn nobody_may(place: &Place) -> Result<()> {
    may(place, &[]).await
}

/// Waits until exactly these may; the server's own view of roles may lag.
async fn may(place: &Place, expected: &[(&str, &str)]) -> Result<()> {
    let start = Instant::now();
    loop {
        let mut allowed = Vec::new();
        for (user, namespace) in [("ann", "shop"), ("ann", "bank"), ("ben", "shop"), ("ben", "bank")] {
            if place.review(user, namespace).await? {
                allowed.push((user, namespace));
            }
        }
        if allowed == expected {
            return Ok(());
        }
        ensure!(start.elapsed() < PATIENCE, "{allowed:?} may, and {expected:?} should");
        sleep(Duration::from_millis(20)).await;
    }
}

impl Place {
    /// Whether a user may create databases in a namespace.
    async fn review(&self, user: &str, namespace: &str) -> Result<bool> {
        let asked = json!({"namespace": namespace, "verb": "create", "group": "acme.io", "resource": "databases"});
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": asked},
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let (status, answer) = self.connect().await?.ask("POST", path, "application/json", &review).await?;
        ensure!(status < 300, "{answer}");
        Ok(answer["status"]["allowed"] == true)
    }

    /// Crossplane's manager holds its lease, or lets go.
    pub(crate) async fn peer_holds(&self, holder: &str) -> Result<()> {
        let lease: Value = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "crossplane-leader-election-rbac", "namespace": "crossplane-system"},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 60, "renewTime": "2099-01-01T00:00:00.000000Z"},
        });
        self.apply(LEASE, &lease).await
    }
}
