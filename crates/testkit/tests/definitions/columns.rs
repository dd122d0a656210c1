//! Columns and cells, as these and Kubernetes' own table converter print them.

use rolewright_crd::Columns;
use rolewright_testkit::oracle::Oracle;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::random::Chance;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Tabled>,
}

#[derive(Deserialize)]
struct Tabled {
    columns: Vec<Value>,
    rows: Vec<Row>,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct Row {
    cells: Vec<Value>,
}

fn object() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "creationTimestamp": "2020-01-02T03:04:05Z", "labels": {"a.b/c": "d"}},
        "spec": {
            "size": 3, "ratio": 2.5, "large": 1e21, "tiny": 0.00001, "whole": 7.0, "on": true, "nothing": null,
            "text": "some <text>", "when": "2020-01-02T03:04:05Z", "soon": "tomorrow", "empty": "", "zero": "0001-01-01T00:00:00Z",
            "list": [1, 2, 3, 4], "none": [], "words": ["x", "y"], "map": {"k": "v", "n": [1.5, "<"]},
            "items": [{"name": "a", "size": 1, "ok": true}, {"name": "b", "size": 2.5}, {"name": "c"}],
            "conditions": [
                {"type": "Ready", "status": "True", "message": "all (fine)"},
                {"type": "Synced", "status": "False", "count": 4},
            ],
        },
    })
}

const PATHS: &[&str] = &[
    ".",
    ".metadata.name",
    ".spec.size",
    ".spec.ratio",
    ".spec.large",
    ".spec.tiny",
    ".spec.whole",
    ".spec.on",
    ".spec.nothing",
    ".spec.text",
    ".spec.when",
    ".spec.soon",
    ".spec.empty",
    ".spec.zero",
    ".spec.list",
    ".spec.none",
    ".spec.map",
    ".spec.gone",
    ".spec.gone.deeper",
    ".spec.list[0]",
    ".spec.list[-1]",
    ".spec.list[1:3]",
    ".spec.list[1:]",
    ".spec.list[:2]",
    ".spec.list[::2]",
    ".spec.list[9]",
    ".spec.list[-9]",
    ".spec.list[3:1]",
    ".spec.list[1:1]",
    ".spec.list[0:4:0]",
    ".spec.list[*]",
    ".spec.none[0]",
    ".spec.none[*]",
    ".spec.list[]",
    ".spec.list[-]",
    ".spec.list[a]",
    ".spec.list[0,2]",
    ".spec.list[0,a]",
    ".spec.list[9,0]",
    ".spec.map['k']",
    ".spec['map']['k']",
    ".metadata.labels['a.b/c']",
    ".metadata.labels.a\\.b/c",
    ".metadata.labels['a\\.b/c']",
    ".spec.items[*].name",
    ".spec.items[1].name",
    ".spec.items[?(@.size)].name",
    ".spec.items[?(@.size==1)].name",
    ".spec.items[?(@.size>1)].name",
    ".spec.items[?(@.size==2.5)].name",
    ".spec.items[?(@.name=='b')].size",
    ".spec.items[?(@.name==\"c\")].name",
    ".spec.items[?(@.name!='a')].name",
    ".spec.items[?(@.ok==true)].name",
    ".spec.items[?(@.name<'b')].name",
    ".spec.items[?(@.name>='b')].name",
    ".spec.items[?(@.name=b)].name",
    ".spec.items[?(@.name=)].name",
    ".spec.items[?(@.name==@.name)].name",
    ".spec.items[?(@)].name",
    ".spec.items[?()].name",
    ".spec.conditions[?(@.type=='Ready')].status",
    ".spec.conditions[?(@.type==\"Ready\")].message",
    ".spec.conditions[?(@.message=='all (fine)')].type",
    ".spec.conditions[?(@.count)].type",
    ".spec.conditions[?(@.type=='Gone')].status",
    ".spec.size[0]",
    ".spec.text[0]",
    ".spec.text.*",
    ".spec.words.*",
    ".spec.list.*",
    ".spec..k",
    "..k",
    "..name",
    ".spec....k",
    ".spec.map.k}",
    ".spec.map.k}{.spec.size",
    ".spec.map.k} and {.spec.list[9]}",
    ".spec.map.k}{",
    ".spec.map.k{",
    ".spec.map .k",
    ".spec.size 5",
    ".spec 5",
    ".spec 2.5",
    ".spec true",
    ".spec 'quoted'",
    ".spec \"qu\\\"oted\\n\"",
    ".spec 'open",
    ".spec 'a\\qb'",
    ".spec range",
    ".spec end",
    ".spec word",
    ".spec #",
    ".spec\n.size",
    ".spec.[size]",
    ".spec.'size'",
    ".spec.items[?(@.name=='it\\'s')].size",
    ".spec.items[?(@.name",
    ".spec.items[?(@.name==']')].name",
    ".spec.items[0][name]",
    ".spec.list[0:99]",
    ".spec.list[00001]",
    ".spec.list[99999999999999999999]",
    ".spec 99999999999999999999",
    ".spec -5",
    ".spec +5",
    ".spec .5",
    ".spec 1.2.3",
    ".ünï",
    ".spec.map.n[0]",
    ".spec.map.n[1]",
    ".$.spec.size",
    ".@.spec.size",
    ".spec.items[?(@.size=='x')].name",
    ".spec.items[?(1==1)].name",
];

