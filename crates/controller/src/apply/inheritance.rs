//! From one controller to the next: what the one wrote becomes the other's, so that it goes when the other no longer says
//! it.

use rolewright_plan::Name;
use rolewright_plan::vocabulary::manager;
use serde_json::{Map, Value, json};

/// The `managedFields` of an object in which what our predecessors wrote is ours; `None` if there is nothing to inherit, or
/// the object is another.
pub(super) fn merged(object: &Value, uid: &Name) -> Option<Value> {
    let metadata = object.get("metadata")?;
    metadata.get("uid").filter(|there| **there == uid.as_str())?;
    let entries = metadata.get("managedFields")?.as_array()?;
    let (ours, kept): (Vec<&Value>, Vec<&Value>) =
        entries.iter().partition(|entry| is_ours(entry) || is_inherited(entry));
    if !ours.iter().any(|entry| is_inherited(entry)) {
        return None;
    }
    let mut fields = Map::new();
    for entry in &ours {
        if let Some(more) = entry.get("fieldsV1").and_then(Value::as_object) {
            unite(&mut fields, more);
        }
    }
    let first = ours.first()?;
    let mut entry = json!({
        "manager": manager::ROLEWRIGHT,
        "operation": "Apply",
        "apiVersion": first.get("apiVersion"),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    });
    if let (Some(entry), Some(time)) = (entry.as_object_mut(), first.get("time")) {
        entry.insert("time".to_owned(), time.clone());
    }
    Some(kept.into_iter().cloned().chain([entry]).collect())
}

fn says(entry: &Value, manager: &str, operation: &str) -> bool {
    entry.get("manager").is_some_and(|value| value == manager)
        && entry.get("operation").is_some_and(|value| value == operation)
        && entry.get("subresource").is_none()
}

fn is_ours(entry: &Value) -> bool {
    says(entry, manager::ROLEWRIGHT, "Apply")
}

fn is_inherited(entry: &Value) -> bool {
    manager::UPSTREAM.iter().copied().flatten().any(|upstream| says(entry, upstream, "Update"))
}

/// The fields of both, as deep as they go.
fn unite(fields: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        match (fields.get_mut(name).and_then(Value::as_object_mut), value) {
            (Some(there), Value::Object(more)) => unite(there, more),
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    fn object(entries: &[Value]) -> Value {
        json!({"metadata": {"uid": "1", "managedFields": entries}})
    }

    #[test]
    fn what_predecessors_wrote_becomes_ours_and_nothing_else() {
        let kubectl = entry("kubectl", "Update", &json!({"f:metadata": {"f:labels": {"f:theirs": {}}}}));
        let theirs = entry("crossplane", "Update", &json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:rules": {}}));
        let ours = entry("rolewright", "Apply", &json!({"f:metadata": {"f:labels": {"f:b": {}}}}));
        let both =
            entry("rolewright", "Apply", &json!({"f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}}, "f:rules": {}}));
        let uid = Name::new("1");
        let merged = |entries: &[Value]| merged(&object(entries), &uid);
        assert_eq!(merged(&[kubectl.clone(), theirs.clone(), ours.clone()]), Some(json!([kubectl.clone(), both])));
        assert_eq!(merged(&[kubectl, ours]), None, "nothing to inherit");
        assert_eq!(super::merged(&object(&[theirs]), &Name::new("2")), None, "another object");
    }
}
