//! Names and conditions, as these steps and Kubernetes' controllers decide about them.

use rolewright_crd::naming::{Names, accept_names, approve, check_structure, establish};
use rolewright_server::strategy::Object;
use rolewright_testkit::oracle::Oracle;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::compare::typed;
use crate::random::Chance;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Settled>,
}

#[derive(Deserialize)]
struct Settled {
    statuses: Vec<Value>,
    #[serde(default)]
    error: String,
}

const NOW: &str = "2026-11-16T00:00:00Z";
const BEFORE: &str = "2026-01-02T03:04:05Z";

fn definition(plural: &str, chance: &mut Chance) -> Value {
    let group = chance.pick(&["example.com", "example.com", "example.com", "other.com", "a.k8s.io"]);
    let kinds = ["Widget", "Gadget", "Thing", "WidgetList"];
    let words = ["widget", "gadget", "w", "g", "widgets", "thing"];
    let kind = chance.pick(&kinds);
    let names = |chance: &mut Chance| {
        json!({
            "plural": plural, "singular": chance.pick(&words), "kind": kind,
            "listKind": format!("{}List", chance.pick(&kinds)),
            "shortNames": (0..chance.below(3)).map(|_| chance.pick(&words)).collect::<Vec<_>>(),
            "categories": (0..chance.below(2)).map(|_| "all").collect::<Vec<_>>(),
        })
    };
    let wished = names(chance);
    let mut status = json!({"acceptedNames": {"plural": "", "kind": ""}, "conditions": null, "storedVersions": ["v1"]});
    match chance.below(4) {
        0 => status["acceptedNames"] = wished.clone(),
        1 => status["acceptedNames"] = names(chance),
        _ => {}
    }
    let mut conditions = Vec::new();
    for kind in ["NamesAccepted", "Established", "NonStructuralSchema", "KubernetesAPIApprovalPolicyConformant"] {
        if chance.one_in(3) {
            let verdict = chance.pick(&["True", "False"]);
            conditions.push(json!({
                "type": kind, "status": verdict, "reason": "Any", "message": "any", "lastTransitionTime": BEFORE,
            }));
        }
    }
    if !conditions.is_empty() {
        status["conditions"] = conditions.into();
    }
    let schema = chance.pick(&[
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {}, "b": {"type": "string", "pattern": "["}}}),
        json!({"type": "object", "id": "x"}),
    ]);
    let webhook = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"url": "https://a", "caBundle": "Zm9v"}, "conversionReviewVersions": ["v1"],
    }});
    let conversion = if chance.one_in(5) { webhook } else { json!({"strategy": "None"}) };
    let annotation = chance.pick(&["", "https://x/y", "unapproved: why", "what"]);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"), "generation": 1,
            "annotations": {"api-approved.kubernetes.io": annotation},
        },
        "spec": {
            "group": group, "names": wished, "scope": "Cluster", "conversion": conversion,
            "preserveUnknownFields": chance.one_in(8),
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
        "status": status,
    })
}

fn step(controller: &str, definition: &mut Object, names: &Names) {
    match controller {
        "naming" => {
            accept_names(definition, names, NOW);
        }
        "establish" => {
            establish(definition, NOW);
        }
        "approval" => {
            approve(definition, NOW);
        }
        _ => {
            check_structure(definition, NOW);
        }
    }
}

/// Times that are not the old one are now.
fn settled(mut status: Value) -> Value {
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        if condition["lastTransitionTime"] != BEFORE {
            condition["lastTransitionTime"] = NOW.into();
        }
    }
    status
}

#[test]
fn names_and_conditions_are_those_of_the_controllers() {
    let Some(mut oracle) = Oracle::start("definition_status").unwrap() else { return };
    let mut faults = Vec::new();
    for seed in 0..1500 {
        let mut chance = Chance(seed);
        let plurals = ["widgets", "gadgets", "things", "ws"];
        let count = 1 + chance.below(plurals.len());
        let definitions: Vec<Value> = plurals[..count].iter().map(|plural| definition(plural, &mut chance)).collect();
        let mut ours: Vec<Object> = definitions.iter().map(typed).collect();
        let mut names = Names::default();
        for definition in &ours {
            names.insert(definition);
        }
        let mut steps = Vec::new();
        let mut statuses = Vec::new();
        for _ in 0..=chance.below(8) {
            let at = chance.below(ours.len());
            let controller = chance.pick(&["naming", "naming", "establish", "approval", "structure"]);
            steps.push(json!({"controller": controller, "name": definitions[at]["metadata"]["name"]}));
            let before = ours[at].clone();
            step(controller, &mut ours[at], &names);
            names.remove(&before);
            names.insert(&ours[at]);
            statuses.push(ours[at]["status"].clone());
        }
        let request =
            json!({"items": [{"definitions": definitions.iter().map(typed).collect::<Vec<_>>(), "steps": steps}]});
        let answer: Answer = oracle.ask("definition_status", &request).unwrap();
        let theirs = &answer.results[0];
        assert_eq!(theirs.error, "", "seed {seed}");
        for (i, (ours, theirs)) in statuses.iter().zip(&theirs.statuses).enumerate() {
            let theirs = settled(theirs.clone());
            if *ours != theirs {
                faults.push(format!("seed {seed} step {i} {}\n  ours       {ours}\n  Kubernetes {theirs}", steps[i]));
                break;
            }
        }
    }
    assert!(faults.is_empty(), "{} differ\n{}", faults.len(), faults[..faults.len().min(6)].join("\n"));
}
