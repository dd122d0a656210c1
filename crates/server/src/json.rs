//! Members of JSON objects.

use serde_json::Value;

/// Sets a member; a value that is no object stays as it is.
pub(crate) fn put(value: &mut Value, member: &str, to: impl Into<Value>) {
    if let Some(object) = value.as_object_mut() {
        object.insert(member.to_owned(), to.into());
    }
}
