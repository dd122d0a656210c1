//! The JSON of the values whose shape is the wire's.

use rolewright_core::selector::{LabelSelector, Requirement};
use rolewright_core::{RoleRef, Rule, Subject};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is written reads back, and is written exactly so.
#[track_caller]
fn same<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, json: &str) {
    assert_eq!(serde_json::to_string(value).unwrap(), json);
    assert_eq!(serde_json::from_str::<T>(json).unwrap(), *value);
}

#[test]
fn values_have_kubernetes_json() {
    let rule = Rule::resources([""], ["pods"], ["get"]).named(["web"]);
    same(&rule, r#"{"apiGroups":[""],"resources":["pods"],"resourceNames":["web"],"verbs":["get"]}"#);
    same(&Rule::urls(["/x"], ["get"]), r#"{"nonResourceURLs":["/x"],"verbs":["get"]}"#);
    same(&Rule::default(), r#"{"verbs":[]}"#);
    same(&Subject::user("a"), r#"{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"a"}"#);
    same(&Subject::service_account("n", "a"), r#"{"kind":"ServiceAccount","name":"a","namespace":"n"}"#);
    same(&RoleRef::role("r"), r#"{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}"#);
    let requirement = Requirement { key: "k".into(), operator: "In".into(), values: vec!["v".into()] };
    let selector =
        LabelSelector { match_labels: [("a".into(), "b".into())].into(), match_expressions: vec![requirement] };
    same(&selector, r#"{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}"#);
    same(&LabelSelector::default(), "{}");
}

#[test]
fn null_reads_as_absent() {
    fn nulls<T: Serialize + DeserializeOwned + Default + PartialEq + std::fmt::Debug>(fields: &[&str]) {
        let all: Vec<String> = fields.iter().map(|field| format!("\"{field}\":null")).collect();
        let json = format!("{{{}}}", all.join(","));
        assert_eq!(serde_json::from_str::<T>(&json).unwrap(), T::default(), "{json}");
    }
    nulls::<Rule>(&["apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"]);
    nulls::<Subject>(&["kind", "apiGroup", "name", "namespace"]);
    nulls::<RoleRef>(&["kind", "apiGroup", "name"]);
    nulls::<LabelSelector>(&["matchLabels", "matchExpressions"]);
    nulls::<Requirement>(&["key", "operator", "values"]);
}
