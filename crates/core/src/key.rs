//! Which object: the cluster's or a namespace's, by name.

use std::fmt;

use crate::Name;

/// Roles and bindings are named in the same way, but a role's key is never a binding's.
macro_rules! key {
    ($(#[$doc:meta])* $key:ident, $cluster:literal, $namespaced:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $key {
            #[doc = concat!("A ", $cluster, ".")]
            Cluster(Name),
            #[doc = concat!("A ", $namespaced, " in a namespace.")]
            Namespaced {
                /// The namespace it lives in.
                namespace: Name,
                /// Its name there.
                name: Name,
            },
        }

        impl $key {
            #[doc = concat!("The key of a ", $cluster, ".")]
            pub fn cluster(name: impl Into<Name>) -> Self {
                Self::Cluster(name.into())
            }

            #[doc = concat!("The key of a ", $namespaced, ".")]
            pub fn namespaced(namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
                Self::Namespaced { namespace: namespace.into(), name: name.into() }
            }

            /// The name without the namespace.
            pub fn name(&self) -> &Name {
                match self {
                    Self::Cluster(name) | Self::Namespaced { name, .. } => name,
                }
            }

            /// The namespace; `""` at cluster scope.
            pub fn namespace(&self) -> &str {
                match self {
                    Self::Cluster(_) => "",
                    Self::Namespaced { namespace, .. } => namespace,
                }
            }

            #[doc = concat!("`", $cluster, "` or `", $namespaced, "`.")]
            pub fn kind(&self) -> &'static str {
                match self {
                    Self::Cluster(_) => $cluster,
                    Self::Namespaced { .. } => $namespaced,
                }
            }
        }

        impl fmt::Display for $key {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Cluster(name) => write!(f, concat!($cluster, "/{}"), name),
                    Self::Namespaced { namespace, name } => write!(f, concat!($namespaced, "/{}/{}"), namespace, name),
                }
            }
        }
    };
}

key!(
    /// Which role. ClusterRoles sort before all Roles.
    RoleKey,
    "ClusterRole",
    "Role"
);

key!(
    /// Which binding. ClusterRoleBindings sort before all RoleBindings, which is the order in which Kubernetes visits them.
    BindingKey,
    "ClusterRoleBinding",
    "RoleBinding"
);