const KINDS: &[&str] = &["string", "integer", "number", "boolean", "date"];

#[test]
fn cells_are_those_of_kubernetes() {
    let Some(mut oracle) = Oracle::start("custom_table").unwrap() else { return };
    let mut cases: Vec<(Vec<Value>, Value)> = Vec::new();
    for path in PATHS {
        for kind in KINDS {
            let columns = vec![
                json!({"name": "A", "type": kind, "jsonPath": path}),
                json!({"name": "B", "type": "string", "jsonPath": ".metadata.name", "format": "x", "description": "d", "priority": 2}),
            ];
            cases.push((columns, object()));
        }
    }
    for seed in 0..3000 {
        let mut chance = Chance(seed);
        let parts = [
            ".",
            "..",
            ".spec",
            ".items",
            ".list",
            "[0]",
            "[*]",
            "[1:]",
            "[?(@.size>1)]",
            "[?(@.name=='a')]",
            ".name",
            ".*",
            "'x'",
            " ",
            ".map",
            "['k']",
            ".k",
            "}",
            "{",
            "[",
            "]",
            "1",
            "@",
            "\\",
            ".size",
            ",",
        ];
        let count = 1 + chance.below(5);
        let path: String = (0..count).map(|_| chance.pick(&parts)).collect();
        let kind = chance.pick(KINDS);
        cases.push((vec![json!({"name": "A", "type": kind, "jsonPath": format!(".spec{path}")})], object()));
    }
    let items: Vec<Value> =
        cases.iter().map(|(columns, object)| json!({"columns": columns, "object": object})).collect();
    let mut faults = Vec::new();
    for (chunk, cases) in items.chunks(500).zip(cases.chunks(500)) {
        let answer: Answer = oracle.ask("custom_table", json!({"items": chunk})).unwrap();
        for ((columns, object), theirs) in cases.iter().zip(answer.results) {
            if !theirs.error.is_empty() {
                continue;
            }
            let path = columns[0]["jsonPath"].as_str().unwrap_or_default();
            // Maps are walked in random order.
            if [".*", "..", "range"].iter().any(|random| path.contains(random)) {
                continue;
            }
            let compiled = Columns::compile(&json!({"additionalPrinterColumns": columns}));
            let age = |time: &str| time.starts_with("2020").then(|| "AGE".to_owned());
            let mut cells = compiled.cells(object.as_object().unwrap(), age);
            let mut other = theirs.rows[0].cells.clone();
            for (ours, theirs) in cells.iter_mut().zip(&mut other) {
                if *ours == "AGE" && theirs.as_str().is_some_and(|age| age.ends_with('y') || age.contains('d')) {
                    *ours = theirs.clone();
                }
                // Go writes a whole float as an integer.
                if ours.as_f64().is_some() && ours.as_f64() == theirs.as_f64() {
                    *ours = theirs.clone();
                }
            }
            if compiled.definitions() != Value::from(theirs.columns.clone()) || cells != other {
                faults.push(format!("{path} as {}: ours {cells:?}, Kubernetes {other:?}", columns[0]["type"]));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {} differ\n{}",
        faults.len(),
        items.len(),
        faults[..faults.len().min(40)].join("\n")
    );
}

#[test]
fn without_columns_there_is_an_age() {
    let columns = Columns::compile(&json!({"name": "v1"}));
    let cells = columns.cells(object().as_object().unwrap(), |_| Some("5y".to_owned()));
    assert_eq!(cells, [json!("w"), json!("5y")]);
    assert_eq!(columns.definitions()[1]["name"], "Age");
}

#[test]
fn a_path_that_multiplies_ends() {
    let path = format!(".spec{}", "..*".repeat(20));
    let columns =
        Columns::compile(&json!({"additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": path}]}));
    let object =
        json!({"metadata": {"name": "w"}, "spec": {"a": [[[[1, 2, 3], [4]], {"b": {"c": [1, 2, 3, {"d": [5, 6]}]}}]]}});
    let _ = columns.cells(object.as_object().unwrap(), |_| None);
}
