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
    /// `none` on a RootSync: without roles of its own it gets no more than every reconciler has.
    pub const ROOT_ROLE: &str = "rolewright.io/root-role";
    /// Why a sync that is being deleted no longer waits for its reconciler.
    pub const RELEASE_RECONCILER: &str = "rolewright.io/release-reconciler";
    /// What users may write: each with what it is written on, its value, and what it does.
    pub const FOR_USERS: &[(&str, &str, &str, &str)] = &[
        (PAUSED, "any object", "true", "stops every write to it, and every write on its behalf"),
        (CROSSPLANE_PAUSED, "any object", "true", "the same, in Crossplane's word"),
        (ADOPT, "an object of a name that the manager needs", "true", "gives it to the manager, whoever made it"),
        (
            "rbac.crossplane.io/<definition>",
            "a Namespace",
            "xrd-enabled",
            "its roles `crossplane-ns-<namespace>-edit` and `-view` give what the definition defines; `xrd-claim-accepted` \
             says the same",
        ),
        ("rbac.crossplane.io/xrds", "a Namespace", "NAME,NAME", "the same for a list, however long the names"),
        (ROOT_ROLE, "a RootSync without `roleRefs`", "none", "it gets no more than every reconciler has"),
        (
            RELEASE_RECONCILER,
            "a sync that is being deleted",
            "WHY",
            "it no longer waits until its reconciler has cleaned up",
        ),
    ];
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
