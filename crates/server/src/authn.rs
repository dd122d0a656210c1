//! Who asks: client certificates, bearer tokens, and nobody in particular, in Kubernetes' order.

mod accounts;
mod forbidden;
mod identity;
mod impersonation;
mod key;
mod legacy;
mod openid;
mod review;
#[cfg(test)]
mod tests;
mod token;
mod token_request;

use std::sync::Arc;

use hyper::header::{AUTHORIZATION, HeaderMap};
use jiff::Timestamp;
use ring::hmac;
use rustc_hash::FxHashMap;

pub use self::accounts::{Accounts, Live, Referred};
pub use self::forbidden::forbidden;
pub use self::identity::{Extra, FromSecret, Identity};
pub use self::impersonation::{Impersonated, Impersonation, ImpersonationModes};
pub use self::key::{KeyError, SigningKey};
pub(crate) use self::legacy::{INVALID_SINCE, token as secret_token};
pub use self::openid::{jwks, openid_configuration};
pub use self::review::{self_subject_review, token_review};
pub use self::token::{Issuer, TokenError};
pub use self::token_request::{Requested, token_request};
use crate::status::Failure;
use crate::tls::PeerCertificate;

/// The issuer of tokens, and their audience, where nothing else is configured.
pub const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// Finds out who asks.
pub struct Authenticator {
    issuer: Arc<Issuer>,
    accounts: Arc<dyn Accounts>,
    tokens: StaticTokens,
    anonymous: bool,
}

/// Fixed tokens, kept as hashes under a random key: lookups compare nothing that a client could steer towards a match,
/// and a dump of the memory holds no token.
struct StaticTokens {
    key: hmac::Key,
    users: FxHashMap<[u8; 32], Identity>,
}

impl Authenticator {
    /// Accepts tokens of `issuer` for `accounts` that still exist; requests without credentials are anonymous.
    pub fn new(issuer: Arc<Issuer>, accounts: Arc<dyn Accounts>) -> Self {
        let mut secret = [0; 32];
        crate::uid::fill(&mut secret);
        let tokens = StaticTokens { key: hmac::Key::new(hmac::HMAC_SHA256, &secret), users: FxHashMap::default() };
        Self { issuer, accounts, tokens, anonymous: true }
    }

    /// Accepts this token for this user as well. An empty token is no token.
    pub fn with_token(mut self, token: &str, identity: Identity) -> Self {
        if !token.is_empty() {
            self.tokens.users.insert(self.tokens.hash(token), identity.with_implicit_group());
        }
        self
    }

    /// Refuses requests without credentials.
    pub fn without_anonymous(mut self) -> Self {
        self.anonymous = false;
        self
    }

    /// Who signs the tokens that are accepted.
    pub fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// The service accounts and what their tokens are bound to.
    pub fn accounts(&self) -> &dyn Accounts {
        &*self.accounts
    }

    /// Who sends a request with these headers over a connection with this certificate.
    ///
    /// A bad credential is an error, unless another one is good; only a request without any is anonymous.
    pub fn request(
        &self,
        headers: &HeaderMap,
        certificate: Option<&PeerCertificate>,
        now: Timestamp,
    ) -> Result<Identity, Failure> {
        let shown = certificate.map(|certificate| self.certificate(certificate, now));
        if let Some(Ok(Some(identity))) = shown {
            return Ok(identity);
        }
        let refused = matches!(shown, Some(Err(())));
        match bearer(headers) {
            Some(token) => self.token(token, &[], now).map_err(|_| Failure::unauthorized()),
            None if !refused && self.anonymous => Ok(Identity::anonymous()),
            None => Err(Failure::unauthorized()),
        }
    }

    /// Whose token this is, if it is good for one of the audiences; for those of this server where none are given.
    pub fn token(&self, token: &str, audiences: &[String], now: Timestamp) -> Result<Identity, TokenError> {
        let audiences = if audiences.is_empty() { &self.issuer.audiences } else { audiences };
        if let Some(identity) = self.tokens.users.get(&self.tokens.hash(token)) {
            let common: Vec<String> =
                self.issuer.audiences.iter().filter(|audience| audiences.contains(audience)).cloned().collect();
            return match common.as_slice() {
                [] => Err(TokenError::unknown()),
                _ => Ok(Identity { audiences: common, ..identity.clone() }),
            };
        }
        let identity = self.issuer.check(token, audiences, &*self.accounts, now)?;
        Ok(identity.with_implicit_group())
    }

    fn certificate(&self, certificate: &PeerCertificate, now: Timestamp) -> Result<Option<Identity>, ()> {
        match certificate {
            PeerCertificate::Verified(it) if it.not_after >= now.as_second() => {
                let named = !it.user.is_empty();
                Ok(named.then(|| Identity { audiences: self.issuer.audiences.clone(), ..Identity::from(it) }))
            }
            _ => Err(()),
        }
    }
}

impl StaticTokens {
    fn hash(&self, token: &str) -> [u8; 32] {
        let tag = hmac::sign(&self.key, token.as_bytes());
        tag.as_ref().try_into().expect("a SHA-256 has 32 bytes")
    }
}

/// The bearer token of a request. Other schemes count as none, and so does an empty token.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    bearer_in(headers.get(AUTHORIZATION)?.to_str().ok()?)
}

fn bearer_in(header: &str) -> Option<&str> {
    let mut parts = header.trim().split(' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authenticator").field("anonymous", &self.anonymous).finish_non_exhaustive()
    }
}
