//! Every case in which Kubernetes' controller and we do the same: the selectors, the order, what comes and goes.

use serde_json::{Value, json};

use super::case::Step::{Delete, Gone, Has, Holds, Merge, Put, Refused};
use super::case::{Case, On};
use super::roles::{by, expression, gathers, may, on, role};
use crate::place::{rbac, with};

fn alike(name: &'static str, steps: impl Into<Vec<super::case::Step>>) -> Case {
    Case { name, on: On::Alike, steps: steps.into() }
}

pub(super) fn cases() -> Vec<Case> {
    [gathering(), selecting(), changing()].into_iter().flatten().collect()
}

/// What is gathered, and in which order.
fn gathering() -> Vec<Case> {
    let urls = json!({"nonResourceURLs": ["/healthz", "/logs/*"], "verbs": ["get"]});
    let named =
        json!({"apiGroups": ["", "apps"], "resources": ["pods", "pods/log"], "resourceNames": ["a"], "verbs": ["*"]});
    vec![
        alike(
            "order",
            [
                Put(gathers("order", &[], [by("order=2"), by("order=1"), by("also")])),
                Put(role("order-ab", &["order=1"], &[on("ab")])),
                Put(role("order-a:b", &["order=1"], &[on("a-colon-b")])),
                Put(role("order-a.b", &["order=1"], &[on("a-dot-b")])),
                Put(role("order-a", &["order=1", "also"], &[on("z"), on("a")])),
                Put(role("order-Z", &["order=1"], &[on("upper")])),
                Put(role("order-second", &["order=2"], &[on("first")])),
                Holds(
                    "order",
                    vec![on("first"), on("upper"), on("z"), on("a"), on("a-dot-b"), on("a-colon-b"), on("ab")],
                ),
            ],
        ),
        alike(
            "equal",
            [
                Put(gathers("equal", &[], [by("equal")])),
                Put(role("equal-a", &["equal"], &[may("pods", &["get", "list"]), may("pods", &["*"])])),
                Put(role("equal-b", &["equal"], &[with(may("pods", &["get", "list"]), json!({"resourceNames": []}))])),
                Put(role(
                    "equal-c",
                    &["equal"],
                    &[may("pods", &["list", "get"]), may("pods", &["get"]), may("pods", &["get"])],
                )),
                Holds(
                    "equal",
                    vec![
                        may("pods", &["get", "list"]),
                        may("pods", &["*"]),
                        may("pods", &["list", "get"]),
                        may("pods", &["get"]),
                    ],
                ),
            ],
        ),
        alike(
            "urls",
            [
                Put(gathers("urls", &[], [by("urls")])),
                Put(role("urls-source", &["urls"], &[urls.clone(), named.clone()])),
                Holds("urls", vec![urls, named]),
            ],
        ),
        alike(
            "chain",
            [
                Put(gathers("chain-3", &[], [by("to-3")])),
                Put(gathers("chain-2", &["to-3"], [by("to-2")])),
                Put(gathers("chain-1", &["to-2"], [by("to-1")])),
                Put(role("chain-leaf", &["to-1"], &[on("pods")])),
                Put(role("chain-extra", &["to-2"], &[on("secrets")])),
                Holds("chain-3", vec![on("pods"), on("secrets")]),
                // The middle of the chain is no longer part of it.
                Merge("chain-1", json!({"metadata": {"labels": {"to-2": null}}})),
                Holds("chain-3", vec![on("secrets")]),
                Holds("chain-1", vec![on("pods")]),
                Merge("chain-1", json!({"metadata": {"labels": {"to-2": "true"}}})),
                Holds("chain-3", vec![on("pods"), on("secrets")]),
                Delete("chain-leaf"),
                Holds("chain-3", vec![on("secrets")]),
            ],
        ),
        alike(
            "namespaced",
            [
                Put(gathers("namespaced", &[], [by("namespaced")])),
                Put(with(
                    rbac("Role", "default/namespaced"),
                    json!({"metadata": {"labels": {"namespaced": "true"}}, "rules": [on("nodes")]}),
                )),
                Put(role("namespaced-source", &["namespaced"], &[on("pods")])),
                Holds("namespaced", vec![on("pods")]),
            ],
        ),
    ]
}

