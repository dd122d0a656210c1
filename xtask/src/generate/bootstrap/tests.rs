use serde_json::{Value, json};

use super::*;

/// A few objects of each kind, with every shape that the real file has.
pub(crate) fn sample() -> Value {
    let metadata = |name: &str, namespace: Option<&str>, labels: &[(&str, &str)]| {
        let mut all = json!({ "kubernetes.io/bootstrapping": "rbac-defaults" });
        for (key, value) in labels {
            all[key] = json!(value);
        }
        let mut metadata = json!({
            "name": name,
            "creationTimestamp": null,
            "labels": all,
            "annotations": { "rbac.authorization.kubernetes.io/autoupdate": "true" },
        });
        if let Some(namespace) = namespace {
            metadata["namespace"] = json!(namespace);
        }
        metadata
    };
    let to_admin = "rbac.authorization.k8s.io/aggregate-to-admin";
    json!({
        "version": "v1.36.3",
        "clusterRoles": [
            {
                "metadata": metadata("system:aggregate-to-view", None, &[(to_admin, "true")]),
                "rules": [
                    { "apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get"] },
                    { "nonResourceURLs": ["/healthz", "/version/*"], "verbs": ["get"] },
                ],
            },
            {
                "metadata": metadata("admin", None, &[]),
                "aggregationRule": { "clusterRoleSelectors": [{ "matchLabels": { to_admin: "true" } }] },
                "rules": null,
            },
        ],
        "roles": [{
            "metadata": metadata("leader-locking", Some("kube-system"), &[]),
            "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["lock"], "verbs": ["get"] }],
        }],
        "clusterRoleBindings": [{
            "metadata": metadata("cluster-admin", None, &[]),
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
            "subjects": [{ "kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:masters" }],
        }],
        "roleBindings": [{
            "metadata": metadata("leader-locking", Some("kube-system"), &[]),
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "leader-locking" },
            "subjects": [{ "kind": "ServiceAccount", "namespace": "kube-system", "name": "scheduler" }],
        }],
    })
}

fn error(change: impl FnOnce(&mut Value)) -> String {
    let mut changed = sample();
    change(&mut changed);
    format!("{:#}", parse(&changed.to_string()).unwrap_err())
}

#[test]
fn objects_are_read_and_sorted() {
    let bootstrap = parse(&sample().to_string()).unwrap();
    assert_eq!(bootstrap.version, "v1.36.3");
    let roles: Vec<_> = bootstrap.roles.iter().map(|role| role.object.key()).collect();
    assert_eq!(roles, [("", "admin"), ("", "system:aggregate-to-view"), ("kube-system", "leader-locking")]);
    let bindings: Vec<_> = bootstrap.bindings.iter().map(|binding| binding.object.key()).collect();
    assert_eq!(bindings, [("", "cluster-admin"), ("kube-system", "leader-locking")]);
    assert!(bootstrap.roles.iter().all(|role| !role.object.labels.contains_key(COMMON_LABEL.0)));
    assert_eq!(bootstrap.roles[0].aggregate.len(), 1);
}

#[test]
fn missing_common_label_is_refused() {
    for label in [json!({}), json!({ "kubernetes.io/bootstrapping": "other" })] {
        let error = error(|sample| sample["roles"][0]["metadata"]["labels"] = label);
        assert!(error.starts_with("`leader-locking` lacks the label `kubernetes.io/bootstrapping"), "{error}");
    }
}

#[test]
fn other_annotations_are_refused() {
    for annotations in [
        json!({}),
        json!({ "rbac.authorization.kubernetes.io/autoupdate": "false" }),
        json!({ "rbac.authorization.kubernetes.io/autoupdate": "true", "x": "y" }),
    ] {
        let error = error(|sample| sample["clusterRoleBindings"][0]["metadata"]["annotations"] = annotations);
        assert!(error.starts_with("`cluster-admin` has the annotations"), "{error}");
    }
}

#[test]
fn match_expressions_are_refused() {
    let expression = json!([{ "key": "a", "operator": "Exists" }]);
    let error = error(|sample| {
        sample["clusterRoles"][1]["aggregationRule"]["clusterRoleSelectors"][0]["matchExpressions"] = expression;
    });
    assert!(error.contains("matchExpressions"), "{error}");
}

#[test]
fn aggregation_without_selectors_is_refused() {
    let error = error(|sample| sample["clusterRoles"][1]["aggregationRule"]["clusterRoleSelectors"] = json!(null));
    assert!(error.starts_with("`admin` has an aggregation rule without selectors"), "{error}");
}

#[test]
fn unknown_fields_are_refused() {
    let error = error(|sample| sample["roles"][0]["rules"][0]["scopes"] = json!(["x"]));
    assert!(error.contains("unknown field `scopes`"), "{error}");
}

#[test]
fn groups_that_the_tables_leave_out_are_checked() {
    let role = error(|sample| sample["roleBindings"][0]["roleRef"]["apiGroup"] = json!("x"));
    assert_eq!(role, "`leader-locking` refers to a role of the group `x`");
    let subject = error(|sample| sample["clusterRoleBindings"][0]["subjects"][0]["apiGroup"] = json!(""));
    assert_eq!(subject, "`cluster-admin` has a subject `system:masters` of the group ``");
}
