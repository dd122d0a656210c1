//! TokenRequest: a token for a service account, on request.

use jiff::{SignedDuration, Timestamp};
use rolewright_core::subject::service_account_user;
use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::{Map, Value, json};

use super::Authenticator;
use super::accounts::{Live, Referred};
use super::token::{Claims, Reference, References};
use crate::status::{Failure, GroupResource};
use crate::strategy::Object;

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";
const DEFAULT_SECONDS: i64 = 3600;
const MIN_SECONDS: i64 = 600;
const MAX_SECONDS: i64 = 1 << 32;
/// What kubelets ask for on behalf of pods. Such tokens live a year, and using them after this time is only noted.
const KUBELET_SECONDS: i64 = 3607;
const EXTENDED_SECONDS: i64 = 365 * 24 * 3600;

/// A token that was asked for.
#[derive(Clone, PartialEq)]
pub struct Requested {
    /// The TokenRequest with its status, which holds the token.
    pub object: Object,
    /// What the audit log may know of the token: `JTI=..`.
    pub credential_id: String,
}

/// Answers a TokenRequest for the service account `name`.
pub fn token_request(
    authenticator: &Authenticator,
    namespace: &str,
    name: &str,
    body: &Object,
    now: Timestamp,
) -> Result<Requested, Failure> {
    let issuer = authenticator.issuer();
    let metadata = body.get("metadata");
    let given = |member: &str| text(metadata, member);
    if !given("namespace").is_empty() && given("namespace") != namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if !given("name").is_empty() && given("name") != name {
        let at = Path::field("metadata");
        let fault =
            FieldError::invalid(at.child("name"), given("name"), "must match the service account name if specified");
        return Err(Failure::invalid(GROUP, KIND, name, &[fault]));
    }
    let account = find(authenticator, Referred::ServiceAccount, namespace, name)?;
    if !given("uid").is_empty() && given("uid") != account.uid {
        let why = format!(
            "the UID in the token request ({}) does not match the UID of the service account ({})",
            given("uid"),
            account.uid
        );
        return Err(Failure::conflict(GroupResource { group: GROUP, resource: KIND }, name, why));
    }
    let spec = body.get("spec");
    let seconds = spec.and_then(|spec| spec.get("expirationSeconds")).and_then(Value::as_i64);
    let seconds = seconds.unwrap_or(DEFAULT_SECONDS);
    validate(seconds)?;
    let audiences = match texts(spec, "audiences") {
        none if none.is_empty() => issuer.audiences.clone(),
        some => some,
    };
    let reference = spec.and_then(|spec| spec.get("boundObjectRef")).filter(|reference| !reference.is_null());
    let mut claims = Claims {
        aud: audiences,
        iss: issuer.name.clone(),
        iat: now.as_second(),
        nbf: now.as_second(),
        exp: now.as_second().saturating_add(seconds),
        jti: crate::uid::uuid_v4(),
        sub: service_account_user(namespace, name).into(),
        kubernetes: References {
            namespace: namespace.to_owned(),
            serviceaccount: Reference { name: name.to_owned(), uid: account.uid.clone() },
            ..References::default()
        },
    };
    if let Some(reference) = reference {
        bind(authenticator, &mut claims.kubernetes, reference)?;
    }
    let for_this_server = claims.aud.iter().all(|audience| issuer.audiences.contains(audience));
    if claims.kubernetes.pod.is_some() && seconds == KUBELET_SECONDS && for_this_server {
        claims.kubernetes.warnafter = Some(claims.exp);
        claims.exp = now.as_second().saturating_add(EXTENDED_SECONDS);
    }
    let token = issuer.sign(&claims).ok_or_else(|| Failure::internal("failed to generate token: cannot sign"))?;
    let created = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let expires = created.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(created);
    let object = json!({
        "kind": KIND, "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": name, "namespace": namespace, "uid": account.uid, "creationTimestamp": created.to_string(),
        },
        "spec": {"audiences": claims.aud, "expirationSeconds": seconds, "boundObjectRef": reference.map(written)},
        "status": {"token": token, "expirationTimestamp": expires.to_string()},
    });
    let Value::Object(object) = object else { return Err(Failure::internal("a TokenRequest is an object")) };
    Ok(Requested { object: with_metadata(object, metadata), credential_id: format!("JTI={}", claims.jti) })
}

