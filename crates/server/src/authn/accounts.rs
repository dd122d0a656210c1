//! The objects that tokens stand on.

use jiff::Timestamp;

/// The kinds of objects that a token refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Referred {
    /// Whose token it is.
    ServiceAccount,
    /// Bound to a pod, it ends with the pod.
    Pod,
    /// Bound to a secret, it ends with the secret.
    Secret,
    /// Bound to a node, it ends with the node. Nodes have no namespace.
    Node,
}

impl Referred {
    /// The resource's plural.
    pub fn resource(self) -> &'static str {
        match self {
            Self::ServiceAccount => "serviceaccounts",
            Self::Pod => "pods",
            Self::Secret => "secrets",
            Self::Node => "nodes",
        }
    }
}

/// What is to know about such an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Its uid.
    pub uid: String,
    /// Since when it waits for its removal.
    pub deleted: Option<Timestamp>,
    /// A pod's `spec.serviceAccountName`.
    pub service_account: String,
    /// A pod's `spec.nodeName`.
    pub node: String,
    /// A secret's token, as it is sent.
    pub token: String,
    /// Whether a secret is marked as no longer valid.
    pub marked: bool,
    /// The secrets that an account lists.
    pub secrets: Vec<String>,
}

/// Looks up the objects that tokens stand on, as they are now.
pub trait Accounts: Send + Sync {
    /// The object with this name; `namespace` is empty for nodes.
    fn find(&self, kind: Referred, namespace: &str, name: &str) -> Option<Live>;

    /// The token of a secret was shown.
    fn shown(&self, _namespace: &str, _secret: &str) {}
}
