//! How a server is set up.

use std::path::PathBuf;

use crate::cluster::Guard;
use crate::store::Data;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who may write aggregated roles.
    pub guard: Guard,
    /// What the server does on its own.
    pub controllers: Controllers,
    /// A bearer token for a member of `system:masters`.
    pub admin_token: Option<String>,
    /// Where decisions are written down.
    pub audit_log: Option<PathBuf>,
    /// The authority's certificate, for `kube-root-ca.crt`.
    pub root_ca: Option<String>,
    /// Where the cluster is kept; without it the cluster ends with the process.
    pub data: Option<Data>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            guard: Guard::Strict,
            controllers: Controllers::default(),
            admin_token: None,
            audit_log: None,
            root_ca: None,
            data: None,
        }
    }
}

/// What the server does on its own. Each can be left to Kubernetes' own controller.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct Controllers {
    /// Rules of aggregated roles follow their sources.
    pub aggregation: bool,
    /// Objects go with their last owner.
    pub garbage_collection: bool,
    /// Namespaces take their content with them.
    pub namespaces: bool,
    /// Every namespace has its service account `default`.
    pub service_accounts: bool,
    /// Every namespace has its `kube-root-ca.crt`.
    pub root_ca: bool,
    /// Secrets of the type for it hold the token of their service account.
    pub account_tokens: bool,
}

impl Default for Controllers {
    fn default() -> Self {
        Self {
            aggregation: true,
            garbage_collection: true,
            namespaces: true,
            service_accounts: true,
            root_ca: true,
            account_tokens: true,
        }
    }
}

impl Controllers {
    /// All of them off.
    pub fn none() -> Self {
        Self {
            aggregation: false,
            garbage_collection: false,
            namespaces: false,
            service_accounts: false,
            root_ca: false,
            account_tokens: false,
        }
    }
}
