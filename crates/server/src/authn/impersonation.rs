//! Acting as somebody else, in Kubernetes' five modes.
//!
//! Four of them are constrained: they ask for `impersonate:<mode>` on whom one wants to be, and for
//! `impersonate-on:<mode>:<verb>` on what one wants to do. The last is as old as Kubernetes and asks for `impersonate` alone.

mod checks;
mod extra;
mod headers;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use rolewright_core::{Name, Request, User};
use rustc_hash::FxHashMap;

use self::checks::Mode;
use super::identity::{Extra, Identity};
use crate::status::Failure;

/// How many users' last modes are remembered.
const REMEMBERED: usize = 10_000;

/// Whom a request wants to be, as its headers say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// The user's name, never empty.
    pub user: String,
    /// The uid; may be empty.
    pub uid: String,
    /// The groups, which replace all others.
    pub groups: Vec<String>,
    /// Further facts.
    pub extra: Extra,
}

/// Whom a request is from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impersonated {
    /// Who.
    pub identity: Identity,
    /// The verb of the constrained mode that allowed it, for the audit log; empty for the old mode.
    pub constraint: &'static str,
}

/// Decides about impersonation.
///
/// Like Kubernetes it remembers in which mode a user last succeeded, and tries that first. It is more than speed: the first
/// refusal is the one that is told, and the node modes know a node's group while the old one does not.
#[derive(Debug, Default)]
pub struct ImpersonationModes {
    last: Mutex<FxHashMap<Name, Mode>>,
}

impl ImpersonationModes {
    /// Who `requestor` is allowed to be for this request. `allows` is the authorizer; its error is a reason, mostly empty.
    pub fn impersonate(
        &self,
        requestor: &Identity,
        wanted: &Impersonation,
        request: &Request<'_>,
        allows: impl Fn(&User, &Request<'_>) -> Result<(), String>,
    ) -> Result<Impersonated, Failure> {
        let last = self.last(&requestor.user.name);
        let others = Mode::ALL.into_iter().filter(|mode| Some(*mode) != last);
        let mut first = None;
        for mode in last.into_iter().chain(others) {
            match mode.check(requestor, wanted, request, &allows) {
                Ok(Some(identity)) => {
                    self.remember(&requestor.user.name, mode);
                    return Ok(Impersonated { identity, constraint: mode.constraint() });
                }
                Ok(None) => {}
                Err(refusal) => first = first.or(Some(refusal)),
            }
        }
        Err(first.unwrap_or_else(|| Failure::internal("all impersonation modes failed")))
    }

    fn last(&self, user: &Name) -> Option<Mode> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).get(user).copied()
    }

    fn remember(&self, user: &Name, mode: Mode) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= REMEMBERED && !last.contains_key(user) {
            last.clear();
        }
        last.insert(user.clone(), mode);
    }
}
