//! Fields that selectors may name.

use rolewright_server::kinds;
use serde_json::{Value, json};

#[test]
fn selectable_fields_are_those_of_kubernetes() {
    let facts: Value = serde_json::from_str(include_str!("../../../../facts/strategies.json")).unwrap();
    let own = ["configmaps", "events", "leases", "namespaces", "secrets", "serviceaccounts"];
    let mut seen = 0;
    for fact in facts["strategies"].as_array().unwrap().iter().filter(|fact| fact.get("subresource").is_none()) {
        let [group, resource] = ["group", "resource"].map(|name| fact[name].as_str().unwrap());
        if own.contains(&resource) || group.starts_with("rbac") {
            let fields = fact["fieldSelectors"].as_array().unwrap().iter().map(|field| field.as_str().unwrap());
            let fields: Vec<&str> = fields.filter(|field| !field.starts_with("metadata.")).collect();
            assert_eq!(kinds::strategy(group, resource).selectable(), fields, "{group} {resource}");
            seen += 1;
        }
    }
    assert_eq!(seen, 11);
}

#[test]
fn fields_are_read_from_either_form_of_an_event() {
    let core = json!({
        "involvedObject": {"kind": "Pod", "uid": "u"}, "reason": "Started", "type": "Normal",
        "reportingComponent": "a/b", "source": {},
    });
    let new = json!({
        "regarding": {"kind": "Pod", "uid": "u"}, "reason": "Started", "type": "Normal", "reportingController": "a/b",
    });
    let sourced = json!({"source": {"component": "kubelet"}, "reportingComponent": "a/b"});
    for (group, object, field, text) in [
        ("", &core, "involvedObject.kind", "Pod"),
        ("", &core, "involvedObject.name", ""),
        ("", &core, "source", "a/b"),
        ("", &sourced, "source", "kubelet"),
        ("", &core, "reportingComponent", "a/b"),
        ("events.k8s.io", &core, "regarding.uid", "u"),
        ("events.k8s.io", &new, "regarding.uid", "u"),
        ("events.k8s.io", &new, "reportingController", "a/b"),
        ("events.k8s.io", &core, "reportingController", "a/b"),
        ("events.k8s.io", &new, "reason", "Started"),
        ("events.k8s.io", &new, "type", "Normal"),
    ] {
        let object = object.as_object().unwrap();
        assert_eq!(kinds::strategy(group, "events").select(object, field), text, "{group} {field}");
    }
}
