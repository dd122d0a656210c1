//! The lease on the server.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::PostParams;
use kube::core::Status;
use kube::{Api, Client};
use tokio::time::timeout;

use super::Settings;
use crate::connect::root_cause;

/// Reads and writes one lease, each request with a limit.
#[derive(Debug)]
pub(super) struct Lock {
    leases: Api<Lease>,
    name: String,
    patience: Duration,
    flag: &'static str,
}

/// Why the lease could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    /// It is not what it was when the write was decided.
    #[error("somebody else changed the lease")]
    Changed,
    /// We lack the right to it.
    #[error("{0}")]
    Forbidden(String),
    /// The server refused, or could not be reached.
    #[error("{0}")]
    Server(String),
}

impl Lock {
    pub(super) fn new(client: Client, settings: &Settings) -> Self {
        Self {
            leases: Api::namespaced(client, &settings.namespace),
            name: settings.name.clone(),
            patience: settings.patience(),
            flag: settings.flag,
        }
    }

    pub(super) async fn get(&self) -> Result<Option<Lease>, LockError> {
        match timeout(self.patience, self.leases.get_opt(&self.name)).await {
            Ok(answer) => answer.map_err(|error| refused(&error)),
            Err(_) => Err(late()),
        }
    }

    /// Writes the lease. The version in its metadata must still be the stored one; without a version, there must be none.
    pub(super) async fn put(&self, lease: &Lease) -> Result<Lease, LockError> {
        let params = PostParams { field_manager: Some("rolewright-lease".to_owned()), ..PostParams::default() };
        match timeout(self.patience, self.leases.replace(&self.name, &params, lease)).await {
            Ok(answer) => answer.map_err(|error| match error {
                kube::Error::Api(status) if lacks_namespace(&status) => LockError::Server(format!(
                    "{}; hint: create it, or choose another with {}",
                    status.message, self.flag
                )),
                kube::Error::Api(status) if status.is_conflict() || status.is_not_found() => LockError::Changed,
                // Leases are never written without a version once they are there.
                kube::Error::Api(status) if status.is_invalid() && lease.metadata.resource_version.is_none() => {
                    LockError::Changed
                }
                error => refused(&error),
            }),
            Err(_) => Err(late()),
        }
    }
}

/// There is no place for the lease, which is not the same as no lease.
fn lacks_namespace(status: &Status) -> bool {
    status.is_not_found() && status.details.as_ref().is_some_and(|details| details.kind == "namespaces")
}

fn refused(error: &kube::Error) -> LockError {
    match error {
        kube::Error::Api(status) if status.is_forbidden() => LockError::Forbidden(status.message.clone()),
        kube::Error::Api(status) => LockError::Server(status.message.clone()),
        error => LockError::Server(root_cause(error)),
    }
}

fn late() -> LockError {
    LockError::Server("the server did not answer in time".to_owned())
}
