//! The words that rolewright writes into clusters and reads from them.

/// Field managers: who we are in `managedFields`.
pub mod manager {
    /// Everything that is ours as an object.
    pub const ROLEWRIGHT: &str = "rolewright";
    /// Conditions.
    pub const STATUS: &str = "rolewright-status";
    /// The rules of aggregated ClusterRoles. Kubernetes' own name, so that either controller takes over from the other.
    pub const AGGREGATION: &str = "clusterrole-aggregation-controller";
    /// Crossplane's RBAC manager, and all else of Crossplane.
    pub const CROSSPLANE: &[&str] = &["crossplane"];
    /// Config Sync's reconciler-manager, under the name that it has and the one that it had.
    pub const CONFIG_SYNC: &[&str] = &["configsync.gke.io/reconciler-manager", "reconciler-manager"];
    /// Controllers whose jobs we take over with the objects that they made.
    pub const UPSTREAM: &[&[&str]] = &[CROSSPLANE, CONFIG_SYNC];
}

/// Annotations.
pub mod annotation {
    /// `"true"` on an object stops every write to it, and every write on its behalf.
    pub const PAUSED: &str = "rolewright.io/paused";
    /// Crossplane's word for the same.
    pub const CROSSPLANE_PAUSED: &str = "crossplane.io/paused";
    /// `"true"` on an object of a name that we need gives it to us, whoever made it.
    pub const ADOPT: &str = "rolewright.io/adopt";
    /// What `kubectl apply` keeps; as large as the object, and never read from the snapshot.
    pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
}

/// Labels.
pub mod label {
    /// Who keeps an object, on everything that is ours.
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
    /// The part of rolewright that an object belongs to, on what it is installed with.
    pub const MANAGER: [(&str, &str); 2] =
        [("app.kubernetes.io/name", "rolewright"), ("app.kubernetes.io/component", "manager")];
    /// What the lease has, which no manifest names: `kubectl get leases -l app.kubernetes.io/managed-by=rolewright`.
    pub const LEASE: [(&str, &str); 3] = [
        ("app.kubernetes.io/name", "rolewright"),
        ("app.kubernetes.io/component", "manager"),
        (MANAGED_BY, "rolewright"),
    ];
}