/// A reference without empty members.
fn written(reference: &Value) -> Value {
    let members = reference.as_object().into_iter().flatten().filter(|(_, value)| value.as_str() != Some(""));
    Value::Object(members.map(|(member, value)| (member.clone(), value.clone())).collect())
}

/// Keeps what else the client has put into the metadata.
fn with_metadata(mut object: Object, given: Option<&Value>) -> Object {
    if let (Some(Value::Object(out)), Some(Value::Object(given))) = (object.get_mut("metadata"), given) {
        for (member, value) in given {
            if !out.contains_key(member) {
                out.insert(member.clone(), value.clone());
            }
        }
    }
    object
}

fn validate(seconds: i64) -> Result<(), Failure> {
    let detail = if seconds < MIN_SECONDS {
        "may not specify a duration less than 10 minutes"
    } else if seconds > MAX_SECONDS {
        "may not specify a duration larger than 2^32 seconds"
    } else {
        return Ok(());
    };
    let at = Path::field("spec");
    let fault = FieldError::invalid(at.child("expirationSeconds"), BadValue::Json(seconds.to_string()), detail);
    Err(Failure::invalid(GROUP, KIND, "", &[fault]))
}

/// Ties a token to the object that `reference` names.
fn bind(authenticator: &Authenticator, to: &mut References, reference: &Value) -> Result<(), Failure> {
    let reference = Some(reference);
    let (name, uid) = (text(reference, "name"), text(reference, "uid"));
    let (kind, api_version) = (text(reference, "kind"), text(reference, "apiVersion"));
    let (group, version) = group_and_version(api_version);
    let namespace = to.namespace.as_str();
    let (referred, namespace) = match (group, kind) {
        ("", "Pod") => (Referred::Pod, namespace),
        ("", "Secret") => (Referred::Secret, namespace),
        ("", "Node") => (Referred::Node, ""),
        _ => {
            let message = format!("cannot bind token to object of type {group}/{version}, Kind={kind}");
            return Err(Failure::bad_request(message));
        }
    };
    let found = find(authenticator, referred, namespace, name)?;
    let account = &to.serviceaccount.name;
    if referred == Referred::Pod && found.service_account != *account {
        let account = BadValue::from(account.as_str());
        return Err(Failure::bad_request(format!(
            "cannot bind token for serviceaccount {account} to pod running with different serviceaccount name."
        )));
    }
    if !uid.is_empty() && uid != found.uid {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been \
             deleted and then recreated"
        );
        return Err(Failure::conflict(GroupResource { group: "", resource: kind }, name, why));
    }
    let bound = Some(Reference { name: name.to_owned(), uid: found.uid });
    match referred {
        Referred::Secret => to.secret = bound,
        Referred::Node => to.node = bound,
        Referred::Pod | Referred::ServiceAccount => {
            to.pod = bound;
            if !found.node.is_empty() {
                let uid = authenticator.accounts().find(Referred::Node, "", &found.node).map(|node| node.uid);
                to.node = Some(Reference { name: found.node, uid: uid.unwrap_or_default() });
            }
        }
    }
    Ok(())
}

fn find(authenticator: &Authenticator, kind: Referred, namespace: &str, name: &str) -> Result<Live, Failure> {
    authenticator
        .accounts()
        .find(kind, namespace, name)
        .ok_or_else(|| Failure::not_found(GroupResource { group: "", resource: kind.resource() }, name))
}

/// As Go reads them: what has more than one slash is neither.
fn group_and_version(api_version: &str) -> (&str, &str) {
    match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(both) => both,
    }
}

fn text<'a>(object: Option<&'a Value>, member: &str) -> &'a str {
    object.and_then(|object| object.get(member)).and_then(Value::as_str).unwrap_or_default()
}

fn texts(object: Option<&Value>, member: &str) -> Vec<String> {
    let list = object.and_then(|object| object.get(member)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl std::fmt::Debug for Requested {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spec: Option<&Map<String, Value>> = self.object.get("spec").and_then(Value::as_object);
        f.debug_struct("Requested").field("credential_id", &self.credential_id).field("spec", &spec).finish()
    }
}
