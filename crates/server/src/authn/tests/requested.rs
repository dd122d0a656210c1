//! Tokens on request.

use super::*;

#[test]
fn a_token_says_what_kubernetes_says() {
    let (authenticator, _) = setup();
    let answer = ask(&authenticator, json!({})).unwrap();
    assert_eq!(
        answer["metadata"],
        json!({
            "name": "default", "namespace": "default", "uid": "5142cdcb", "creationTimestamp": "2026-11-16T00:58:30Z",
        })
    );
    assert_eq!(
        answer["spec"],
        json!({"audiences": [DEFAULT_ISSUER], "expirationSeconds": 3600, "boundObjectRef": null})
    );
    assert_eq!(answer["status"]["expirationTimestamp"], "2026-11-16T01:58:30Z");
    let token = answer["status"]["token"].as_str().unwrap();
    let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
    let kid = authenticator.issuer().key.id();
    assert_eq!(String::from_utf8(header).unwrap(), format!("{{\"alg\":\"ES256\",\"kid\":\"{kid}\"}}"));
    let claims = claims(token);
    assert_eq!(
        claims,
        json!({
            "aud": [DEFAULT_ISSUER], "exp": 1_794_794_310, "iat": 1_794_790_710, "iss": DEFAULT_ISSUER,
            "jti": claims["jti"], "nbf": 1_794_790_710, "sub": "system:serviceaccount:default:default",
            "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "default", "uid": "5142cdcb"}},
        })
    );
    assert_eq!(claims["jti"].as_str().unwrap().len(), 36);
}

#[test]
fn bound_tokens_name_what_they_are_bound_to() {
    let (authenticator, _) = setup();
    for (spec, expected) in [
        (bound("Secret", "s"), json!({"secret": {"name": "s", "uid": "secret-uid"}})),
        (bound("Node", "n1"), json!({"node": {"name": "n1", "uid": "node-uid"}})),
        (
            bound("Pod", "mine"),
            json!({"pod": {"name": "mine", "uid": "pod-of-default"}, "node": {"name": "n1", "uid": "node-uid"}}),
        ),
        (bound("Pod", "lost"), json!({"pod": {"name": "lost", "uid": "pod-of-default"}, "node": {"name": "gone"}})),
    ] {
        let claims = claims(&token(&authenticator, spec));
        let mut references = object(claims["kubernetes.io"].clone());
        references.remove("namespace");
        references.remove("serviceaccount");
        assert_eq!(Value::Object(references), expected);
    }
    let mut kubelets = bound("Pod", "mine");
    kubelets["expirationSeconds"] = json!(3607);
    let claims = claims(&token(&authenticator, kubelets));
    assert_eq!(claims["exp"], now().as_second() + 365 * 24 * 3600);
    assert_eq!(claims["kubernetes.io"]["warnafter"], now().as_second() + 3607);
}

#[test]
fn bad_requests_for_tokens_are_told() {
    let (authenticator, _) = setup();
    let invalid =
        |detail: &str| format!("TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: {detail}");
    let seconds = |seconds: i64| json!({"spec": {"expirationSeconds": seconds}});
    let reference = |reference: Value| json!({"spec": {"boundObjectRef": reference}});
    for (body, code, message) in [
        (seconds(599), 422, invalid("Invalid value: 599: may not specify a duration less than 10 minutes")),
        (seconds(-1), 422, invalid("Invalid value: -1: may not specify a duration less than 10 minutes")),
        (
            seconds(4_294_967_297),
            422,
            invalid("Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"),
        ),
        (json!({"spec": bound("Pod", "nope")}), 404, "pods \"nope\" not found".into()),
        (json!({"spec": bound("Secret", "nope")}), 404, "secrets \"nope\" not found".into()),
        (json!({"spec": bound("Node", "nope")}), 404, "nodes \"nope\" not found".into()),
        (
            json!({"spec": bound("ConfigMap", "nope")}),
            400,
            "cannot bind token to object of type /v1, Kind=ConfigMap".into(),
        ),
        (
            reference(json!({"kind": "Deployment", "apiVersion": "apps/v1"})),
            400,
            "cannot bind token to object of type apps/v1, Kind=Deployment".into(),
        ),
        (reference(json!({})), 400, "cannot bind token to object of type /, Kind=".into()),
        (
            reference(json!({"kind": "Pod", "apiVersion": "a/b/c", "name": "nope"})),
            404,
            "pods \"nope\" not found".into(),
        ),
        (
            json!({"spec": bound("Pod", "theirs")}),
            400,
            "cannot bind token for serviceaccount \"default\" to pod running with different serviceaccount name.".into(),
        ),
        (
            reference(json!({"kind": "Secret", "apiVersion": "v1", "name": "s", "uid": "zzz"})),
            409,
            "Operation cannot be fulfilled on Secret \"s\": the UID in the bound object reference (zzz) does not match the \
             UID in record. The object might have been deleted and then recreated"
                .into(),
        ),
        (
            json!({"metadata": {"name": "x"}}),
            422,
            "TokenRequest.authentication.k8s.io \"default\" is invalid: metadata.name: Invalid value: \"x\": must match the \
             service account name if specified"
                .into(),
        ),
        (
            json!({"metadata": {"namespace": "x"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request".into(),
        ),
        (
            json!({"metadata": {"uid": "x"}}),
            409,
            "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"default\": the UID in the token request \
             (x) does not match the UID of the service account (5142cdcb)"
                .into(),
        ),
    ] {
        let failure = ask(&authenticator, body).unwrap_err();
        assert_eq!((failure.code, failure.message), (code, message));
    }
    let none = token_request(&authenticator, "default", "nope", &Object::new(), now()).unwrap_err();
    assert_eq!((none.code, none.message.as_str()), (404, "serviceaccounts \"nope\" not found"));
    assert!(ask(&authenticator, seconds(4_294_967_296)).is_ok());
}
