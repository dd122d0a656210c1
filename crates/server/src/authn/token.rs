//! Service-account tokens: JSON Web Tokens with Kubernetes' claims, signed and checked.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use rolewright_core::User;
use rolewright_core::subject::{SERVICE_ACCOUNTS_GROUP, service_account_user};
use rolewright_core::validate::BadValue;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::accounts::{Accounts, Live, Referred};
use super::identity::{CREDENTIAL_ID, Extra, Identity, NODE_NAME, NODE_UID, POD_NAME, POD_UID};
use super::key::SigningKey;
use super::legacy;

/// Reads as Go does, which does not look at the bits that the last letter has to spare.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));
/// Longer texts are no tokens of ours.
const MAX_LENGTH: usize = 64 * 1024;
/// How far clocks may differ.
const LEEWAY: SignedDuration = SignedDuration::from_mins(1);
const NO_TOKEN: &str = "invalid bearer token";
const BAD_SIGNATURE: &str = "go-jose/go-jose: error in cryptographic primitive";

/// Signs tokens, and checks those that it has signed.
#[derive(Debug)]
pub struct Issuer {
    /// The claim `iss`.
    pub name: String,
    /// What this server is called in the claim `aud`; tokens are for these where nothing else is asked for.
    pub audiences: Vec<String>,
    /// The key.
    pub key: SigningKey,
}

/// Why a token is not good, in Kubernetes' words. They are for reviews; who sends a bad token is not told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TokenError(String);

impl TokenError {
    pub(super) fn unknown() -> Self {
        Self(NO_TOKEN.to_owned())
    }

    /// A token that is good elsewhere.
    pub(super) fn for_others(audiences: &[String], wanted: &[String]) -> Self {
        Self::refused(format!(
            "token audiences {} is invalid for the target audiences {}",
            quoted(audiences),
            quoted(wanted)
        ))
    }

    /// A token that is one of ours, but is not accepted.
    pub(super) fn refused(why: impl std::fmt::Display) -> Self {
        Self(format!("[{NO_TOKEN}, {why}]"))
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Header {
    alg: String,
    kid: String,
    /// Extensions that must be understood; none is.
    #[serde(skip_serializing)]
    crit: Option<serde_json::Value>,
}

/// What a token says, in the order in which Kubernetes writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Claims {
    pub aud: Vec<String>,
    pub exp: i64,
    pub iat: i64,
    pub iss: String,
    pub jti: String,
    #[serde(rename = "kubernetes.io")]
    pub kubernetes: References,
    pub nbf: i64,
    pub sub: String,
}

/// What a token stands on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct References {
    pub namespace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Reference>,
    pub serviceaccount: Reference,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnafter: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Reference {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

impl Issuer {
    /// Writes and signs a token; nothing if the key cannot sign.
    pub(super) fn sign(&self, claims: &impl Serialize) -> Option<String> {
        let header = Header { alg: "ES256".to_owned(), kid: self.key.id().to_owned(), crit: None };
        let header = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&header).ok()?);
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(claims).ok()?);
        let message = format!("{header}.{payload}");
        let signature = URL_SAFE_NO_PAD.encode(self.key.sign(message.as_bytes())?);
        Some(format!("{message}.{signature}"))
    }

    /// Whose token this is, if it is good for one of the audiences and all that it stands on still exists.
    pub(super) fn check(
        &self,
        token: &str,
        audiences: &[String],
        accounts: &dyn Accounts,
        now: Timestamp,
    ) -> Result<Identity, TokenError> {
        if let Some(claims) = self.read(token, legacy::ISSUER)? {
            return legacy::check(&claims, token, &self.audiences, audiences, accounts);
        }
        let claims: Claims = self.read(token, &self.name)?.ok_or_else(TokenError::unknown)?;
        let common: Vec<String> = claims.aud.iter().filter(|audience| audiences.contains(audience)).cloned().collect();
        if common.is_empty() {
            return Err(TokenError::for_others(&claims.aud, audiences));
        }
        claims.in_time(now)?;
        claims.kubernetes.still_there(accounts, now)?;
        Ok(Identity { audiences: common, ..claims.identity() })
    }

    /// The claims of a token that we have signed under this name; nothing if it is of another one.
    fn read<T: DeserializeOwned>(&self, token: &str, issuer: &str) -> Result<Option<T>, TokenError> {
        let unknown = TokenError::unknown;
        if token.len() > MAX_LENGTH {
            return Err(unknown());
        }
        let parts: Vec<&str> = token.splitn(4, '.').collect();
        let [header, payload, signature] = parts.as_slice() else { return Err(unknown()) };
        let decoded = |text: &str| LENIENT.decode(text).map_err(|_| unknown());
        let payload_json = decoded(payload)?;
        if !is_by(&payload_json, issuer) {
            return Ok(None);
        }
        let parsed = match decoded(header)?.as_slice() {
            [] => Header::default(),
            json => serde_json::from_slice(json).map_err(|_| unknown())?,
        };
        if !parsed.kid.is_empty() && parsed.kid != self.key.id() {
            return Err(TokenError::refused("invalid signature, no keys found"));
        }
        let signature = decoded(signature)?;
        let signed = header.len() + 1 + payload.len();
        let signed = token.get(..signed).ok_or_else(unknown)?;
        if parsed.alg != "ES256" || parsed.crit.is_some() || !self.key.verify(signed.as_bytes(), &signature) {
            return Err(TokenError::refused(BAD_SIGNATURE));
        }
        serde_json::from_slice(&payload_json).map(Some).map_err(|_| unknown())
    }
}

