//! Secrets: bytes by key, with keys that must be there for the types that Kubernetes knows.

mod pair;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rolewright_core::validate::{BadValue, FieldError, Path, invalid, names};
use serde_json::Value;

use crate::kinds::data;
use crate::strategy::{Candidate, Object, Strategy, fields};

const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";

/// The rules of secrets.
pub(super) struct Secret;

impl Strategy for Secret {
    fn default(&self, object: &mut Object) {
        if fields::text(object, &["type"]).is_empty() {
            fields::set(object, &["type"], "Opaque");
        }
        if let Some(Value::Object(texts)) = object.remove("stringData") {
            for (key, text) in texts {
                fields::set(object, &["data", &key], STANDARD.encode(fields::text_of(&text)));
            }
        }
    }

    fn validate(&self, object: &Object) -> Vec<FieldError> {
        let bytes = fields::object_at(object, &["data"]);
        let at = Path::field("data");
        let mut errors = Vec::new();
        let mut size = 0usize;
        for (key, value) in bytes {
            errors.extend(invalid(at.key(key), key, names::data_key(key)));
            size = size.saturating_add(data::decoded_len(fields::text_of(value)));
        }
        if size > data::SIZE_MAX {
            errors.push(FieldError::too_long(at, data::SIZE_MAX));
        }
        errors.extend(missing(object, bytes, at));
        errors
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<FieldError> {
        let kind = fields::text(object, &["type"]);
        let mut errors = data::immutable(object, old, &["data"], "");
        if kind != fields::text(old, &["type"]) {
            let error = FieldError::invalid(Path::field("type"), BadValue::typed_text(kind), "field is immutable");
            errors.insert(0, error);
        }
        errors
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let change = self.validate_update(new.object, old);
        [new.metadata_change(old), change, new.metadata(), self.validate(new.object)].concat()
    }

    fn warnings(&self, object: &Object, _old: Option<&Object>) -> Vec<String> {
        if fields::text(object, &["type"]) != "kubernetes.io/tls" {
            return Vec::new();
        }
        let content = |key: &str| STANDARD.decode(fields::text(object, &["data", key])).unwrap_or_default();
        pair::fault(&content("tls.crt"), &content("tls.key")).into_iter().collect()
    }

    fn selectable(&self) -> &'static [&'static str] {
        &["type"]
    }

    fn select(&self, object: &Object, _field: &str) -> String {
        fields::text(object, &["type"]).to_owned()
    }
}

/// What a secret of its type must have and has not.
fn missing(object: &Object, bytes: &Object, at: Path<'_>) -> Vec<FieldError> {
    let required = |keys: &[&str]| keys.iter().map(|key| FieldError::required(at.key(key), "")).collect();
    match fields::text(object, &["type"]) {
        "kubernetes.io/service-account-token" => {
            if !fields::text(object, &["metadata", "annotations", ACCOUNT_NAME]).is_empty() {
                return Vec::new();
            }
            let at = Path::field("metadata");
            let at = at.child("annotations");
            vec![FieldError::required(at.key(ACCOUNT_NAME), "")]
        }
        "kubernetes.io/dockercfg" => registry_config(bytes, ".dockercfg", at),
        "kubernetes.io/dockerconfigjson" => registry_config(bytes, ".dockerconfigjson", at),
        "kubernetes.io/basic-auth" => {
            let keys = ["username", "password"];
            if keys.iter().all(|key| !bytes.contains_key(*key)) { required(&keys) } else { Vec::new() }
        }
        "kubernetes.io/ssh-auth" if fields::text(bytes, &["ssh-privatekey"]).is_empty() => {
            required(&["ssh-privatekey"])
        }
        "kubernetes.io/tls" => {
            let keys: Vec<&str> = ["tls.crt", "tls.key"].into_iter().filter(|key| !bytes.contains_key(*key)).collect();
            required(&keys)
        }
        _ => Vec::new(),
    }
}

fn registry_config(bytes: &Object, key: &str, at: Path<'_>) -> Vec<FieldError> {
    let Some(value) = bytes.get(key) else { return vec![FieldError::required(at.key(key), "")] };
    let content = STANDARD.decode(fields::text_of(value)).unwrap_or_default();
    let fault = crate::kinds::go_json::object_fault(&content);
    let shown = "<secret contents redacted>";
    fault.map(|fault| FieldError::invalid(at.key(key), shown, fault)).into_iter().collect()
}
