//! Service accounts: of the secrets that they name only the names are kept.

use rolewright_core::validate::FieldError;
use serde_json::{Value, json};

use crate::strategy::{Candidate, Object, Strategy, fields};

const MOUNTABLE_ONLY: &str = "kubernetes.io/enforce-mountable-secrets";

/// The rules of service accounts.
pub(super) struct ServiceAccount;

impl Strategy for ServiceAccount {
    fn prepare_create(&self, object: &mut Object) {
        if let Some(Value::Array(secrets)) = object.get_mut("secrets") {
            for secret in secrets {
                *secret = match fields::text(fields::object_of(secret), &["name"]) {
                    "" => json!({}),
                    name => json!({"name": name}),
                };
            }
        }
    }

    fn prepare_update(&self, object: &mut Object, _old: &Object) {
        self.prepare_create(object);
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        [new.metadata_change(old), new.metadata()].concat()
    }

    fn warnings(&self, object: &Object, old: Option<&Object>) -> Vec<String> {
        let asks = |object| fields::get(object, &["metadata", "annotations", MOUNTABLE_ONLY]).is_some();
        if !asks(object) || old.is_some_and(asks) {
            return Vec::new();
        }
        vec![format!(
            "metadata.annotations[{MOUNTABLE_ONLY}]: deprecated in v1.32+; prefer separate namespaces to isolate access \
             to mounted secrets"
        )]
    }
}
