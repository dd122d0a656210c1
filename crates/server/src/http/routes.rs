//! What requests meet on the way to a resource: custom ones have a router of their own in Kubernetes.

use super::request::RequestInfo;
use crate::catalog::{Origin, Served};
use crate::status::Failure;

/// What clients should no longer use.
const DEPRECATED: [(&str, &str); 2] = [
    ("endpoints", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    ("componentstatuses", "v1 ComponentStatus is deprecated in v1.19+"),
];

impl Served {
    /// Whether a request is nowhere near it. Custom resources are only where their scope says; lists and watches may
    /// look into all namespaces.
    pub(crate) fn is_elsewhere(&self, info: &RequestInfo) -> bool {
        let across = self.namespaced && ["list", "watch"].contains(&info.verb.as_str());
        self.custom().is_some() && self.namespaced == info.namespace.is_empty() && !across
    }

    /// Whether there is a path at which objects are created. Nobody looks at the name in that of a custom resource.
    pub(crate) fn creates_at(&self, info: &RequestInfo) -> bool {
        let is_named = !info.name.is_empty() && !info.selected;
        self.custom().is_some() || !(self.namespaced && info.namespace.is_empty() || is_named)
    }

    /// It has no such part.
    pub(crate) fn no_subresource(&self, name: &str) -> Failure {
        match &self.origin {
            Origin::BuiltIn(_) => Failure::no_such_resource(),
            Origin::Custom(_) => Failure::not_found(self.group_resource(), name),
        }
    }

    /// Its part cannot do this.
    pub(crate) fn not_supported(&self, verb: &str) -> Failure {
        match &self.origin {
            Origin::BuiltIn(_) => Failure::not_allowed(),
            Origin::Custom(_) => Failure::not_supported(self.group_resource(), verb),
        }
    }

    /// What who uses it is warned of.
    pub(crate) fn warning(&self) -> Option<&str> {
        match &self.origin {
            Origin::BuiltIn(_) if self.group.is_empty() => {
                DEPRECATED.iter().find(|(plural, _)| self.plural == *plural).map(|(_, warning)| *warning)
            }
            Origin::BuiltIn(_) => None,
            Origin::Custom(version) => version.warning(),
        }
    }
}
