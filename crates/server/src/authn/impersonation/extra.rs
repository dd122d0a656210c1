//! What the constrained modes ask of extra keys and values.

use rolewright_core::validate::names::dns_subdomain;
use rolewright_core::validate::{FieldError, Path, summary};

use crate::authn::Extra;

/// Why these may not be impersonated in a constrained mode.
pub(super) fn fault(extra: &Extra) -> Option<String> {
    extra.iter().find_map(|(key, values)| {
        if key.is_empty() {
            return Some("impersonating the empty string key in extra is not allowed".to_owned());
        }
        let faults = path_faults(key);
        if !faults.is_empty() {
            return Some(format!("impersonating an invalid key in extra is not allowed: {}", summary(&faults)));
        }
        if *key != key.to_lowercase() {
            let key = rolewright_core::validate::BadValue::from(key.as_str());
            return Some(format!("impersonating a non-lowercase key in extra is not allowed: {key}"));
        }
        if values.is_empty() {
            return Some("impersonating empty values in extra is not allowed".to_owned());
        }
        let blank = values.iter().any(String::is_empty);
        blank.then(|| "impersonating the empty string value in extra is not allowed".to_owned())
    })
}

/// What keeps a key from being a path below a domain.
fn path_faults(key: &str) -> Vec<FieldError> {
    let extra = Path::field("extra");
    let at = extra.child("key");
    let Some((host, path)) = key.split_once('/').filter(|(host, path)| !host.is_empty() && !path.is_empty()) else {
        return vec![FieldError::invalid(at, key, "must be a domain-prefixed path (such as \"acme.io/foo\")")];
    };
    let mut faults: Vec<FieldError> =
        dns_subdomain(host).into_iter().map(|detail| FieldError::invalid(at, host, detail)).collect();
    if !path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte)) {
        let detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        faults.push(FieldError::invalid(at, path, detail));
    }
    faults
}
