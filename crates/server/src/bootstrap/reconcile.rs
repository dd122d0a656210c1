//! Roles and bindings of a cluster that is older than this process: what Kubernetes does to them at each start.
//!
//! What is missing comes back, what somebody added stays, and who set `autoupdate` to `false` is left alone.

use rolewright_core::{RBAC_GROUP, bootstrap, covers};
use serde_json::{Value, json};

use super::store;
use crate::Server;
use crate::cluster::{ObjectName, Right};
use crate::controller::{change, delete};
use crate::registry::meta;
use crate::strategy::Object;

const AGENT: &str = "kube-apiserver";

/// What has to be done to an object.
#[derive(Debug, PartialEq)]
enum Need {
    Nothing,
    Update(Object),
    /// Another role is bound, which cannot be changed.
    Recreate,
}

/// Brings a role or binding in line with what every cluster has.
pub(super) fn reconcile(server: &Server, plural: &str, expected: Value) {
    let Some(served) = server.catalog().find(RBAC_GROUP, "v1", plural) else { return };
    let Some(template) = expected.as_object() else { return };
    let at = ObjectName {
        collection: served.collection,
        namespace: meta(template, "namespace").into(),
        name: meta(template, "name").into(),
    };
    let entry = server.cluster().read().table(at.collection).get(&at.namespace, &at.name).cloned();
    let Some(entry) = entry else { return store(server, RBAC_GROUP, plural, AGENT, expected) };
    match need(plural, &entry.object(), template) {
        Need::Nothing => {}
        Need::Update(wanted) => change(server, &at, "", AGENT, &|_| Ok(wanted.clone())),
        Need::Recreate => {
            delete(server, &at, &entry.uid, "Background", AGENT);
            store(server, RBAC_GROUP, plural, AGENT, expected);
        }
    }
}

fn need(plural: &str, existing: &Object, template: &Object) -> Need {
    let (annotation, _) = bootstrap::ANNOTATION;
    let annotations = existing.get("metadata").and_then(|meta| meta.get("annotations"));
    if annotations.and_then(|all| all.get(annotation)).is_some_and(|value| value == "false") {
        return Need::Nothing;
    }
    let mut wanted = existing.clone();
    for member in ["annotations", "labels"] {
        let expected = template.get("metadata").and_then(|meta| meta.get(member));
        add_missing(&mut wanted, member, expected.and_then(Value::as_object));
    }
    let rights = (Right::of(RBAC_GROUP, plural, existing), Right::of(RBAC_GROUP, plural, template));
    match rights {
        (Some(Right::Role { role: old, .. }), Some(Right::Role { role: new, .. })) => {
            append(&mut wanted, "rules", &covers(&old.rules, &new.rules));
            let (has, wants) = (old.aggregation.as_deref(), new.aggregation.as_deref());
            let missing: Vec<_> =
                wants.into_iter().flatten().filter(|selector| !has.is_some_and(|has| has.contains(selector))).collect();
            if wants.is_none() && has.is_some() {
                wanted.remove("aggregationRule");
            } else if !missing.is_empty() {
                let rule = wanted.entry("aggregationRule").or_insert_with(|| json!({}));
                if let Some(rule) = rule.as_object_mut() {
                    append(rule, "clusterRoleSelectors", &missing);
                }
            }
        }
        (Some(Right::Binding(old)), Some(Right::Binding(new))) => {
            if old.role_ref != new.role_ref {
                return Need::Recreate;
            }
            let missing: Vec<_> = new.subjects.iter().filter(|subject| !old.subjects.contains(subject)).collect();
            append(&mut wanted, "subjects", &missing);
        }
        _ => {}
    }
    if wanted == *existing { Need::Nothing } else { Need::Update(wanted) }
}

fn add_missing(object: &mut Object, member: &str, wanted: Option<&Object>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    for (key, value) in wanted.into_iter().flatten() {
        let held = metadata.entry(member).or_insert_with(|| json!({}));
        if held.is_null() {
            *held = json!({});
        }
        if let Some(held) = held.as_object_mut() {
            held.entry(key).or_insert_with(|| value.clone());
        }
    }
}

