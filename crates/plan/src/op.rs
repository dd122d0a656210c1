//! What should be written, and in which order.

use std::fmt;

use rolewright_core::Rule;

use crate::diagnostic::Diagnostic;
use crate::intent::{Content, Shape};
use crate::object::{Condition, ObjectRef};
use crate::{Name, Time};

/// What should be written for one key.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The writes, in order.
    pub ops: Vec<Op>,
    /// What a user should know.
    pub diagnostics: Vec<Diagnostic>,
    /// When to look again though nothing changes.
    pub wake_at: Option<Time>,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// When: all of a phase before the next.
    pub phase: Phase,
    /// To which object.
    pub object: ObjectRef,
    /// What.
    pub write: Write,
    /// Why, in words for a user.
    pub because: String,
    /// Whether it undoes what somebody else did: the same was there before and is wanted still.
    pub repairs: bool,
}

/// The order of writes. Whoever keeps a right never loses it on the way, and rights go before what they lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// What keeps an object from going before we have cleaned up.
    Hold,
    /// What others stand on: namespaces, accounts.
    Ground,
    /// Roles that are new or grant more.
    Grant,
    /// Bindings that are new or reach more.
    Bind,
    /// Roles that grant less.
    Narrow,
    /// Bindings that reach less or go.
    Unbind,
    /// Roles that go.
    Drop,
    /// Everything else that goes.
    Clear,
    /// What lets an object go.
    Release,
    /// What came of it, for whoever asked.
    Report,
}

/// What came of a wish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// All conditions that are ours.
    pub conditions: Vec<Condition>,
    /// Other fields of the status that are ours, where the kind has them.
    pub fields: Vec<(&'static str, Name)>,
}

/// What to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Create the object; somebody else's of the same name is not touched.
    Create(Shape),
    /// Make the object with this uid like this.
    Update {
        /// The object that was looked at.
        uid: Name,
        /// What it becomes.
        shape: Shape,
    },
    /// Take over what the controller that did our job before wrote of the object with this uid; nothing else changes.
    /// Otherwise what it wrote would stay when we no longer say it.
    Inherit {
        /// The object that was looked at.
        uid: Name,
    },
    /// Let the role with this uid no longer gather others, whoever made it do so: what others say does not go by being
    /// left out.
    Ungather {
        /// The object that was looked at.
        uid: Name,
    },
    /// Write the rules of somebody else's role and nothing else.
    Rules {
        /// The object that was looked at.
        uid: Name,
        /// All of its rules.
        rules: Vec<Rule>,
    },
    /// Delete the object with this uid and create it anew, because what differs cannot be changed.
    Replace {
        /// The object that goes.
        uid: Name,
        /// What comes.
        shape: Shape,
    },
    /// Delete the object with this uid.
    Delete {
        /// The object that goes.
        uid: Name,
    },
    /// Put a finalizer on the object with this uid.
    Hold {
        /// The object that was looked at.
        uid: Name,
        /// Which one.
        finalizer: Name,
    },
    /// Take a finalizer from the object with this uid.
    Release {
        /// The object that was looked at.
        uid: Name,
        /// Which one.
        finalizer: Name,
    },
    /// Write what came of it into the object's status.
    Report {
        /// The object that was looked at.
        uid: Name,
        /// What to write.
        report: Report,
    },
}

impl Write {
    /// The word for it in plans, logs and metrics.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Update { .. } | Self::Rules { .. } => "update",
            Self::Inherit { .. } => "inherit",
            Self::Ungather { .. } => "ungather",
            Self::Replace { .. } => "replace",
            Self::Delete { .. } => "delete",
            Self::Hold { .. } => "hold",
            Self::Release { .. } => "release",
            Self::Report { .. } => "report",
        }
    }

    /// The rules that it sends, if it sends some.
    pub fn rules(&self) -> Option<&[Rule]> {
        match self {
            Self::Create(shape) | Self::Update { shape, .. } | Self::Replace { shape, .. } => match &shape.content {
                Content::Role { rules, .. } => rules.as_deref(),
                Content::Bare | Content::Binding { .. } => None,
            },
            Self::Rules { rules, .. } => Some(rules),
            _ => None,
        }
    }
}

impl Op {
    /// All of it but whether it is a repair, which the same write is only the second time.
    pub(crate) fn words(&self) -> (Phase, &ObjectRef, &Write, &str) {
        (self.phase, &self.object, &self.write, &self.because)
    }

    /// The word for it, in plans and logs.
    pub fn verb(&self) -> &'static str {
        if self.repairs { "repair" } else { self.write.verb() }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.verb(), self.object, self.because)
    }
}
