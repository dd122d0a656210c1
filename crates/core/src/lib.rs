//! RBAC as values and algebra.
//!
//! The heart of rolewright: what a rule allows, what a user may do and why, what a change gives or takes, which rules an
//! aggregated role must hold. Everything here is a pure function of its input. There is no clock, no I/O, no async, no
//! Kubernetes client; the same input gives the same bytes.
//!
//! ```text
//! Rule ── Role ──┐                     ┌── Authorizer   may she? why? why not? who may?
//!                ├── World ────────────┼── diff         what does this change grant or revoke?
//! Subject ─ Binding                    └── escalation   may she write this role or binding?
//! Rule ── RuleSet      covers, implies, disjoint, compact
//! ClusterRole ── Aggregation           which rules follow from which labels
//! ```
//!
//! Meaning is Kubernetes' own, and `testbed oracle` proves it: random worlds must get equal answers from
//! Kubernetes' Go code and from this crate.

pub mod access;
pub mod aggregate;
pub mod authorize;
mod binding;
pub mod bootstrap;
pub mod diff;
pub mod escalation;
mod intern;
mod key;
mod labels;
mod name_list;
#[cfg(feature = "serde")]
mod null;
pub mod quote;
mod request;
mod role;
pub mod rule;
mod ruleset;
pub mod selector;
pub mod subject;
mod urls;
pub mod validate;
mod world;

pub use access::{Access, Scope};
pub use authorize::Authorizer;
pub use binding::{Binding, RoleRef};
pub use diff::diff;
pub use key::{BindingKey, RoleKey};
pub use labels::Labels;
pub use name_list::NameList;
pub use request::{Request, ResourceRequest, Target};
pub use role::Role;
pub use rule::Rule;
pub use ruleset::{RuleSet, covers};
pub use selector::LabelSelector;
pub use subject::{Principal, Subject, User};
pub use world::World;

/// A name, key or other short text: cheap to clone, inline up to 23 bytes.
pub type Name = smol_str::SmolStr;

/// The API group of all RBAC kinds.
pub const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
