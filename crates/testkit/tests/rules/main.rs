//! Rules of schemas, as Kubernetes' own code compiles and evaluates them: faults of definitions, errors of objects, warnings.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "what was covered is printed")]

mod table;

use anyhow::{Result, bail};
use rolewright_crd::{Rules, Schema, definition};
use rolewright_server::strategy::embedded::Metadata;
use rolewright_testkit::oracle::Oracle;
use serde_json::{Value, json};

/// A schema with rules, and objects with those they replace.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) objects: Vec<(Value, Option<Value>)>,
}

/// The name under which types appear is the time of day in Kubernetes.
fn settled(text: &str) -> String {
    let mut settled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("selfType") {
        settled.push_str(&rest[..at + 8]);
        rest = rest[at + 8..].trim_start_matches(|char: char| char.is_ascii_digit());
    }
    settled + rest
}

fn sorted(texts: impl IntoIterator<Item = String>) -> Value {
    let mut texts: Vec<String> = texts.into_iter().map(|text| settled(&text)).collect();
    texts.sort();
    json!(texts)
}

fn ours(case: &Case) -> Value {
    let whole = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": case.schema}}],
        },
        "status": {"storedVersions": ["v1"]},
    });
    let faults = definition::validate(whole.as_object().unwrap(), &Metadata);
    let rules = Rules::compile(&case.schema);
    let schema = Schema::compile(&case.schema);
    let judged = case.objects.iter().map(|(object, old)| {
        let old = old.as_ref().map(|old| old.as_object().unwrap());
        let verdict = rules.judge(&schema, object.as_object().unwrap(), old, &[]);
        let errors = sorted(verdict.errors.iter().map(ToString::to_string));
        json!({"errors": errors, "warnings": sorted(verdict.warnings)})
    });
    json!({"faults": sorted(faults.iter().map(ToString::to_string)), "objects": judged.collect::<Vec<Value>>()})
}

fn texts(json: &Value) -> Value {
    sorted(json.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()))
}

fn compare(cases: &[Case]) -> Result<()> {
    let Some(mut oracle) = Oracle::start("rules")? else { return Ok(()) };
    let mut differences = Vec::new();
    for case in cases {
        let objects: Vec<Value> =
            case.objects.iter().map(|(object, old)| json!({"object": object, "old": old})).collect();
        let answer: Value = oracle.ask("cel_rules", json!({"items": [{"schema": case.schema, "objects": objects}]}))?;
        let theirs = &answer["results"][0];
        assert!(theirs["error"].as_str().unwrap_or_default().is_empty(), "{theirs}");
        let objects = theirs["objects"].as_array().unwrap().iter();
        let objects: Vec<Value> = objects
            .map(|judged| json!({"errors": texts(&judged["errors"]), "warnings": texts(&judged["warnings"])}))
            .collect();
        let ours = ours(case);
        println!("{} objects of {}", objects.len(), case.schema["properties"]["spec"]["x-kubernetes-validations"]);
        if ours["faults"] != texts(&theirs["faults"]) {
            differences.push(format!("{}\n  ours:   {}\n  theirs: {}", case.schema, ours["faults"], theirs["faults"]));
        }
        for ((asked, ours), theirs) in case.objects.iter().zip(ours["objects"].as_array().unwrap()).zip(&objects) {
            if ours != theirs {
                differences.push(format!("{}\n{asked:?}\n  ours:   {ours}\n  theirs: {theirs}", case.schema));
            }
        }
    }
    if !differences.is_empty() {
        bail!("{} of {} differ:\n{}", differences.len(), cases.len(), differences.join("\n"));
    }
    Ok(())
}

#[test]
fn rules_are_judged_alike() -> Result<()> {
    compare(&table::cases())
}
