//! Pure planners: what is seen of a cluster in, what should be written out.
//!
//! There is no clock, no I/O, no async and no Kubernetes client here. The manager, `rolewright plan` and the tests drive
//! the same [`Engine`]; only who reads and who writes differs.
//!
//! ```text
//! Event ──> Snapshot ──> Module::observe ──> due keys ──> Module::intend ──> Intent
//!           objects      indexes of its      Queue        what there should be, and why
//!           as values    own
//!                                      difference(Intent, Snapshot) ──> Plan { ops, diagnostics, status }
//!                                                                        │ written by somebody else
//!                                      Engine::finish <── outcomes ──────┘ what was stored is seen at once
//! ```
//!
//! A module says what there should be, never how to get there: comparing with what there is, the order of writes, who may
//! touch which object, pruning, pausing and retries are the same for all and live beside the modules.

pub mod aggregation;
pub mod crossplane;
pub mod diagnostic;
mod difference;
mod digest;
pub mod engine;
pub mod intent;
pub mod kind;
pub mod module;
pub mod object;
pub mod op;
pub mod rbac;
pub mod render;
pub mod rights;
pub mod simulation;
pub mod snapshot;
pub mod sync;
mod time;
pub mod uninstall;
pub mod vocabulary;
pub mod workload;

pub use diagnostic::{Code, Diagnostic, Severity};
pub use engine::Engine;
pub use intent::{Claim, Content, Intent, Wanted};
pub use kind::Kind;
pub use module::{Module, SharedLease, Turn, Watch};
pub use object::{Live, Meta, ObjectRef, Owner};
pub use op::{Op, Phase, Plan, Write};
pub use snapshot::{Change, Event, Snapshot};
pub use time::Time;

/// A name, key or other short text: cheap to clone, inline up to 23 bytes.
pub use rolewright_core::Name;
