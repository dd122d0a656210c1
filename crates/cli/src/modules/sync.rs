//! How the module for Config Sync works.

use clap::Args;
use rolewright_plan::Name;
use rolewright_plan::sync::Settings;

/// How the module for Config Sync works.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Config Sync")]
pub(crate) struct SyncArgs {
    /// The namespace of RootSyncs and of all reconcilers
    #[arg(long, default_value = "config-management-system", value_name = "NAMESPACE")]
    sync_namespace: Name,
    /// The ClusterRole of RootSyncs that name no roles; `none` leaves them with what every reconciler has
    #[arg(long, default_value = "cluster-admin", value_name = "NAME")]
    default_root_role: Name,
    /// The only roles that syncs get: RootSyncs those that they name, RepoSyncs the same in their own namespace [default:
    /// RootSyncs any, RepoSyncs none]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    bindable_roles: Option<Vec<Name>>,
}

impl SyncArgs {
    pub(crate) fn settings(&self) -> Settings {
        let role = &self.default_root_role;
        Settings {
            namespace: self.sync_namespace.clone(),
            default_role: (!role.is_empty() && *role != "none").then(|| role.clone()),
            bindable: self.bindable_roles.clone(),
        }
    }
}
