//! Exact sizes.

use rolewright_core::Rule;
use rolewright_core::aggregate::size::{self, Limits};

#[test]
fn stored_bytes_are_those_of_protobuf() {
    // Field 2 of ClusterRole, then verbs 0a, apiGroups 12, resources 1a: 12 0f | 0a 03 get | 12 00 | 1a 04 pods = 2 + 5 + 2 + 6.
    assert_eq!(size::stored(&[Rule::resources([""], ["pods"], ["get"])]), 15);
    // resourceNames 22 | nonResourceURLs 2a: 2 + (2 + 3) + (2 + 1) + (2 + 8).
    let everything = Rule { resource_names: ["n".into()].into(), ..Rule::urls(["/healthz"], ["get"]) };
    assert_eq!(size::stored(&[everything]), 20);
    assert_eq!(size::stored(&[]), 0);
    assert_eq!(size::stored(&[Rule::default()]), 2, "tag and length of an empty rule");

    // Lengths from 128 on take two bytes, from 16,384 on three.
    let long = |length: usize| size::stored(&[Rule { verbs: ["v".repeat(length).into()].into(), ..Rule::default() }]);
    assert_eq!(long(125), 2 + 2 + 125);
    assert_eq!(long(126), 3 + 2 + 126);
    assert_eq!(long(127), 3 + 2 + 127);
    assert_eq!(long(128), 3 + 3 + 128);
    assert_eq!(long(16_383), 4 + 3 + 16_383);
    assert_eq!(long(16_384), 4 + 4 + 16_384);
}

#[test]
fn body_bytes_are_those_of_go() {
    let head =
        r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"view"},"rules":["#;
    let body = |rules: &[Rule]| size::body("view", rules);
    assert_eq!(body(&[]), head.len() + 2, "an empty union is an empty list");
    assert_eq!(body(&[Rule::default()]), head.len() + r#"{"verbs":[]}"#.len() + 2);
    assert_eq!(
        body(&[Rule::resources(["", "apps"], ["pods"], ["get"]).named(["n"]), Rule::urls(["/x"], ["get", "head"])]),
        head.len()
            + r#"{"verbs":["get"],"apiGroups":["","apps"],"resources":["pods"],"resourceNames":["n"]},"#.len()
            + r#"{"verbs":["get","head"],"nonResourceURLs":["/x"]}]}"#.len()
    );
    let escaped = Rule::urls(["\"\\\n\t\r\u{8}\u{c}", "\u{1}<>&\u{2028}", "é\u{7f}"], []);
    let written = r#"{"verbs":[],"nonResourceURLs":["\"\\\n\t\r\b\f","\u0001\u003c\u003e\u0026\u2028","é?"]}"#;
    assert_eq!(body(&[escaped]), head.len() + written.len() + 2, "`?` stands for DEL, which Go writes as it is");
    assert_eq!(size::body("a\"b", &[]), size::body("a1234"[..4].as_ref(), &[]), "the name is escaped too");
}

#[test]
fn the_limit_itself_is_allowed() {
    let rules = [Rule::resources([""], ["pods"], ["get"])];
    let exact = Limits { body: size::body("view", &rules), stored: 15 + 100, overhead: 100 };
    assert!(exact.allow("view", &rules));
    assert!(!Limits { body: exact.body - 1, ..exact }.allow("view", &rules));
    assert!(!Limits { stored: exact.stored - 1, ..exact }.allow("view", &rules));
    assert!(!Limits { overhead: usize::MAX, ..exact }.allow("view", &rules));
    assert_eq!(Limits::default(), Limits { body: 3 << 20, stored: 3 << 19, overhead: 64 << 10 });
}
