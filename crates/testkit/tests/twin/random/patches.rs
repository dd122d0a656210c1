//! Random patches of all types.

use serde_json::{Value, json};

use super::dice::Dice;
use super::kinds::{Kind, write_options};
use crate::exchange::Exchange;

/// A patch of one object.
pub(super) fn patch(kind: &Kind, dice: &mut Dice, path: &str) -> Exchange {
    let (content_type, body) = match dice.below(10) {
        0..4 => ("application/merge-patch+json", partial(kind, dice)),
        4..7 => ("application/strategic-merge-patch+json", partial(kind, dice)),
        _ => ("application/json-patch+json", operations(kind, dice)),
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
fn partial(kind: &Kind, dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => json!({}),
        1 => json!({"metadata": {"labels": {"app": dice.pick(&[json!("x"), json!("y"), json!(null), json!(1)])}}}),
        2 => json!({"metadata": {"labels": {"app": "x"}, "annotations": null}}),
        3 => json!({"metadata": {"finalizers": dice.pick(&[json!(null), json!([]), json!(["example.com/f"])])}}),
        4 => removed(kind),
        _ => (kind.content)(dice),
    }
}

/// Takes away what the kind is about.
fn removed(kind: &Kind) -> Value {
    match kind.plural {
        "configmaps" => json!({"data": {"a": null}}),
        "secrets" => json!({"data": null}),
        "serviceaccounts" => json!({"secrets": null, "imagePullSecrets": null}),
        "roles" | "clusterroles" => json!({"rules": null}),
        "rolebindings" => json!({"subjects": null}),
        "leases" => json!({"spec": {"holderIdentity": null}}),
        _ => json!({"spec": {"replicas": null}}),
    }
}

fn operations(kind: &Kind, dice: &mut Dice) -> Value {
    (0..=dice.below(3)).map(|_| operation(kind, dice)).collect()
}

fn operation(kind: &Kind, dice: &mut Dice) -> Value {
    let (path, value) = match dice.below(6) {
        0 => ("/metadata/labels/app", json!(dice.pick(&["x", "y"]))),
        1 => ("/metadata/finalizers", json!(["example.com/f"])),
        2 => ("/metadata/finalizers/0", json!("example.com/g")),
        3 => ("/metadata/annotations", json!({"note": "3"})),
        _ => content(kind, dice),
    };
    match dice.below(8) {
        0 => json!({"op": "remove", "path": path}),
        1 => json!({"op": "test", "path": path, "value": value}),
        2 => json!({"op": "test", "path": path, "value": null}),
        3 => json!({"op": "replace", "path": path, "value": value}),
        4 => json!({"op": "copy", "from": path, "path": "/metadata/annotations/copy"}),
        _ => json!({"op": "add", "path": path, "value": value}),
    }
}

/// A place in what the kind is about, and something to put there.
fn content(kind: &Kind, dice: &mut Dice) -> (&'static str, Value) {
    match kind.plural {
        "configmaps" => ("/data/a", json!(dice.pick(&["1", "3"]))),
        "secrets" => ("/data/a", json!("Mw==")),
        "serviceaccounts" => ("/automountServiceAccountToken", json!(dice.chance(50))),
        "roles" | "clusterroles" => ("/rules/0/verbs/-", json!(dice.pick(&["get", "delete"]))),
        "rolebindings" => ("/subjects/0/name", json!(dice.pick(&["bob", "ben"]))),
        "leases" => ("/spec/leaseDurationSeconds", json!(dice.pick(&[5, -1]))),
        _ => ("/spec/template/spec/containers/0/image", json!(dice.pick(&["i:1", "i:3"]))),
    }
}
