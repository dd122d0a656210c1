//! What a module is: the one shape of all of them.

use rolewright_core::Rule;

use crate::intent::Intent;
use crate::kind::Kind;
use crate::object::ObjectRef;
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

    /// Whether a pause keeps it from writing. Only a stand-in for somebody else's controller knows nothing of pauses.
    fn heeds_pause(&self) -> bool {
        true
    }

    /// The lease of the controller whose job this is. Whoever holds it writes; without one the manager's own lease decides.
    fn lease(&self) -> Option<SharedLease> {
        None
    }

    /// Takes in changes and marks the keys whose intent may differ now.
    fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], now: Time, mark: &mut dyn FnMut(ObjectRef));

    /// What there should be for a key. The same snapshot gives the same intent.
    fn intend(&self, snapshot: &Snapshot, key: &ObjectRef, now: Time) -> Intent;

    /// Whether a key gathers what other keys bring. Such a key is looked at once those are done, so that many of them make
    /// one write.
    fn gathers(&self, key: &ObjectRef) -> bool {
        let _ = key;
        false
    }

    /// Every key there is, for the full pass.
    fn keys(&self, snapshot: &Snapshot) -> Vec<ObjectRef>;
}