/// Tokens of other issuers are not ours to judge.
fn is_by(payload: &[u8], issuer: &str) -> bool {
    #[derive(Deserialize)]
    struct Claimed {
        iss: String,
    }
    serde_json::from_slice::<Claimed>(payload).is_ok_and(|claimed| claimed.iss == issuer)
}

impl Claims {
    fn in_time(&self, now: Timestamp) -> Result<(), TokenError> {
        let (now, leeway) = (now.as_second(), LEEWAY.as_secs());
        if now.saturating_add(leeway) < self.nbf {
            return Err(TokenError::refused("service account token is not valid yet"));
        }
        if now.saturating_sub(leeway) > self.exp {
            return Err(TokenError::refused("service account token has expired"));
        }
        if now.saturating_add(leeway) < self.iat {
            return Err(TokenError::refused("service account token is issued in the future"));
        }
        Ok(())
    }

    fn identity(&self) -> Identity {
        let it = &self.kubernetes;
        let groups = [SERVICE_ACCOUNTS_GROUP.to_owned(), format!("{SERVICE_ACCOUNTS_GROUP}:{}", it.namespace)];
        let mut extra = Extra::new();
        let mut tell = |key: &str, value: String| {
            extra.insert(key.to_owned(), vec![value]);
        };
        if let Some(pod) = &it.pod {
            tell(POD_NAME, pod.name.clone());
            tell(POD_UID, pod.uid.clone());
        }
        if !self.jti.is_empty() {
            tell(CREDENTIAL_ID, format!("JTI={}", self.jti));
        }
        if let Some(node) = it.node.as_ref().filter(|node| !node.name.is_empty()) {
            tell(NODE_NAME, node.name.clone());
            if !node.uid.is_empty() {
                tell(NODE_UID, node.uid.clone());
            }
        }
        Identity {
            user: User::new(service_account_user(&it.namespace, &it.serviceaccount.name), groups),
            uid: it.serviceaccount.uid.clone(),
            extra,
            ..Identity::default()
        }
    }
}

impl References {
    /// The account and what the token is bound to must exist, as the same objects as when it was signed.
    fn still_there(&self, accounts: &dyn Accounts, now: Timestamp) -> Result<(), TokenError> {
        let deleted = |it: &Live| it.deleted.is_some_and(|at| at < now.saturating_sub(LEEWAY).unwrap_or(at));
        let (namespace, account) = (&self.namespace, &self.serviceaccount);
        let Some(found) = accounts.find(Referred::ServiceAccount, namespace, &account.name) else {
            let name = BadValue::from(account.name.as_str());
            return Err(TokenError::refused(format!("serviceaccounts {name} not found")));
        };
        if found.uid != account.uid {
            let why = format!("service account UID ({}) does not match claim ({})", found.uid, account.uid);
            return Err(TokenError::refused(why));
        }
        if deleted(&found) {
            let why = format!("service account {namespace}/{} has been deleted", account.name);
            return Err(TokenError::refused(why));
        }
        // WHY: for a pod's token the node is information only.
        let node = self.node.as_ref().filter(|_| self.pod.is_none());
        for (kind, what, namespace, bound) in [
            (Referred::Secret, "secret", namespace.as_str(), self.secret.as_ref()),
            (Referred::Pod, "pod", namespace, self.pod.as_ref()),
            (Referred::Node, "node", "", node),
        ] {
            let Some(bound) = bound else { continue };
            let Some(found) = accounts.find(kind, namespace, &bound.name).filter(|found| !deleted(found)) else {
                return Err(TokenError::refused("service account token has been invalidated"));
            };
            if found.uid != bound.uid {
                let why = format!(
                    "{what} UID ({}) does not match service account {what} ref claim ({})",
                    found.uid, bound.uid
                );
                return Err(TokenError::refused(why));
            }
        }
        Ok(())
    }
}

/// A list as Go's `%q` shows it.
fn quoted(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| BadValue::from(text.as_str()).to_string()).collect();
    format!("[{}]", texts.join(" "))
}