/// What selectors select.
fn selecting() -> Vec<Case> {
    let all = |expressions: &Value| [json!({"matchLabels": {"selecting": "true"}, "matchExpressions": expressions})];
    let refuse =
        |rule: Value| Refused(422, with(rbac("ClusterRole", "selecting-bad"), json!({"aggregationRule": rule})));
    let refuse_one = |selector: Value| refuse(json!({"clusterRoleSelectors": [selector]}));
    vec![
        alike(
            "selecting",
            [
                Put(role("selecting-none", &["selecting"], &[on("none")])),
                Put(role("selecting-red", &["selecting", "color=red"], &[on("red")])),
                Put(role("selecting-blue", &["selecting", "color=blue"], &[on("blue")])),
                Put(role("selecting-green", &["selecting", "color=green", "dark=yes"], &[on("green")])),
                Put(role("selecting-other", &["color=red"], &[on("other")])),
                Put(gathers("selecting-t-in", &[], all(&json!([expression("color", "In", &["red", "blue"])])))),
                Put(gathers("selecting-t-not", &[], all(&json!([expression("color", "NotIn", &["red"])])))),
                Put(gathers("selecting-t-some", &[], all(&json!([expression("color", "Exists", &[])])))),
                Put(gathers("selecting-t-no", &[], all(&json!([expression("color", "DoesNotExist", &[])])))),
                Put(gathers(
                    "selecting-t-two",
                    &[],
                    all(&json!([expression("color", "Exists", &[]), expression("dark", "NotIn", &["yes"]),])),
                )),
                Put(gathers("selecting-t-or", &[], [by("color=green"), by("color=red")])),
                Holds("selecting-t-in", vec![on("blue"), on("red")]),
                Holds("selecting-t-not", vec![on("blue"), on("green"), on("none")]),
                Holds("selecting-t-some", vec![on("blue"), on("green"), on("red")]),
                Holds("selecting-t-no", vec![on("none")]),
                Holds("selecting-t-two", vec![on("blue"), on("red")]),
                Holds("selecting-t-or", vec![on("green"), on("other"), on("red")]),
                refuse(json!({"clusterRoleSelectors": []})),
                refuse(json!({})),
                refuse_one(json!({"matchExpressions": [expression("a", "Gt", &["1"])]})),
                refuse_one(json!({"matchExpressions": [expression("a", "Lt", &["1"])]})),
                refuse_one(json!({"matchExpressions": [expression("a", "Like", &["1"])]})),
                refuse_one(json!({"matchExpressions": [expression("a", "In", &[])]})),
                refuse_one(json!({"matchExpressions": [expression("a", "NotIn", &[])]})),
                refuse_one(json!({"matchExpressions": [expression("a", "Exists", &["1"])]})),
                refuse_one(json!({"matchExpressions": [expression("a", "DoesNotExist", &["1"])]})),
                refuse_one(json!({"matchLabels": {"a": "not a value"}})),
                refuse_one(json!({"matchLabels": {"not a key": "a"}})),
            ],
        ),
        alike(
            "everything",
            [
                Put(gathers("everything", &[], [json!({})])),
                Has("everything", json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]})),
                Put(role("everything-else", &[], &[on("pods")])),
                Has("everything", on("pods")),
            ],
        ),
        alike(
            "itself",
            [
                Put(with(gathers("itself", &["itself"], [by("itself")]), json!({"rules": [on("own")]}))),
                Put(role("itself-source", &["itself"], &[on("pods")])),
                Holds("itself", vec![on("pods")]),
            ],
        ),
        alike(
            "reselects",
            [
                Put(gathers("reselects", &[], [by("one")])),
                Put(role("reselects-1", &["one"], &[on("pods")])),
                Put(role("reselects-2", &["two"], &[on("secrets")])),
                Holds("reselects", vec![on("pods")]),
                Put(gathers("reselects", &[], [by("two"), by("one")])),
                Holds("reselects", vec![on("secrets"), on("pods")]),
                Put(gathers("reselects", &[], [by("two")])),
                Holds("reselects", vec![on("secrets")]),
            ],
        ),
    ]
}

