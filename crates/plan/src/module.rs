//! What a module is: the one shape of all of them.

use rolewright_core::Rule;

use crate::diagnostic::Diagnostic;
use crate::intent::Intent;
use crate::kind::Kind;
use crate::object::ObjectRef;
use crate::op::{Plan, Report};
use crate::snapshot::{Change, Snapshot};
use crate::{Name, Time};

/// A kind that a module reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Which one.
    pub kind: &'static Kind,
    /// Whether the module sleeps while the kind is not served.
    pub needed: bool,
}

impl Watch {
    /// A kind without which the module has nothing to do.
    pub const fn needed(kind: &'static Kind) -> Self {
        Self { kind, needed: true }
    }

    /// A kind that adds something where it is served.
    pub const fn optional(kind: &'static Kind) -> Self {
        Self { kind, needed: false }
    }
}

/// When a key is looked at: once those of earlier turns are done, but it does not wait for them for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// At once.
    Brings,
    /// After what it leans on.
    Follows,
    /// After all that it gathers.
    Gathers,
    /// After all that any module writes: what is missing now may be on its way back.
    Collects,
}

/// A lease that whoever does a job holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLease {
    /// Its namespace.
    pub namespace: Name,
    /// Its name.
    pub name: Name,
    /// The flag that says in which namespace it is.
    pub flag: &'static str,
}

/// One system that computes permissions. Pure: it sees changes, keeps what indexes it likes, and says what it wants.
///
/// A key is an object on whose behalf others exist, such as an XRD, or one that is itself kept, such as an aggregated
/// role. The engine asks for keys that the module has marked, one at a time, and never while that key's last plan is
/// still being written.
pub trait Module: Send {
    /// Its name in flags, logs and metrics.
    fn name(&self) -> &'static str;

    /// What it reads.
    fn watches(&self) -> Vec<Watch>;

    /// What it needs to hold to write what it wants, beside reading: this becomes the manager's own role.
    fn writes(&self) -> Vec<Rule>;

    /// The same, in single namespaces only.
    fn writes_within(&self) -> Vec<(Name, Rule)> {
        Vec::new()
    }

    /// Whether a pause keeps it from writing. Only a stand-in for somebody else's controller knows nothing of pauses.
    fn heeds_pause(&self) -> bool {
        true
    }

    /// The lease of the controller whose job this is. Whoever holds it writes; without one the manager's own lease decides.
    fn lease(&self) -> Option<SharedLease> {
        None
    }

    /// Whether the controller whose job this is keeps an object of this name as well: where it runs, that one is its own.
    fn is_peers(&self, object: &ObjectRef) -> bool {
        let _ = object;
        false
    }

    /// Whoever else does this job on the cluster, as far as objects tell. While they do, the module only plans.
    fn peer(&self, snapshot: &Snapshot) -> Option<Diagnostic> {
        let _ = snapshot;
        None
    }

    /// What came of a key, in the module's own words; `None` for the words that all have. When and of which generation is
    /// filled in.
    fn report(&self, snapshot: &Snapshot, key: &ObjectRef, plan: &Plan) -> Option<Report> {
        let _ = (snapshot, key, plan);
        None
    }

    /// Takes in changes and marks the keys whose intent may differ now.
    fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], now: Time, mark: &mut dyn FnMut(ObjectRef));

    /// What there should be for a key. The same snapshot gives the same intent.
    fn intend(&self, snapshot: &Snapshot, key: &ObjectRef, now: Time) -> Intent;

    /// When a key is looked at. One that depends on what is written for others waits for them, so that many of them make
    /// one write.
    fn turn(&self, key: &ObjectRef) -> Turn {
        let _ = key;
        Turn::Brings
    }

    /// Every key there is, for the full pass.
    fn keys(&self, snapshot: &Snapshot) -> Vec<ObjectRef>;
}
