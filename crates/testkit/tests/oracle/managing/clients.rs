//! What clients send that they had better not.

use serde_json::{Value, json};

use crate::random::Random;

/// What clients say about managedFields, sensible or not.
pub(super) fn wish(random: &mut Random, version: &str) -> Value {
    let fields = |random: &mut Random| {
        let all = [
            json!({"f:data": {".": {}, "f:a": {}}}),
            json!({"f:spec": {"f:selector": {"f:a": {}}, "f:replicas": {}}}),
            json!({"f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}, "f:annotations": {}, "f:name": {}}}),
            json!({"f:metadata": {"f:finalizers": {"v:\"a\"": {}, "v:1.50": {}, "i:3": {}}}}),
            json!({"f:spec": {"f:ports": {"k:{\"protocol\":\"TCP\",\"port\":80}": {".": {}, "f:port": {}}}}}),
            json!({"f:kind": {}, "x:new": {}, "f:rules": {"f:x": {}}}),
            json!({"f:a": 1}),
            json!({"a": {}}),
            json!({}),
        ];
        random.of(&all).clone()
    };
    let entry = |random: &mut Random| {
        let version = if random.one_in(6) { *random.of(&["nonsense/v9", "v9", "a/b/c", ""]) } else { version };
        let mut entry = json!({
            "manager": random.of(&["a", "b", "z", ""]),
            "operation": if random.one_in(10) { "Merge" } else { *random.of(&["Apply", "Update"]) },
            "apiVersion": version,
            "fieldsType": if random.one_in(20) { "FieldsV2" } else { "FieldsV1" },
            "fieldsV1": fields(random),
        });
        if !random.one_in(3) {
            entry["time"] = json!(random.of(&["1999-01-01T00:00:00Z", "1960-01-01T00:00:00Z", "1999-06-01T00:00:00Z"]));
        }
        if random.one_in(4) {
            entry["subresource"] = json!("status");
        }
        entry
    };
    match random.below(8) {
        0 => json!([]),
        1 => json!([{}]),
        2 => json!([{}, {}]),
        // More than are kept apart.
        3 => (0..13)
            .map(|at| {
                let mut entry = entry(random);
                entry["manager"] = json!(format!("m{at}"));
                entry["operation"] = json!("Update");
                entry["fieldsV1"] = json!({"f:metadata": {"f:labels": {"f:a": {}, format!("f:{at}"): {}}}});
                if at == 7 && random.one_in(2) {
                    entry["manager"] = json!("ancient-changes");
                }
                entry
            })
            .collect(),
        _ => {
            let count = 1 + random.below(3);
            (0..count).map(|_| entry(random)).collect()
        }
    }
}

/// Puts something into a configuration that does not belong there.
pub(super) fn spoil(random: &mut Random, object: &mut Value) {
    let odd = [json!(1), json!(1.5), json!("x"), json!(true), json!([1, "a"]), json!({"a": 1}), json!(null)];
    let odd = random.of(&odd).clone();
    match random.below(5) {
        0 => object["unknown"] = odd,
        1 => object["metadata"]["labels"] = json!({"a": odd}),
        2 => object["metadata"]["finalizers"] = json!(["a", odd]),
        3 => object["metadata"]["ownerReferences"] = json!([odd]),
        _ => object["metadata"]["managedFields"] = json!([]),
    }
}
