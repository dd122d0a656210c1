//! Role and ClusterRole.

use rolewright_core::selector::Requirement;
use rolewright_core::validate::{self, Metadata, Scope, strategy};
use rolewright_core::{LabelSelector, Labels, Role, Rule};

use super::{BAD_DNS_LABEL, BAD_LABEL_KEY, BAD_LABEL_VALUE, expect};

const NO_VERBS: &str = "rules[0].verbs: Required value: verbs must contain at least one value";
const NO_GROUPS: &str = "rules[0].apiGroups: Required value: resource rules must supply at least one api group";
const NO_RESOURCES: &str = "rules[0].resources: Required value: resource rules must supply at least one resource";
const URLS_IN_ROLE: &str = "rules[0].nonResourceURLs: Invalid value: [\"/healthz\",\"/a\\u0026b\"]: namespaced rules \
    cannot apply to non-resource URLs";
const URLS_AND_RESOURCES: &str = "rules[0].nonResourceURLs: Invalid value: [\"/healthz\",\"/a\\u0026b\"]: rules cannot \
    apply to both regular resources and non-resource URLs";
const NOT_COMPILED: &str = "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.";

fn pods() -> Rule {
    Rule::resources([""], ["pods"], ["get"])
}

fn urls() -> Rule {
    Rule::urls(["/healthz", "/a&b"], ["get"])
}

fn selector(key: &str, operator: &str, values: &[&str]) -> LabelSelector {
    let values = values.iter().map(|value| (*value).into()).collect();
    let requirement = Requirement { key: key.into(), operator: operator.into(), values };
    LabelSelector { match_expressions: vec![requirement], ..LabelSelector::default() }
}

#[test]
fn rules_of_both_kinds() {
    let cases: [(&str, Rule, &[&str]); 12] = [
        ("fine", pods(), &[]),
        ("content is free", Rule::resources(["", "", "NoGroup!"], ["", "a/b/c"], ["", "fly"]).named(["", "*"]), &[]),
        ("nothing", Rule::default(), &[NO_VERBS, NO_GROUPS, NO_RESOURCES]),
        ("no verbs", Rule::resources([""], ["pods"], []), &[NO_VERBS]),
        ("no groups", Rule::resources([], ["pods"], ["get"]), &[NO_GROUPS]),
        ("no resources", Rule::resources([""], [], ["get"]), &[NO_RESOURCES]),
        ("names only", Rule::resources([], [], ["get"]).named(["x"]), &[NO_GROUPS, NO_RESOURCES]),
        ("urls", urls(), &[URLS_IN_ROLE]),
        ("urls without verbs", Rule::urls(["/healthz", "/a&b"], []), &[NO_VERBS, URLS_IN_ROLE]),
        ("urls, groups", Rule { api_groups: ["".into()].into(), ..urls() }, &[URLS_IN_ROLE, URLS_AND_RESOURCES]),
        ("urls, resources", Rule { resources: ["x".into()].into(), ..urls() }, &[URLS_IN_ROLE, URLS_AND_RESOURCES]),
        ("urls, names", urls().named(["x"]), &[URLS_IN_ROLE, URLS_AND_RESOURCES]),
    ];
    for (case, rule, texts) in cases {
        expect(case, &validate::role(&Role::namespaced("dev", "r", [rule.clone()])), texts);
        // In a ClusterRole URLs are no fault by themselves.
        let texts: Vec<&str> = texts.iter().copied().filter(|text| *text != URLS_IN_ROLE).collect();
        expect(case, &validate::role(&Role::cluster("r", [rule])), &texts);
    }
}

#[test]
fn errors_name_the_rule() {
    let role = Role::cluster("r", [pods(), Rule::urls(["/"], []), Rule::resources([""], [], ["get"])]);
    let texts = [
        "rules[1].verbs: Required value: verbs must contain at least one value",
        "rules[2].resources: Required value: resource rules must supply at least one resource",
    ];
    expect("three rules", &validate::role(&role), &texts);
}

