//! Random objects without metadata.

use crate::values::{Values, list, map, object, one, sometimes_long, text};

const TIMES: &[&str] = &["2020-01-01T00:00:00.000001Z", "2021-02-03T04:05:06.000000Z"];

pub(crate) fn namespace(bad: f64) -> Values {
    let finalizers = list(text(&["kubernetes", "a.b/c"], &["", "x", "a/b/c", "é", "orphan"], bad), 3);
    let phase = text(&["Active"], &["", "Terminating", "<x>"], bad.max(0.3));
    object(vec![
        ("spec", 0.7, object(vec![("finalizers", 0.8, finalizers)])),
        ("status", 0.7, object(vec![("phase", 0.9, phase)])),
    ])
}

pub(crate) fn service_account(_bad: f64) -> Values {
    let reference = object(vec![
        ("name", 0.8, one(&["token", ""])),
        ("namespace", 0.3, one(&["team-a"])),
        ("kind", 0.3, one(&["Secret"])),
        ("uid", 0.3, one(&["u"])),
    ]);
    object(vec![
        ("secrets", 0.5, list(reference, 3)),
        ("imagePullSecrets", 0.3, list(object(vec![("name", 0.8, one(&["pull"]))]), 2)),
        ("automountServiceAccountToken", 0.3, one(&[true, false])),
    ])
}

pub(crate) fn lease(bad: f64) -> Values {
    let numbers = |bad_numbers: &'static [i32]| if bad > 0.0 { one(bad_numbers) } else { one(&[1, 15]) };
    let spec = object(vec![
        ("holderIdentity", 0.6, one(&["me", ""])),
        ("leaseDurationSeconds", 0.6, numbers(&[-1, 0, 1, 15])),
        ("leaseTransitions", 0.5, numbers(&[-2, 0, 1, 3])),
        ("acquireTime", 0.3, one(TIMES)),
        ("renewTime", 0.3, one(TIMES)),
        ("strategy", 0.3, text(&["OldestEmulationVersion", "a.b/C"], &["", "Newest<>", "a/b/c", "/x"], bad)),
        ("preferredHolder", 0.3, one(&["you", ""])),
    ]);
    object(vec![("spec", 0.9, spec)])
}

fn rules(bad: f64, urls: bool) -> Values {
    let texts = |words: &'static [&'static str]| list(one(words), 2);
    let some = |words: &'static [&'static str]| {
        let one_or_more = proptest::collection::vec(one(words), usize::from(bad == 0.0)..3);
        proptest::strategy::Strategy::boxed(proptest::strategy::Strategy::prop_map(
            one_or_more,
            serde_json::Value::from,
        ))
    };
    let urls = if urls { bad } else { bad / 3.0 };
    let rule = object(vec![
        ("verbs", 1.0 - bad / 3.0, some(&["get", "*", ""])),
        ("apiGroups", 1.0 - bad / 2.0, some(&["", "apps", "*"])),
        ("resources", 1.0 - bad / 2.0, some(&["pods", "*", "pods/log"])),
        ("resourceNames", 0.2, texts(&["web", ""])),
        ("nonResourceURLs", urls, texts(&["/healthz", "/<&>", "*"])),
    ]);
    list(rule, 3)
}

pub(crate) fn role(bad: f64) -> Values {
    object(vec![("rules", 0.9, rules(bad, false))])
}

pub(crate) fn cluster_role(bad: f64) -> Values {
    let expression = object(vec![
        ("key", 1.0 - bad / 3.0, text(&["app", "a.b/c"], &["", "/x", "é"], bad)),
        ("operator", 1.0 - bad / 3.0, text(&["Exists"], &["In", "NotIn", "DoesNotExist", "", "<x>"], bad)),
        ("values", bad, list(text(&["v"], &["", "-", "é"], bad), 2)),
    ]);
    let selector = object(vec![
        ("matchLabels", 0.5, map(text(&["app"], &["", "-"], bad), text(&["v", ""], &["-"], bad), 2)),
        ("matchExpressions", 0.5, list(expression, 2)),
    ]);
    let aggregation = object(vec![("clusterRoleSelectors", 0.9, list(selector, 2))]);
    object(vec![("rules", 0.9, rules(bad, true)), ("aggregationRule", bad.max(0.05), aggregation)])
}

pub(crate) fn binding(bad: f64) -> Values {
    let group = || text(&["rbac.authorization.k8s.io"], &["", "rbac", "<x>"], bad);
    let subject = object(vec![
        ("kind", 1.0 - bad / 3.0, text(&["User", "Group", "ServiceAccount"], &["", "user", "Pod"], bad)),
        ("apiGroup", bad.max(0.3), group()),
        ("name", 1.0 - bad / 3.0, text(&["alice", "ci"], &["", "é", "A b"], bad)),
        ("namespace", 0.7, text(&["team-a"], &["", "Bad_Ns"], bad)),
    ]);
    let role = object(vec![
        ("kind", 1.0 - bad / 3.0, text(&["ClusterRole"], &["", "Role", "<x>"], bad)),
        ("apiGroup", 0.5, group()),
        ("name", 1.0 - bad / 3.0, sometimes_long(text(&["view", "a:b"], &["", "a/b", "..", "%"], bad), 300, bad / 8.0)),
    ]);
    object(vec![("roleRef", 0.95, role), ("subjects", 0.9, list(subject, 3))])
}
