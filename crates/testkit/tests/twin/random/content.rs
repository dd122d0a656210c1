//! What objects are about, apart from their metadata.

use serde_json::{Value, json};

use super::dice::Dice;

pub(super) fn config_map(dice: &mut Dice) -> Value {
    let mut data = json!({});
    for key in ["a", "b", "c"] {
        if dice.chance(50) {
            data[key] = json!(dice.pick(&["1", "2"]));
        }
    }
    match dice.below(20) {
        0 => json!({"data": {"a": 1}}),
        1 => json!({"data": data, "immutable": true}),
        2 => json!({"data": {"a b": "1"}}),
        3 => json!({"binaryData": {"a": "AAEC"}}),
        4 => json!({}),
        5 => json!({"data": data, "binaryData": {"a": "AAEC"}}),
        _ => json!({"data": data}),
    }
}

pub(super) fn secret(dice: &mut Dice) -> Value {
    match dice.below(14) {
        0 => json!({"data": {"a": "%"}}),
        1 => json!({"type": "example.com/t"}),
        2 => json!({"type": "kubernetes.io/basic-auth"}),
        3 => json!({"stringData": {"a": "1"}, "data": {"b": "MQ=="}}),
        4 => json!({"immutable": true, "data": {"a": "MQ=="}}),
        number => json!({"data": {"a": if number % 2 == 0 { "MQ==" } else { "Mg==" }}}),
    }
}

pub(super) fn service_account(dice: &mut Dice) -> Value {
    match dice.below(5) {
        0 => json!({"automountServiceAccountToken": dice.chance(50)}),
        1 => json!({"imagePullSecrets": [{"name": dice.pick(&["p", "q"])}]}),
        2 => json!({"secrets": [{"name": dice.pick(&["p", "q"])}, {"name": "r"}]}),
        3 => json!({"secrets": "none"}),
        _ => json!({}),
    }
}

pub(super) fn rule(dice: &mut Dice) -> Value {
    match dice.below(16) {
        0 => json!({"apiGroups": [""], "resources": ["pods"]}),
        1 => json!({"resources": ["pods"], "verbs": ["get"]}),
        2 => json!({"nonResourceURLs": ["/a"], "verbs": ["get"]}),
        3 => json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}),
        4 => json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"], "verbs": ["get", "update"]}),
        5 => json!({"apiGroups": ["apps", ""], "resources": ["deployments", "pods"], "verbs": ["list", "get"]}),
        6 => json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": [dice.pick(&["roles", "clusterroles"])],
            "verbs": [dice.pick(&["bind", "escalate", "*"])]}),
        7 => {
            json!({"apiGroups": ["", "apps"], "resources": ["configmaps", "pods/*", "*/status"], "verbs": ["get", "patch"]})
        }
        _ => json!({"apiGroups": [""], "resources": ["pods"], "verbs": [dice.pick(&["get", "list", "watch"])]}),
    }
}

pub(super) fn role(dice: &mut Dice) -> Value {
    match dice.below(15) {
        0 => json!({}),
        1 => json!({"rules": []}),
        2 => json!({"rules": [null]}),
        3 => json!({"rules": {"a": 1}}),
        4..8 => json!({"rules": [rule(dice), rule(dice)]}),
        _ => json!({"rules": [rule(dice)]}),
    }
}

pub(super) fn subject(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => json!({"kind": "Robot", "name": "r"}),
        1 => json!({"kind": "ServiceAccount", "name": "default", "namespace": "{{ns}}"}),
        2 => json!({"kind": "Group", "name": "{{ns}}-team"}),
        3 => json!({"kind": "User"}),
        4 => json!({"kind": "ServiceAccount", "name": "default"}),
        _ => json!({"kind": "User", "name": dice.pick(&["bob", "{{ns}}-alice", "{{ns}}-bella", "{{ns}}-carl"])}),
    }
}

pub(super) fn binding(dice: &mut Dice) -> Value {
    let role = match dice.below(12) {
        0 => json!({"kind": "Role", "name": "a"}),
        1 => json!({"kind": "ClusterRole", "name": "cluster-admin"}),
        2 => json!({"kind": "Pod", "name": "a"}),
        3 => json!({"kind": "ClusterRole", "name": "{{ns}}-a"}),
        4 => json!({"kind": "ClusterRole", "name": "view"}),
        5 => json!({"kind": "ClusterRole", "name": "{{ns}}-bella", "apiGroup": dice.pick(&["", "apps"])}),
        6 => json!({"kind": "ClusterRole", "name": "{{ns}}-carl"}),
        _ => json!({"kind": "ClusterRole", "name": "{{ns}}-alice"}),
    };
    match dice.below(8) {
        0 => json!({"roleRef": role}),
        1 => json!({"subjects": [subject(dice), subject(dice)], "roleRef": role}),
        _ => json!({"subjects": [subject(dice)], "roleRef": role}),
    }
}