fn append(object: &mut Object, member: &str, items: &[impl serde::Serialize]) {
    if items.is_empty() {
        return;
    }
    let list = object.entry(member).or_insert_with(|| json!([]));
    if list.is_null() {
        *list = json!([]);
    }
    if let Some(list) = list.as_array_mut() {
        list.extend(items.iter().map(|item| json!(item)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Object {
        let Value::Object(object) = value else { unreachable!() };
        object
    }

    fn role(annotation: &str, rules: &Value) -> Value {
        let (key, _) = bootstrap::ANNOTATION;
        json!({"metadata": {"name": "x", "annotations": {key: annotation}, "labels": {"a": "theirs"}}, "rules": rules})
    }

    fn rule(verbs: &[&str]) -> Value {
        json!({"apiGroups": [""], "resources": ["pods"], "verbs": verbs})
    }

    #[test]
    fn what_is_missing_comes_back_and_nothing_is_taken() {
        let mut expected = role("true", &json!([rule(&["get", "list"])]));
        expected["metadata"]["labels"] = json!({"a": "ours", "b": "ours"});
        let there = object(role("true", &json!([rule(&["get", "watch"])])));
        let Need::Update(now) = need("clusterroles", &there, &object(expected.clone())) else { panic!("an update") };
        assert_eq!(now["metadata"]["labels"], json!({"a": "theirs", "b": "ours"}));
        assert_eq!(now["rules"], json!([rule(&["get", "watch"]), rule(&["list"])]));
        assert_eq!(need("clusterroles", &now, &object(expected.clone())), Need::Nothing);
        let protected = object(role("false", &json!([])));
        assert_eq!(need("clusterroles", &protected, &object(expected)), Need::Nothing);
    }

    #[test]
    fn aggregation_follows_the_template() {
        let selector = |value: &str| json!({"matchLabels": {"to": value}});
        let aggregated = |selectors: Value| {
            let mut role = role("true", &Value::Null);
            role["aggregationRule"] = json!({"clusterRoleSelectors": selectors});
            role
        };
        let there = object(aggregated(json!([selector("theirs")])));
        let Need::Update(now) = need("clusterroles", &there, &object(aggregated(json!([selector("ours")])))) else {
            panic!()
        };
        assert_eq!(now["aggregationRule"]["clusterRoleSelectors"], json!([selector("theirs"), selector("ours")]));
        let Need::Update(now) = need("clusterroles", &there, &object(role("true", &Value::Null))) else { panic!() };
        assert!(!now.contains_key("aggregationRule"));
        let plain = object(role("true", &json!([rule(&["get"])])));
        let Need::Update(now) = need("clusterroles", &plain, &object(aggregated(json!([selector("ours")])))) else {
            panic!()
        };
        assert_eq!(now["aggregationRule"]["clusterRoleSelectors"], json!([selector("ours")]));
    }

    #[test]
    fn subjects_come_back_and_another_role_means_another_binding() {
        let binding = |role: &str, names: &[&str]| {
            let subjects: Vec<Value> =
                names.iter().map(|name| json!({"kind": "Group", "apiGroup": RBAC_GROUP, "name": name})).collect();
            let role_ref = json!({"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role});
            json!({"metadata": {"name": "x"}, "roleRef": role_ref, "subjects": subjects})
        };
        let expected = object(binding("view", &["a", "b"]));
        let there = object(binding("view", &["b", "c"]));
        let Need::Update(now) = need("clusterrolebindings", &there, &expected) else { panic!("an update") };
        let names: Vec<&str> =
            now["subjects"].as_array().unwrap().iter().map(|subject| subject["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["b", "c", "a"]);
        assert_eq!(need("clusterrolebindings", &object(binding("edit", &["a"])), &expected), Need::Recreate);
    }
}
