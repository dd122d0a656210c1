//! The labels. Their values are fixed in code, or by flags as those of leases are; names of other objects are never among
//! them.

use prometheus_client::encoding::EncodeLabelSet;
use rolewright_plan::engine::Category;
use rolewright_plan::{Code, Kind};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct ModuleLabels {
    pub(super) module: &'static str,
}

/// A problem by its code and by the word for it in events and conditions.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct ProblemLabels {
    module: &'static str,
    code: String,
    reason: &'static str,
}

impl ProblemLabels {
    pub(super) fn of(module: &'static str, code: Code) -> Self {
        Self { module, code: code.to_string(), reason: code.reason() }
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct ReconcileLabels {
    pub(super) module: &'static str,
    pub(super) outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct OutcomeLabels {
    pub(super) outcome: &'static str,
}

/// A lease by its place: `NAMESPACE/NAME`.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct LeaseLabels {
    lease: String,
}

impl LeaseLabels {
    pub(crate) fn of(namespace: &str, name: &str) -> Self {
        Self { lease: format!("{namespace}/{name}") }
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct RenewalLabels {
    #[prometheus(flatten)]
    pub(super) lease: LeaseLabels,
    pub(super) outcome: &'static str,
}

/// A kind by its resource: unlike its name, that with its group is unique.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct KindLabels {
    group: &'static str,
    resource: &'static str,
}

impl KindLabels {
    pub(super) fn of(kind: &'static Kind) -> Self {
        Self { group: kind.group, resource: kind.plural }
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct WriteLabels {
    group: &'static str,
    resource: &'static str,
    verb: &'static str,
    outcome: &'static str,
}

impl WriteLabels {
    pub(super) fn of(kind: &'static Kind, verb: &'static str, failure: Option<Category>) -> Self {
        let outcome = match failure {
            None => "ok",
            Some(Category::Conflict) => "conflict",
            Some(Category::Missing) => "missing",
            Some(Category::Forbidden) => "forbidden",
            Some(Category::Invalid) => "invalid",
            Some(Category::Unavailable) => "unavailable",
        };
        Self { group: kind.group, resource: kind.plural, verb, outcome }
    }
}

/// What came of a Kubernetes event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It was created.
    Created,
    /// It had been told before, by us or by who was here before us.
    Known,
    /// The server did not take it.
    Failed,
    /// Too many others were waiting.
    Dropped,
}

impl Told {
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Known => "known",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}
