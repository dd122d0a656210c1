//! An authenticated user with everything that is known about them.

use std::collections::BTreeMap;

use rolewright_core::subject::{AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP};
use rolewright_core::{Name, User};
use serde_json::{Map, Value};

use crate::tls::Verified;

pub(super) const ANONYMOUS: &str = "system:anonymous";
pub(super) const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
pub(super) const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
pub(super) const NODE_UID: &str = "authentication.kubernetes.io/node-uid";
pub(super) const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
pub(super) const POD_UID: &str = "authentication.kubernetes.io/pod-uid";

/// Further facts about a user, several per key.
pub type Extra = BTreeMap<String, Vec<String>>;

/// Who asks. Only the user counts for decisions; the rest is for reviews and the audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Name and groups, implicit ones included.
    pub user: User,
    /// The uid; may be empty.
    pub uid: String,
    /// Further facts.
    pub extra: Extra,
    /// The audiences for which the credential is good.
    pub audiences: Vec<String>,
    /// The secret that holds the token, for the old kind of tokens.
    pub secret: Option<Box<FromSecret>>,
}

/// Where an old token is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FromSecret {
    /// The secret's name.
    pub name: String,
    /// Whether its account lists it, as accounts of old clusters do.
    pub listed: bool,
}

impl Identity {
    /// A user with exactly these groups.
    pub fn new(user: User) -> Self {
        Self { user, ..Self::default() }
    }

    /// Somebody without credentials.
    pub fn anonymous() -> Self {
        Self::new(User::new(ANONYMOUS, [UNAUTHENTICATED_GROUP]))
    }

    /// The same user in `system:authenticated`, where everybody is who has shown a credential.
    pub(super) fn with_implicit_group(mut self) -> Self {
        let told = self.user.groups.iter().any(|group| group == AUTHENTICATED_GROUP || group == UNAUTHENTICATED_GROUP);
        if !told && self.user.name != ANONYMOUS {
            self.user.groups.push(AUTHENTICATED_GROUP.into());
        }
        self
    }

    /// As Kubernetes' UserInfo, without empty members.
    pub fn user_info(&self) -> Value {
        let mut out = Map::new();
        if !self.user.name.is_empty() {
            out.insert("username".into(), self.user.name.as_str().into());
        }
        if !self.uid.is_empty() {
            out.insert("uid".into(), self.uid.as_str().into());
        }
        if !self.user.groups.is_empty() {
            out.insert("groups".into(), self.user.groups.iter().map(Name::as_str).collect());
        }
        if !self.extra.is_empty() {
            let extra = self.extra.iter().map(|(key, values)| (key.clone(), values.as_slice().into()));
            out.insert("extra".into(), Value::Object(extra.collect()));
        }
        Value::Object(out)
    }
}

impl From<&Verified> for Identity {
    fn from(certificate: &Verified) -> Self {
        let id = format!("X509SHA256={}", certificate.fingerprint);
        let identity = Self {
            user: User::new(certificate.user.as_str(), certificate.groups.iter().map(String::as_str)),
            uid: certificate.uid.clone(),
            extra: Extra::from([(CREDENTIAL_ID.to_owned(), vec![id])]),
            ..Self::default()
        };
        identity.with_implicit_group()
    }
}
