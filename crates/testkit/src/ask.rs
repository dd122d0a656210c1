//! A question with its asker, owned, so that it can be generated, shrunk and stored.

use rolewright_core::{Name, Request, User};
use serde::{Deserialize, Serialize};

/// One access question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ask {
    /// Who asks.
    pub user: Name,
    /// Their groups.
    pub groups: Vec<Name>,
    /// The verb.
    pub verb: Name,
    /// API group.
    pub group: Name,
    /// Resource.
    pub resource: Name,
    /// Subresource or empty.
    pub subresource: Name,
    /// Namespace or empty.
    pub namespace: Name,
    /// Object name or empty.
    pub name: Name,
    /// A path outside the resource API; when set, the resource fields do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Name>,
}

impl Ask {
    /// The asker.
    pub fn user(&self) -> User {
        User { name: self.user.clone(), groups: self.groups.clone() }
    }

    /// The question.
    pub fn request(&self) -> Request<'_> {
        match &self.path {
            Some(path) => Request::url(&self.verb, path),
            None => Request::resource(&self.verb, &self.group, &self.resource)
                .subresource(&self.subresource)
                .in_namespace(&self.namespace)
                .named(&self.name),
        }
    }
}
