//! Random metadata.

use serde_json::json;

use crate::values::{Values, list, map, object, one, sometimes_long, text};

const ODD_NAMES: &[&str] = &[
    "",
    ".",
    "..",
    "...",
    "-",
    "A",
    "a_b",
    "a b",
    "-a",
    "a-",
    "a..b",
    "a.-b",
    "a/b",
    "a%b",
    "é",
    "a\"b\\\n\u{7}",
    "x:y",
    "1.2.3",
];
const KEYS: &[&str] =
    &["app", "a.b/c", "kubernetes.io/x", "X_y", "kubernetes.io/enforce-mountable-secrets", "İx", "\u{212a}"];
const ODD_KEYS: &[&str] = &[
    "",
    "/",
    "/a",
    "a/",
    "a/b/c",
    "-a",
    "a-",
    "A.b/c",
    "é",
    "a b",
    "B/c",
    "a\u{7}<&>",
    "Ünder/x",
    "x/İ",
    "\u{212a}/a",
];
const FINALIZERS: &[&str] = &["a.b/c", "kubernetes", "orphan", "foregroundDeletion", "x/y"];
const ODD_FINALIZERS: &[&str] = &["", "a", "a/b/c", "kubernetes.io", "é", "\"\u{7f}", "foregroundDeletion", "orphan"];
const TIMES: &[&str] = &["2020-01-01T00:00:00Z", "2021-02-03T04:05:06Z"];

/// Metadata with at least a name most of the time. Without `bad` nothing is wrong with it.
pub(crate) fn metadata(bad: f64) -> Values {
    let keys = || sometimes_long(text(KEYS, ODD_KEYS, bad), 64, bad / 8.0);
    let name = sometimes_long(text(&["web", "a.b", "x1", "ns"], ODD_NAMES, bad), 254, bad / 8.0);
    let good_labels = text(&["app", "a.b/c", "X_y"], ODD_KEYS, bad);
    let label_values = sometimes_long(text(&["", "v", "V_1.x"], &["-", "a b", "é", "_"], bad), 64, bad / 8.0);
    let good_annotations = text(&["app", "A.b/C", "X_y", "kubernetes.io/service-account.name"], ODD_KEYS, bad);
    let annotation = sometimes_long(one(&["", "anything goes: é\n", "x"]), 262_144, bad / 20.0);
    object(vec![
        ("name", if bad > 0.0 { 0.95 } else { 1.0 }, name),
        (
            "generateName",
            if bad > 0.0 { 0.2 } else { 0.1 },
            sometimes_long(text(&["web-", "a.b-", "a"], GENERATED, bad), 70, bad / 4.0),
        ),
        ("namespace", 0.5, text(&["team-a"], &["", "team-b", "default", "Bad_Ns"], bad / 2.0)),
        ("labels", 0.4, map(good_labels, label_values, 3)),
        ("annotations", 0.4, map(good_annotations, annotation, 3)),
        ("annotations", bad, map(keys(), one(&["v"]), 2)),
        ("finalizers", 0.3, list(text(FINALIZERS, ODD_FINALIZERS, bad), if bad > 0.0 { 3 } else { 1 })),
        ("ownerReferences", 0.3, list(owner(bad), if bad > 0.0 { 3 } else { 1 })),
        ("managedFields", 0.2, list(managed(bad), 2)),
        ("generation", 0.2, one(if bad > 0.0 { &[-1, 0, 1, 5] } else { &[0, 1, 5] })),
        ("selfLink", 0.1, one(&["/x"])),
        ("uid", 0.2, one(&["u-1", "u-1", "u<2>"])),
        ("resourceVersion", 0.2, one(&["1", "7"])),
        ("creationTimestamp", 0.3, one(TIMES)),
        ("deletionTimestamp", bad, one(TIMES)),
        ("deletionGracePeriodSeconds", bad, one(&[0, 30])),
    ])
}

const GENERATED: &[&str] = &["-", "A-", "é-", "a.-", "-a", "a/-", ".", "..", "%", "a--", "a_-", "a_-", "a:-"];

fn owner(bad: f64) -> Values {
    object(vec![
        ("apiVersion", 1.0 - bad / 4.0, text(&["v1", "apps/v1"], &["", "/", "a/", "/v1", "a/b/c"], bad)),
        ("kind", 1.0 - bad / 4.0, text(&["Pod", "ReplicaSet"], &["", "Event", "<é>"], bad)),
        ("name", 1.0 - bad / 4.0, text(&["web"], &["", "a\"b"], bad)),
        ("uid", 1.0 - bad / 4.0, text(&["u-1"], &["", "\u{2028}"], bad)),
        ("controller", 0.4, one(&[true, true, false])),
        ("blockOwnerDeletion", 0.3, one(&[true, false])),
    ])
}

fn managed(bad: f64) -> Values {
    object(vec![
        (
            "manager",
            0.9,
            sometimes_long(text(&["kubectl", "é ü"], &["", "a\u{7}b\u{a0}", "\u{1f600}\u{e000}"], bad), 129, bad / 8.0),
        ),
        ("operation", 1.0 - bad / 2.0, text(&["Apply", "Update"], &["", "apply", "<x>"], bad)),
        ("apiVersion", 0.9, one(&["v1"])),
        ("fieldsType", 0.9, text(&["FieldsV1"], &["", "FieldsV2"], bad)),
        ("fieldsV1", 0.9, proptest::strategy::Strategy::boxed(proptest::prelude::Just(json!({"f:data": {}})))),
        ("subresource", 0.2, sometimes_long(one(&["status"]), 257, bad / 4.0)),
        ("time", 0.3, one(TIMES)),
    ])
}
