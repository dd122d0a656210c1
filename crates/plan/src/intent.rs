//! What a module wants there to be for one key.

use rolewright_core::selector::LabelSelector;
use rolewright_core::{Labels, RoleRef, Rule, Subject};

use crate::diagnostic::Diagnostic;
use crate::object::{ObjectRef, Owner};
use crate::{Name, Time};

/// What there should be on behalf of one key, and what is there on its behalf. What is there and not wanted goes.
#[derive(Debug, Default)]
pub struct Intent {
    /// The objects that should exist.
    pub wanted: Vec<Wanted>,
    /// The objects that exist for this key, as the module's own index knows them.
    pub held: Vec<ObjectRef>,
    /// What must, or need no longer, be done before an object can go.
    pub holds: Vec<Hold>,
    /// What a user should know.
    pub diagnostics: Vec<Diagnostic>,
    /// When to look again though nothing changes.
    pub wake_at: Option<Time>,
}

/// An object that should exist.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which one.
    pub object: ObjectRef,
    /// By what right we write to it.
    pub claim: Claim,
    /// What it should be.
    pub shape: Shape,
    /// Why it should exist, in words for a user.
    pub because: String,
}

/// Whether an object can go before somebody has done something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Which one.
    pub object: ObjectRef,
    /// The finalizer that keeps it.
    pub finalizer: Name,
    /// Whether it should be there.
    pub holds: bool,
    /// Why, in words for a user.
    pub because: String,
}

/// By what right we write to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is controlled by the object with this uid, the first of its owners; or by nobody, and we applied it before.
    Controlled(Name),
    /// We applied it before, and nobody gave this label another value.
    Labelled(Name, Name),
    /// We applied it before, or one of these controllers did, whose job we do, whatever became of its labels.
    Made(&'static [&'static str]),
    /// It is somebody else's, and its rules are ours by agreement. It is never created and nothing else is touched.
    RulesOnly,
}

/// Everything of an object that we say. What others say beside it is theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Labels.
    pub labels: Labels,
    /// Annotations.
    pub annotations: Labels,
    /// Owners.
    pub owners: Vec<Owner>,
    /// What is particular to the kind.
    pub content: Content,
}

/// What is particular to a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Content {
    /// Metadata only, as with a Namespace or a ServiceAccount.
    #[default]
    Bare,
    /// A role.
    Role {
        /// All of its rules; `None` leaves them to whoever gathers them.
        rules: Option<Vec<Rule>>,
        /// What an aggregated role selects; `None` for a role that is not aggregated.
        aggregation: Option<Vec<LabelSelector>>,
    },
    /// A binding.
    Binding {
        /// The role; it cannot be changed.
        role_ref: RoleRef,
        /// Who gets it.
        subjects: Vec<Subject>,
    },
}

impl Content {
    /// A role with its own rules.
    pub fn rules(rules: impl Into<Vec<Rule>>) -> Self {
        Self::Role { rules: Some(rules.into()), aggregation: None }
    }

    /// A ClusterRole whose rules somebody else gathers by labels.
    pub fn aggregated(selectors: impl Into<Vec<LabelSelector>>) -> Self {
        Self::Role { rules: None, aggregation: Some(selectors.into()) }
    }

    /// A binding.
    pub fn binding(role_ref: RoleRef, subjects: impl Into<Vec<Subject>>) -> Self {
        Self::Binding { role_ref, subjects: subjects.into() }
    }
}
