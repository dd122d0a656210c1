//! Tokens under review: good ones, bad ones, and those whose ground is gone.

use super::*;

fn review(authenticator: &Authenticator, token: &str, audiences: &[&str], now: Timestamp) -> Value {
    let body = object(json!({"spec": {"token": token, "audiences": audiences}}));
    token_review(authenticator, body, now).unwrap()["status"].clone()
}

fn refused(why: &str) -> Value {
    json!({"user": {}, "error": format!("[invalid bearer token, {why}]")})
}

#[test]
fn reviews_tell_who_it_is() {
    let (authenticator, _) = setup();
    let token = token(&authenticator, bound("Pod", "mine"));
    let jti = format!("JTI={}", claims(&token)["jti"].as_str().unwrap());
    let expected = json!({
        "authenticated": true,
        "user": {
            "username": "system:serviceaccount:default:default", "uid": "5142cdcb",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
            "extra": {
                "authentication.kubernetes.io/credential-id": [jti],
                "authentication.kubernetes.io/pod-name": ["mine"],
                "authentication.kubernetes.io/pod-uid": ["pod-of-default"],
                "authentication.kubernetes.io/node-name": ["n1"],
                "authentication.kubernetes.io/node-uid": ["node-uid"],
            },
        },
        "audiences": [DEFAULT_ISSUER],
    });
    assert_eq!(review(&authenticator, &token, &[], now()), expected);
    assert_eq!(review(&authenticator, &format!("{token} x"), &[], now()), expected, "blanks end a token");
    assert_eq!(review(&authenticator, &format!("{token}\n"), &["x", DEFAULT_ISSUER], now()), expected);
    let admin = json!({
        "authenticated": true, "audiences": [DEFAULT_ISSUER],
        "user": {"username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"]},
    });
    assert_eq!(review(&authenticator, "static-token", &[], now()), admin);
    let empty = token_review(&authenticator, Object::new(), now()).unwrap_err();
    assert_eq!((empty.code, empty.message.as_str()), (400, "token is required for TokenReview in authentication"));
}

#[test]
fn bad_tokens_are_refused_for_the_reasons_of_kubernetes() {
    let (authenticator, _) = setup();
    let good = token(&authenticator, json!({}));
    let parts: Vec<&str> = good.split('.').collect();
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let kid = authenticator.issuer().key.id();
    let forged = |header: Value, payload: &Value| format!("{}.{}.{}", encoded(&header), encoded(payload), parts[2]);
    let claims = claims(&good);
    let other_issuer = {
        let mut claims = claims.clone();
        claims["iss"] = json!("x");
        claims
    };
    let unknown = json!({"user": {}, "error": "invalid bearer token"});
    let primitive = refused("go-jose/go-jose: error in cryptographic primitive");
    let stranger = setup().0;
    for (token, expected) in [
        ("abc".to_owned(), unknown.clone()),
        ("a b".to_owned(), unknown.clone()),
        (format!("{good}.x"), unknown.clone()),
        (format!(" {good}"), unknown.clone()),
        ("{\"a\":1}".to_owned(), unknown.clone()),
        ("a.".repeat(100_000), unknown.clone()),
        (format!("{}.AAAA.{}", parts[0], parts[2]), unknown.clone()),
        (forged(json!({"alg": "ES256", "kid": kid}), &other_issuer), unknown.clone()),
        (forged(json!({"alg": "none"}), &claims), primitive.clone()),
        (forged(json!({"alg": "HS256"}), &claims), primitive.clone()),
        (forged(json!({"alg": "ES256"}), &claims), primitive.clone()),
        (forged(json!({"alg": "ES256", "kid": kid, "crit": ["x"]}), &claims), primitive.clone()),
        (format!("{}.{}.", parts[0], parts[1]), primitive),
        (forged(json!({"alg": "ES256", "kid": "zz"}), &claims), refused("invalid signature, no keys found")),
        (token(&stranger, json!({})), refused("invalid signature, no keys found")),
    ] {
        assert_eq!(review(&authenticator, &token, &[], now()), expected, "{token:.60}");
    }
    let audiences = format!("token audiences [\"{DEFAULT_ISSUER}\"] is invalid for the target audiences [\"x\" \"y\"]");
    assert_eq!(review(&authenticator, &good, &["x", "y"], now()), refused(&audiences));
    assert_eq!(review(&authenticator, "static-token", &["x"], now()), unknown);
    let elsewhere = token(&authenticator, json!({"audiences": ["a", "b"]}));
    assert_eq!(review(&authenticator, &elsewhere, &["b"], now())["audiences"], json!(["b"]));
    assert!(authenticator.token(&elsewhere, &[], now()).is_err(), "a token for others is no good here");
    for (at, expected) in [
        (3600 + 60, None),
        (3600 + 61, Some("service account token has expired")),
        (-60, None),
        (-61, Some("service account token is not valid yet")),
    ] {
        let status = review(&authenticator, &good, &[], later(at));
        match expected {
            None => assert_eq!(status["authenticated"], true, "{at}"),
            Some(why) => assert_eq!(status, refused(why), "{at}"),
        }
    }
}

#[test]
fn a_token_ends_with_what_it_stands_on() {
    let deleted = |at: Timestamp, live: Live| Live { deleted: Some(at), ..live };
    let gone = "service account token has been invalidated";
    for (spec, kind, name, why, other) in [
        (
            json!({}),
            Referred::ServiceAccount,
            "default",
            "serviceaccounts \"default\" not found",
            "service account UID (new) does not match claim (5142cdcb)",
        ),
        (
            bound("Secret", "s"),
            Referred::Secret,
            "s",
            gone,
            "secret UID (new) does not match service account secret ref claim (secret-uid)",
        ),
        (
            bound("Pod", "mine"),
            Referred::Pod,
            "mine",
            gone,
            "pod UID (new) does not match service account pod ref claim (pod-of-default)",
        ),
        (
            bound("Node", "n1"),
            Referred::Node,
            "n1",
            gone,
            "node UID (new) does not match service account node ref claim (node-uid)",
        ),
    ] {
        let (authenticator, cluster) = setup();
        let namespace = if kind == Referred::Node { "" } else { "default" };
        let token = token(&authenticator, spec);
        let live = cluster.find(kind, namespace, name).unwrap();
        cluster.put(kind, namespace, name, deleted(later(-60), live.clone()));
        assert_eq!(review(&authenticator, &token, &[], now())["authenticated"], true, "{name}: going, but not long");
        cluster.put(kind, namespace, name, deleted(later(-61), live));
        let going = review(&authenticator, &token, &[], now());
        let long =
            if kind == Referred::ServiceAccount { "service account default/default has been deleted" } else { gone };
        assert_eq!(going, refused(long));
        cluster.delete(kind, namespace, name);
        assert_eq!(review(&authenticator, &token, &[], now()), refused(why));
        cluster.put(kind, namespace, name, uid("new"));
        assert_eq!(review(&authenticator, &token, &[], now()), refused(other));
    }
    let (authenticator, cluster) = setup();
    let token = token(&authenticator, bound("Pod", "mine"));
    cluster.delete(Referred::Node, "", "n1");
    assert!(authenticator.token(&token, &[], now()).is_ok(), "a pod's node is information only");
}
