//! Random patches of all types.

use serde_json::{Value, json};

use super::dice::Dice;
use super::kinds::Kind;
use super::requests::{uid, version, write_options};
use crate::exchange::Exchange;

/// A patch of one object.
pub(super) fn patch(kind: &Kind, dice: &mut Dice, path: &str, name: &str) -> Exchange {
    let (content_type, body) = match dice.below(10) {
        0..4 => ("application/merge-patch+json", partial(kind, dice, name)),
        4..7 => ("application/strategic-merge-patch+json", strategic(kind, dice, name)),
        _ => ("application/json-patch+json", operations(kind, dice, name)),
    };
    Exchange {
        method: "PATCH".into(),
        target: format!("{path}?{}", write_options(dice)),
        headers: vec![("Content-Type".into(), content_type.into())],
        body: body.to_string(),
        ..Exchange::default()
    }
}

/// A part of an object, or of its metadata, with nulls here and there.
fn partial(kind: &Kind, dice: &mut Dice, name: &str) -> Value {
    match dice.below(14) {
        0 => json!({}),
        1 => json!({"metadata": {"labels": {"app": dice.pick(&[json!("x"), json!("y"), json!(null), json!(1)])}}}),
        2 => json!({"metadata": {"labels": {"app": "x"}, "annotations": null}}),
        3 => json!({"metadata": {"finalizers": dice.pick(&[json!(null), json!([]), json!(["example.com/f"])])}}),
        4 | 5 => serde_json::from_str(kind.removal).expect("the removal is JSON"),
        6 => {
            let mut patch = (kind.content)(dice);
            patch["metadata"]["resourceVersion"] = json!(version(kind, dice, name));
            patch
        }
        7 => json!({"metadata": {"uid": uid(kind, name), "annotations": {"note": "4"}}}),
        8 => metadata(dice),
        _ => (kind.content)(dice),
    }
}

/// What of the metadata clients seldom touch.
fn metadata(dice: &mut Dice) -> Value {
    let changes = [
        json!({"name": "other"}),
        json!({"namespace": "default"}),
        json!({"managedFields": []}),
        json!({"managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {}}}]}),
        json!({"generateName": "x-"}),
        json!({"deletionTimestamp": null}),
        json!({"creationTimestamp": null, "generation": 4}),
        json!({"labels": null}),
        json!({"resourceVersion": "1"}),
        json!({"uid": "11111111-1111-4111-8111-111111111111"}),
        json!({"unknown": 1}),
    ];
    json!({"metadata": dice.pick(&changes)})
}

/// The same, with directives.
fn strategic(kind: &Kind, dice: &mut Dice, name: &str) -> Value {
    match dice.below(10) {
        0 => json!({"metadata": {"labels": {"$patch": "replace", "tier": "front"}}}),
        1 => json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/f"]}}),
        2 => json!({"metadata": {"finalizers": [dice.pick(&["example.com/f", "example.com/g"])]}}),
        3 => json!({"metadata": {"annotations": {"$patch": "delete"}}}),
        _ => partial(kind, dice, name),
    }
}

fn operations(kind: &Kind, dice: &mut Dice, name: &str) -> Value {
    (0..=dice.below(3)).map(|_| operation(kind, dice, name)).collect()
}

fn operation(kind: &Kind, dice: &mut Dice, name: &str) -> Value {
    let (path, value) = match dice.below(8) {
        0 => ("/metadata/labels/app", json!(dice.pick(&["x", "y"]))),
        1 => ("/metadata/finalizers", json!(["example.com/f"])),
        2 => ("/metadata/finalizers/0", json!("example.com/g")),
        3 => ("/metadata/annotations", json!({"note": "3"})),
        4 => ("/metadata/resourceVersion", json!(version(kind, dice, name))),
        _ => (kind.place.0, serde_json::from_str(dice.text(kind.place.1)).expect("the value is JSON")),
    };
    // A version that ends up elsewhere is none that could be compared.
    let moves = if path == "/metadata/resourceVersion" { 4 } else { 9 };
    match dice.below(moves) {
        0 => json!({"op": "remove", "path": path}),
        1 => json!({"op": "test", "path": path, "value": value}),
        2 => json!({"op": "test", "path": path, "value": null}),
        3 => json!({"op": "replace", "path": path, "value": value}),
        4 => json!({"op": "copy", "from": path, "path": "/metadata/annotations/copy"}),
        5 => json!({"op": "move", "from": path, "path": "/metadata/annotations/moved"}),
        _ => json!({"op": "add", "path": path, "value": value}),
    }
}
