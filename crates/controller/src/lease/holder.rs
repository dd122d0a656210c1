//! Who holds a lease, for those who do not want it.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::{Api, Client};

/// Somebody who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The name that they go by.
    pub identity: String,
    /// Whether they gave a sign of life within the duration of the lease, by this machine's clock.
    pub is_alive: bool,
    /// Whether they are a rolewright.
    pub is_ours: bool,
}

/// Whoever holds a lease; `None` if there is no such lease or nobody holds it.
pub async fn holder(client: &Client, namespace: &str, name: &str) -> kube::Result<Option<Holder>> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), namespace);
    let spec = leases.get_opt(name).await?.and_then(|lease| lease.spec).unwrap_or_default();
    let identity = spec.holder_identity.unwrap_or_default();
    if identity.is_empty() {
        return Ok(None);
    }
    let duration = SignedDuration::from_secs(spec.lease_duration_seconds.unwrap_or(0).into());
    let is_alive = spec.renew_time.is_some_and(|renewed| Timestamp::now().duration_since(renewed.0) < duration);
    Ok(Some(Holder { is_ours: !super::is_foreign(&identity), identity, is_alive }))
}