#[test]
fn metadata_of_both_kinds() {
    let cases: [(&str, &[&str]); 8] = [
        ("a:b C.d", &[]),
        ("...", &[]),
        ("", &["metadata.name: Required value: name or generateName is required"]),
        (".", &["metadata.name: Invalid value: \".\": may not be '.'"]),
        ("..", &["metadata.name: Invalid value: \"..\": may not be '..'"]),
        ("a/b", &["metadata.name: Invalid value: \"a/b\": may not contain '/'"]),
        ("50%", &["metadata.name: Invalid value: \"50%\": may not contain '%'"]),
        (
            "%/",
            &[
                "metadata.name: Invalid value: \"%/\": may not contain '/'",
                "metadata.name: Invalid value: \"%/\": may not contain '%'",
            ],
        ),
    ];
    for (name, texts) in cases {
        expect(name, &validate::role(&Role::namespaced("dev", name, [])), texts);
        expect(name, &validate::role(&Role::cluster(name, [])), texts);
    }
    expect("long name", &validate::role(&Role::cluster("x".repeat(300), [])), &[]);
}

#[test]
fn namespaces() {
    let long = "x".repeat(64);
    let cases: [(&str, &[String]); 5] = [
        ("dev-1", &[]),
        ("", &["metadata.namespace: Required value".into()]),
        ("Dev", &[format!("metadata.namespace: Invalid value: \"Dev\": {BAD_DNS_LABEL}")]),
        ("a.b", &["metadata.namespace: Invalid value: \"a.b\": must not contain dots".into()]),
        (&long, &[format!("metadata.namespace: Invalid value: \"{long}\": must be no more than 63 characters")]),
    ];
    for (namespace, texts) in cases {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        expect(namespace, &validate::role(&Role::namespaced(namespace, "r", [])), &texts);
    }
    let meta = Metadata { name: "r", namespace: "dev", labels: &Labels::new() };
    let texts = ["metadata.namespace: Forbidden: not allowed on this type"];
    expect("namespace in cluster", &validate::metadata(meta, Scope::Cluster), &texts);
}

#[test]
fn labels_are_judged_in_the_order_of_their_keys() {
    let long = "v".repeat(64);
    let role = Role::namespaced("", "a/b", [Rule::default()])
        .label("ok", "")
        .label("z", &*long)
        .label("b c", "x")
        .label("a", "-");
    let bad_key = format!("metadata.labels: Invalid value: \"b c\": name part {BAD_LABEL_KEY}");
    let bad_value = format!("metadata.labels: Invalid value: \"-\": {BAD_LABEL_VALUE}");
    let too_long = format!("metadata.labels: Invalid value: \"{long}\": must be no more than 63 bytes");
    let name = "metadata.name: Invalid value: \"a/b\": may not contain '/'";
    let namespace = "metadata.namespace: Required value";
    let texts = [name, namespace, &bad_value, &bad_key, &too_long, NO_VERBS, NO_GROUPS, NO_RESOURCES];
    expect("everything wrong", &validate::role(&role), &texts);
}

