//! Reviews: whose token is this, and who am I?

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Authenticator, Identity, TokenError, bearer_in};
use crate::status::Failure;
use crate::strategy::Object;

/// Answers a TokenReview by filling in its status.
pub fn token_review(authenticator: &Authenticator, mut review: Object, now: Timestamp) -> Result<Object, Failure> {
    let spec = review.get("spec");
    let token = spec.and_then(|spec| spec.get("token")).and_then(Value::as_str).unwrap_or_default();
    if token.is_empty() {
        return Err(Failure::bad_request("token is required for TokenReview in authentication"));
    }
    let audiences = spec.and_then(|spec| spec.get("audiences")).and_then(Value::as_array);
    let audiences: Vec<String> = audiences.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    // WHY: Kubernetes hands the token on in a header, where blanks end it. A token that begins with one is nobody's there,
    // and so the review says that system:anonymous is authenticated; we would rather not.
    let header = format!("Bearer {token}");
    let found = match bearer_in(&header) {
        Some(token) => authenticator.token(token, &audiences, now),
        None => Err(TokenError::unknown()),
    };
    let status = match found {
        Ok(identity) => {
            json!({"authenticated": true, "user": identity.user_info(), "audiences": identity.audiences})
        }
        Err(why) => json!({"user": {}, "error": why.to_string()}),
    };
    review.insert("status".to_owned(), status);
    review.insert("kind".to_owned(), "TokenReview".into());
    review.insert("apiVersion".to_owned(), "authentication.k8s.io/v1".into());
    Ok(review)
}

/// Answers a SelfSubjectReview.
pub fn self_subject_review(identity: &Identity, now: Timestamp) -> Value {
    let created = Timestamp::from_second(now.as_second()).unwrap_or(now);
    json!({
        "kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": created.to_string()},
        "status": {"userInfo": identity.user_info()},
    })
}
