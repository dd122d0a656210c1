//! What is left of an object when Kubernetes has stored it: protobuf knows no empty lists and maps.

use serde_json::Value;

use crate::facts::{Field, Shape, Ty, Type};
use crate::strategy::Object;

/// Drops empty lists and maps as storing them as protobuf does. Where Go writes absent ones, they become `null`.
pub(crate) fn as_stored(ty: &'static Type, object: &mut Object) {
    let Shape::Struct(_) = ty.shape else { return };
    for field in ty.fields().filter(|field| !field.inline) {
        let Some(value) = object.get_mut(field.name) else { continue };
        if is_empty(field, value) {
            if field.omitempty {
                object.remove(field.name);
            } else {
                *value = Value::Null;
            }
            continue;
        }
        within(field.ty, value);
    }
}

fn within(ty: Ty, value: &mut Value) {
    match (ty, value) {
        (Ty::Ref(ty), Value::Object(object)) => as_stored(ty, object),
        (Ty::List(item), Value::Array(items)) => items.iter_mut().for_each(|value| within(*item, value)),
        (Ty::Map(item), Value::Object(members)) => members.values_mut().for_each(|value| within(*item, value)),
        _ => {}
    }
}

fn is_empty(field: &Field, value: &Value) -> bool {
    match (field.ty, value) {
        (Ty::List(_), Value::Array(items)) => items.is_empty(),
        (Ty::Map(_), Value::Object(members)) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::type_of;

    #[test]
    fn empty_lists_are_gone_and_empty_structs_stay() {
        for (group, kind, given, stored) in [
            ("rbac.authorization.k8s.io", "Role", json!({"rules": []}), json!({"rules": null})),
            ("rbac.authorization.k8s.io", "RoleBinding", json!({"subjects": []}), json!({})),
            ("", "ConfigMap", json!({"data": {}, "metadata": {"labels": {}}}), json!({"metadata": {}})),
            (
                "",
                "Pod",
                json!({"spec": {"containers": [{"name": "c", "args": [], "resources": {}}], "securityContext": {}}}),
                json!({"spec": {"containers": [{"name": "c", "resources": {}}], "securityContext": {}}}),
            ),
            (
                "",
                "Pod",
                json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}),
                json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}),
            ),
        ] {
            let Value::Object(mut object) = given else { panic!() };
            as_stored(type_of(group, "v1", kind).unwrap(), &mut object);
            assert_eq!(Value::Object(object), stored);
        }
    }
}