#[test]
fn aggregation_rules() {
    let at = "aggregationRule.clusterRoleSelectors[0]";
    let cases: [(&str, Vec<LabelSelector>, Vec<String>); 9] = [
        ("everything", vec![LabelSelector::default()], vec![]),
        ("fine", vec![selector("a", "In", &["b", ""]), selector("a", "DoesNotExist", &[])], vec![]),
        (
            "no selectors",
            vec![],
            vec![
                "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if \
                 aggregationRule is non-nil"
                    .into(),
            ],
        ),
        (
            "In without values",
            vec![selector("a", "In", &[])],
            vec![format!(
                "{at}.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
            )],
        ),
        (
            "Exists with values",
            vec![selector("a", "Exists", &["b"])],
            vec![format!(
                "{at}.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or \
                 'DoesNotExist'"
            )],
        ),
        (
            "unknown operator",
            vec![selector("a", "<Gt", &["1"])],
            vec![format!(
                "{at}.matchExpressions[0].operator: Invalid value: \"\\u003cGt\": not a valid selector operator"
            )],
        ),
        (
            "illegal key",
            vec![selector("", "Exists", &[])],
            vec![
                format!("{at}.matchExpressions[0].key: Invalid value: \"\": name part must be non-empty"),
                format!("{at}.matchExpressions[0].key: Invalid value: \"\": name part {BAD_LABEL_KEY}"),
            ],
        ),
        (
            "illegal value",
            vec![selector("a", "NotIn", &["b", "b c"])],
            vec![format!("{at}.matchExpressions[0].values[1]: Invalid value: \"b c\": {BAD_LABEL_VALUE}")],
        ),
        (
            "illegal label",
            vec![LabelSelector { match_labels: [("a".into(), "b c".into())].into(), ..LabelSelector::default() }],
            vec![format!("{at}.matchLabels: Invalid value: \"b c\": {BAD_LABEL_VALUE}")],
        ),
    ];
    for (case, selectors, mut texts) in cases {
        if !selectors.is_empty() && !texts.is_empty() {
            texts.push(NOT_COMPILED.into());
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        expect(case, &validate::role(&Role::aggregated("r", selectors.clone())), &texts);
        let namespaced = Role { aggregation: Some(selectors), ..Role::namespaced("dev", "r", []) };
        expect("a Role knows no aggregation", &validate::role(&namespaced), &[]);
    }
    let both = Role { rules: vec![pods(), Rule::default()], ..Role::aggregated("r", []) };
    let texts = validate::role(&both).iter().map(|error| error.field.clone()).collect::<Vec<_>>();
    let rules_first = ["rules[1].verbs", "rules[1].apiGroups", "rules[1].resources"];
    assert_eq!(texts, [&rules_first[..], &["aggregationRule.clusterRoleSelectors"]].concat());
}

#[test]
fn an_old_fault_shortens_the_report_but_does_not_excuse_the_new_one() {
    let bad_value = || vec![selector("a", "In", &["b c"])];
    let in_full = format!(
        "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values[0]: Invalid value: \"b c\": \
         {BAD_LABEL_VALUE}"
    );
    let in_full = [in_full.as_str(), NOT_COMPILED];
    let cases: [(&str, Vec<LabelSelector>, &[&str]); 4] = [
        ("old is fine", vec![selector("a", "In", &["b"])], &in_full),
        ("old has an illegal value", bad_value(), &[NOT_COMPILED]),
        ("old has any fault", vec![LabelSelector::default(), selector("a", "Gt", &[])], &[NOT_COMPILED]),
        ("old has no selectors", vec![], &in_full),
    ];
    for (case, old, texts) in cases {
        let (old, new) = (Role::aggregated("r", old), Role::aggregated("r", bad_value()));
        expect(case, &validate::role_update(&new, &old), texts);
    }
    let old = Role::cluster("r", []);
    expect("old is not aggregated", &validate::role_update(&Role::aggregated("r", bad_value()), &old), &in_full);

    let old = Role::aggregated("r", bad_value());
    let labels = LabelSelector { match_labels: [("a".into(), "b c".into())].into(), ..LabelSelector::default() };
    let text =
        format!("aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: \"b c\": {BAD_LABEL_VALUE}");
    let new = Role::aggregated("r", [labels]);
    expect("matchLabels are never excused", &validate::role_update(&new, &old), &[&text, NOT_COMPILED]);
    expect("mending is always possible", &validate::role_update(&Role::cluster("r", []), &old), &[]);
}

#[test]
fn updates_repeat_what_is_wrong_with_metadata() {
    let old = Role::namespaced("dev", "r", [pods()]).label("a", "-");
    expect(
        "nothing but rules",
        &validate::role_update(&Role::namespaced("dev", "r", [urls(), pods()]), &old),
        &[URLS_IN_ROLE],
    );

    let new = Role::namespaced("dev", "r", [Rule::resources([""], ["pods"], [])]).label("a", "-");
    let label = format!("metadata.labels: Invalid value: \"-\": {BAD_LABEL_VALUE}");
    expect("strategy", &strategy::role_update(&new, &old), &[&label, NO_VERBS, &label]);
    let errors = validate::role_update(&new, &old);
    expect("server", &errors, &[&label, &label, &label, NO_VERBS, &label]);
    assert_eq!(validate::summary(&errors), format!("[{label}, {NO_VERBS}]"));

    let name = "metadata.name: Invalid value: \"s\": field is immutable";
    let namespace = "metadata.namespace: Invalid value: \"prod\": field is immutable";
    let moved = validate::role_update(&Role::namespaced("prod", "s", []), &old);
    expect("moved", &moved, &[name, namespace, name, namespace]);
}
