//! What others need to check service-account tokens by themselves.

use serde_json::{Value, json};

use super::Issuer;

/// `/openid/v1/jwks`: the public keys. Its media type is `application/jwk-set+json`.
pub fn jwks(issuer: &Issuer) -> Value {
    json!({"keys": [issuer.key.jwk()]})
}

/// `/.well-known/openid-configuration`; `address` is where this server is reached, such as `127.0.0.1:6443`.
pub fn openid_configuration(issuer: &Issuer, address: &str) -> Value {
    json!({
        "issuer": issuer.name,
        "jwks_uri": format!("https://{address}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    })
}
