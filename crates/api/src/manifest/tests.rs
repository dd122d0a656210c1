use super::*;

fn names(text: &str) -> Vec<String> {
    let read = read("a.yaml", text.as_bytes()).unwrap();
    read.iter()
        .map(|found| {
            format!("{} {} {}", found.kind(), found.object["metadata"]["name"].as_str().unwrap(), found.line())
        })
        .collect()
}

fn problems(file: &str, text: &str) -> Vec<String> {
    read(file, text.as_bytes()).unwrap_err().iter().map(ToString::to_string).collect()
}

const ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n";

#[test]
fn documents_are_found_with_their_lines() {
    let namespace = |name: &str| format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n");
    for (text, want) in [
        (namespace("a"), &["Namespace a 1"][..]),
        (format!("# nothing\n---\n{}---\n\n---\n# last\n{}", namespace("a"), namespace("b")), &["Namespace a 3", "Namespace b 11"]),
        (format!("--- # one\n{}...\n{}", namespace("a"), namespace("b")), &["Namespace a 2", "Namespace b 7"]),
        (format!("\u{feff}{}---\r\n{}", namespace("a"), namespace("b")), &["Namespace a 1", "Namespace b 6"]),
        (
            "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"a\"}}\n\n{\"apiVersion\": \"v1\",\n\t\"kind\": \"Namespace\", \"metadata\": {\"name\": \"b\"}}\n".to_owned(),
            &["Namespace a 1", "Namespace b 3"],
        ),
        ("{apiVersion: v1, kind: Namespace, metadata: {name: a}}".to_owned(), &["Namespace a 1"]),
        (
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: b}\n".to_owned(),
            &["Namespace a 4", "Namespace b 7"],
        ),
        ("apiVersion: v1\nkind: NamespaceList\nitems:\n- metadata: {name: a}\n".to_owned(), &["Namespace a 4"]),
        ("---\n---\n# only words\n".to_owned(), &[]),
    ] {
        assert_eq!(names(&text), want, "{text}");
    }
}

#[test]
fn problems_lead_to_their_place() {
    let cases = [
        ("a: [", "a.yaml:1: this is no YAML: "),
        ("a: 1\n---\nb: 1\nc: [\n", "a.yaml:"),
        ("- 1", "a.yaml:1: this is no object"),
        ("a: 1\na: 2\n", "a.yaml:2: key \"a\" already set in map; hint: keep one of them"),
        (
            "kind: A\nmetadata: {name: a}",
            "a.yaml:1: apiVersion: is missing; hint: such as `rbac.authorization.k8s.io/v1`",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata:\n  labels: {}\n",
            "a.yaml:3: metadata.name: is missing; hint: every object needs a name",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {generateName: a-}\n",
            "a.yaml:3: metadata.generateName: a name that the server makes up cannot be planned; hint: give it a name",
        ),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
            "a.yaml:2: kind: a kustomization is no object of a cluster; hint: build it first: `kubectl kustomize DIR | rolewright plan -f -`",
        ),
        (
            "apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {a: true}}\n",
            "a.yaml:3: metadata.labels[a]: must be text, and is true or false; hint: write `\"true\"`",
        ),
    ];
    for (text, want) in cases {
        let found = problems("a.yaml", text);
        assert!(found.iter().any(|problem| problem.starts_with(want)), "{text}: {found:?}");
    }
    assert_eq!(problems("a.json", "{\n\"a\": }"), ["a.json:2: this is no JSON: expected value"]);
}

#[test]
fn the_form_of_rbac_is_checked() {
    let cases = [
        ("rules:\n- verbs: get\n", "a.yaml:5: rules[0].verbs: must be a list, and is text; hint: write `[\"get\"]`"),
        ("rules:\n- verb: [get]\n", "a.yaml:5: rules[0].verb: there is no such field; hint: did you mean `verbs`"),
        ("rules: {}\n", "a.yaml:4: rules: must be a list, and is an object"),
        (
            "aggregationRule:\n  selectors: []\n",
            "a.yaml:5: aggregationRule.selectors: there is no such field; hint: did you mean `clusterRoleSelectors`",
        ),
        (
            "spec: {}\n",
            "a.yaml:4: spec: there is no such field; hint: there are aggregationRule, apiVersion, kind, metadata, rules",
        ),
    ];
    for (text, want) in cases {
        assert_eq!(problems("a.yaml", &format!("{ROLE}{text}")), [want], "{text}");
    }
    let old = problems(
        "a.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1beta1\nkind: ClusterRole\nmetadata:\n  name: a\n  label: {a: b}\n",
    );
    assert_eq!(
        old,
        [
            "a.yaml:1: apiVersion: `rbac.authorization.k8s.io/v1beta1` is not served any more; hint: write `rbac.authorization.k8s.io/v1`",
            "a.yaml:5: metadata.label: there is no such field; hint: did you mean `labels`",
        ]
    );
    assert!(read("a.yaml", format!("{ROLE}rules: null\naggregationRule: null\n").as_bytes()).is_ok());
}

#[test]
fn many_problems_do_not_take_long_to_tell() {
    let labels: Vec<String> = (0..1_000).map(|n| format!("    l{n}: true\n")).collect();
    let text = format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  labels:\n{}", labels.concat());
    assert_eq!(problems("a.yaml", &text).len(), MOST_PROBLEMS);
    let items = "- {}\n".repeat(1_000);
    let list = problems("a.yaml", &format!("apiVersion: v1\nkind: List\nitems:\n{items}"));
    assert!((MOST_PROBLEMS..MOST_PROBLEMS + 3).contains(&list.len()));
}