pub(super) fn lease(dice: &mut Dice) -> Value {
    let duration = *dice.pick(&[10, 15, 15, 0]);
    match dice.below(6) {
        0 => json!({}),
        1 => json!({"spec": {"renewTime": "soon"}}),
        2 => json!({"spec": {"holderIdentity": "a", "renewTime": "2020-01-01T00:00:00.000000Z"}}),
        _ => json!({"spec": {"holderIdentity": dice.pick(&["a", "b"]), "leaseDurationSeconds": duration}}),
    }
}

pub(super) fn event(dice: &mut Dice) -> Value {
    let object =
        json!({"kind": "Pod", "name": dice.pick(&["a", "b"]), "namespace": dice.pick(&["{{ns}}", "{{ns}}", "other"])});
    json!({"involvedObject": object, "reason": dice.pick(&["R", "S"]), "message": "m", "count": dice.below(3),
        "type": dice.pick(&["Normal", "Warning"]), "lastTimestamp": "2020-01-01T00:00:00Z"})
}

pub(super) fn new_event(dice: &mut Dice) -> Value {
    let object = json!({"kind": "Pod", "name": dice.pick(&["a", "b"]), "namespace": "{{ns}}"});
    json!({"regarding": object, "reason": dice.pick(&["R", "S", ""]), "note": dice.pick(&["n", "o"]), "action": "A",
        "type": dice.pick(&["Normal", "Normal", "Warning", "Odd"]), "eventTime": "2020-01-01T00:00:00.000000Z",
        "reportingController": dice.pick(&["example.com/c", "example.com/c", ""]), "reportingInstance": "i"})
}

pub(super) fn namespace(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => json!({"spec": {"finalizers": [dice.pick(&["kubernetes", "example.com/f", "plain"])]}}),
        1 => json!({"status": {"phase": "Active"}}),
        2 => json!({"spec": []}),
        _ => json!({}),
    }
}

pub(super) fn deployment(dice: &mut Dice) -> Value {
    let container = json!({"name": dice.pick(&["one", "two"]), "image": dice.pick(&["i:1", "i:2"])});
    let replicas = *dice.pick(&[0, 1, 2]);
    json!({"spec": {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}}})
}

pub(super) fn service(dice: &mut Dice) -> Value {
    let port = json!({"port": dice.pick(&[80, 443]), "name": dice.pick(&["one", "two"])});
    match dice.below(6) {
        0 => json!({"spec": {"ports": [port], "clusterIP": "None"}}),
        1 => json!({"spec": {"ports": [port], "type": "NodePort"}}),
        _ => json!({"spec": {"ports": [port], "selector": {"a": dice.pick(&["b", "c"])}}}),
    }
}

pub(super) fn budget(dice: &mut Dice) -> Value {
    json!({"spec": {"maxUnavailable": dice.pick(&[json!(1), json!("20%"), json!(0)]), "selector": {"matchLabels": {"a": "b"}}}})
}

pub(super) fn autoscaler(dice: &mut Dice) -> Value {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": dice.pick(&["a", "b"])});
    let mut spec = json!({"scaleTargetRef": target, "maxReplicas": dice.pick(&[3, 5])});
    if dice.chance(50) {
        spec["targetCPUUtilizationPercentage"] = json!(dice.pick(&[50, 80]));
    }
    if dice.chance(30) {
        spec["minReplicas"] = json!(2);
    }
    json!({"spec": spec})
}

pub(super) fn new_autoscaler(dice: &mut Dice) -> Value {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"});
    let metric = |name: &str, percent: i64| {
        json!({"type": "Resource",
        "resource": {"name": name, "target": {"type": "Utilization", "averageUtilization": percent}}})
    };
    let mut spec = json!({"scaleTargetRef": target, "maxReplicas": dice.pick(&[3, 5])});
    if dice.chance(60) {
        spec["metrics"] = json!([metric(dice.text(&["cpu", "memory"]), *dice.pick(&[50, 70]))]);
    }
    json!({"spec": spec})
}
