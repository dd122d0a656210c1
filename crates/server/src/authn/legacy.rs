//! Tokens that secrets hold. They do not end by themselves: they are good for as long as their secret has them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rolewright_core::User;
use rolewright_core::subject::{SERVICE_ACCOUNTS_GROUP, service_account_user};
use rolewright_core::validate::BadValue;
use serde::{Deserialize, Serialize};

use super::accounts::{Accounts, Referred};
use super::identity::{FromSecret, Identity};
use super::token::{Issuer, TokenError};

/// Who signs them.
pub(super) const ISSUER: &str = "kubernetes/serviceaccount";
/// Says since when a secret's token is not accepted any more.
pub(crate) const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

/// What such a token says, in the order in which Kubernetes writes it.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Claims {
    iss: String,
    #[serde(rename = "kubernetes.io/serviceaccount/namespace")]
    namespace: String,
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name")]
    secret: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name")]
    account: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    uid: String,
    sub: String,
}

/// The token of a secret, in base64; nothing if the key cannot sign.
pub(crate) fn token(issuer: &Issuer, namespace: &str, account: (&str, &str), secret: &str) -> Option<String> {
    let (account, uid) = account;
    let claims = Claims {
        iss: ISSUER.to_owned(),
        namespace: namespace.to_owned(),
        secret: secret.to_owned(),
        account: account.to_owned(),
        uid: uid.to_owned(),
        sub: service_account_user(namespace, account).into(),
    };
    issuer.sign(&claims).map(|token| STANDARD.encode(token))
}

/// Whose token this is, if its secret still has it and its account is still the same.
pub(super) fn check(
    claims: &Claims,
    token: &str,
    own: &[String],
    wanted: &[String],
    accounts: &dyn Accounts,
) -> Result<Identity, TokenError> {
    let audiences: Vec<String> = own.iter().filter(|audience| wanted.contains(audience)).cloned().collect();
    if audiences.is_empty() {
        return Err(TokenError::for_others(own, wanted));
    }
    let parts = [
        ("sub", &claims.sub),
        ("namespace", &claims.namespace),
        ("secretName", &claims.secret),
        ("serviceAccountName", &claims.account),
        ("serviceAccountUID", &claims.uid),
    ];
    if let Some((name, _)) = parts.iter().find(|(_, value)| value.is_empty()) {
        return Err(TokenError::refused(format!("{name} claim is missing")));
    }
    let (namespace, account) = (claims.namespace.as_str(), claims.account.as_str());
    let user = service_account_user(namespace, account);
    if claims.sub != user.as_ref() {
        return Err(TokenError::refused("sub claim is invalid"));
    }
    let secret = accounts.find(Referred::Secret, namespace, &claims.secret).filter(|secret| secret.deleted.is_none());
    let secret = secret.ok_or_else(|| TokenError::refused("Token has been invalidated"))?;
    if secret.token != token {
        return Err(TokenError::refused("Token does not match server's copy"));
    }
    let Some(found) = accounts.find(Referred::ServiceAccount, namespace, account) else {
        return Err(TokenError::refused(format!("serviceaccounts {} not found", BadValue::from(account))));
    };
    if found.deleted.is_some() {
        return Err(TokenError::refused(format!("ServiceAccount {namespace}/{account} has been deleted")));
    }
    if found.uid != claims.uid {
        let why = format!("ServiceAccount UID ({}) does not match claim ({})", found.uid, claims.uid);
        return Err(TokenError::refused(why));
    }
    accounts.shown(namespace, &claims.secret);
    if secret.marked {
        return Err(TokenError::refused(format!(
            "the token in secret {namespace}/{} for service account {namespace}/{account} has been marked invalid. Use tokens \
             from the TokenRequest API or manually created secret-based tokens, or remove the '{INVALID_SINCE}' label from the \
             secret to temporarily allow use of this token",
            claims.secret
        )));
    }
    let groups = [SERVICE_ACCOUNTS_GROUP.to_owned(), format!("{SERVICE_ACCOUNTS_GROUP}:{namespace}")];
    Ok(Identity {
        user: User::new(user, groups),
        uid: found.uid,
        audiences,
        secret: Some(Box::new(FromSecret {
            name: claims.secret.clone(),
            listed: found.secrets.contains(&claims.secret),
        })),
        ..Identity::default()
    })
}
