//! What writers of a resource do not come to own.

use super::Request;
use super::compare::Comparison;
use super::set::Set;

/// Which fields count.
pub(super) enum Filter {
    /// All but these, with what lies below.
    Without(Set),
    /// Only what lies on or below these.
    Only(&'static [&'static [&'static str]]),
}

/// The two subresources that have it the other way round.
const EPHEMERAL_CONTAINERS: &[&[&str]] = &[&["spec", "ephemeralContainers"]];
const RESIZE: &[&[&str]] = &[
    &["spec", "containers", "*", "resources"],
    &["spec", "containers", "*", "resizePolicy"],
    &["spec", "initContainers", "*", "resources"],
    &["spec", "initContainers", "*", "resizePolicy"],
];

impl Filter {
    pub(super) fn of(request: &Request<'_>) -> Self {
        match (request.ty.name, request.subresource) {
            ("io.k8s.api.core.v1.Pod", "ephemeralcontainers") => Self::Only(EPHEMERAL_CONTAINERS),
            ("io.k8s.api.core.v1.Pod", "resize") => Self::Only(RESIZE),
            _ => {
                let paths: Vec<Vec<&str>> = request.reset_fields.iter().map(|path| path.split('.').collect()).collect();
                Self::Without(Set::of_names(paths.iter().map(Vec::as_slice)))
            }
        }
    }

    pub(super) fn apply(&self, set: &mut Set) {
        match self {
            Self::Without(fields) => set.subtract_trees(fields),
            Self::Only(paths) => set.retain(paths),
        }
    }

    pub(super) fn apply_all(&self, comparison: &mut Comparison) {
        self.apply(&mut comparison.removed);
        self.apply(&mut comparison.modified);
        self.apply(&mut comparison.added);
    }
}