/// What comes, changes and goes.
fn changing() -> Vec<Case> {
    let finalizer = |names: &[&str]| json!({"metadata": {"finalizers": names}});
    vec![
        alike(
            "sources",
            [
                Put(gathers("sources", &["kept=label"], [by("sources")])),
                Put(role("sources-a", &["sources"], &[on("pods"), on("nodes")])),
                Put(role("sources-b", &["sources"], &[on("secrets")])),
                Holds("sources", vec![on("pods"), on("nodes"), on("secrets")]),
                Put(role("sources-a", &["sources"], &[on("nodes")])),
                Holds("sources", vec![on("nodes"), on("secrets")]),
                Merge("sources-b", json!({"metadata": {"labels": {"sources": "false"}}})),
                Holds("sources", vec![on("nodes")]),
                Merge("sources-b", json!({"metadata": {"labels": {"sources": "true"}}})),
                Holds("sources", vec![on("nodes"), on("secrets")]),
                Delete("sources-a"),
                Holds("sources", vec![on("secrets")]),
                Put(role("sources-a", &["sources"], &[on("back")])),
                Holds("sources", vec![on("back"), on("secrets")]),
                Delete("sources-a"),
                Delete("sources-b"),
                Holds("sources", vec![]),
            ],
        ),
        alike(
            "loses",
            [
                Put(gathers("loses", &[], [by("loses")])),
                Put(gathers("loses-not", &[], [by("loses")])),
                Put(role("loses-source", &["loses"], &[on("pods")])),
                Holds("loses", vec![on("pods")]),
                Holds("loses-not", vec![on("pods")]),
                Merge("loses", json!({"aggregationRule": null})),
                Delete("loses-source"),
                Holds("loses-not", vec![]),
                Holds("loses", vec![on("pods")]),
            ],
        ),
        alike(
            "becomes",
            [
                Put(role("becomes", &[], &[on("own")])),
                Put(role("becomes-source", &["becomes"], &[on("pods")])),
                Holds("becomes", vec![on("own")]),
                Merge("becomes", json!({"aggregationRule": {"clusterRoleSelectors": [by("becomes")]}})),
                Holds("becomes", vec![on("pods")]),
            ],
        ),
        alike(
            "deleting",
            [
                Put(with(gathers("deleting", &[], [by("deleting")]), finalizer(&["rolewright.io/test"]))),
                Put(role("deleting-source", &["deleting"], &[on("pods")])),
                Holds("deleting", vec![on("pods")]),
                Delete("deleting"),
                Put(role("deleting-source", &["deleting"], &[on("secrets")])),
                Holds("deleting", vec![on("secrets")]),
                Merge("deleting", json!({"metadata": {"finalizers": null}})),
                Gone("deleting"),
                Put(gathers("deleting", &[], [by("deleting")])),
                Holds("deleting", vec![on("secrets")]),
            ],
        ),
        // Whoever applies the manifest takes the rules away, for a moment.
        alike(
            "foreign",
            [
                Put(gathers("foreign", &[], [by("foreign")])),
                Put(role("foreign-source", &["foreign"], &[on("pods")])),
                Holds("foreign", vec![on("pods")]),
                Put(with(gathers("foreign", &[], [by("foreign")]), json!({"rules": []}))),
                Holds("foreign", vec![on("pods")]),
                Put(with(gathers("foreign", &[], [by("foreign")]), json!({"rules": [on("secrets")]}))),
                Holds("foreign", vec![on("pods")]),
                Merge("foreign", json!({"rules": null})),
                Holds("foreign", vec![on("pods")]),
                Merge("foreign", json!({"rules": [on("secrets"), on("pods")]})),
                Holds("foreign", vec![on("pods")]),
                // Somebody who says the same owns it as well, and does not keep anything by that.
                Put(with(gathers("foreign", &[], [by("foreign")]), json!({"rules": [on("pods")]}))),
                Holds("foreign", vec![on("pods")]),
                Refused(409, with(rbac("ClusterRole", "foreign"), json!({"rules": []}))),
                Merge("foreign", json!({"metadata": {"labels": {"mine": "yes"}, "annotations": {"mine": "yes"}}})),
                Put(role("foreign-source", &["foreign"], &[on("nodes")])),
                Holds("foreign", vec![on("nodes")]),
            ],
        ),
    ]
}
