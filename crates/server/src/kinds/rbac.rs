//! Roles and bindings: core judges what they hold.

mod binding;
mod role;

pub use binding::{Binding, to_binding};
pub use role::{Role, rules_to_json, to_role};

use serde_json::Value;

/// The items of a list, read one by one. The codec has seen to it that all can be read.
fn list<'a, T: Default, E>(value: Option<&'a Value>, read: impl Fn(&'a Value) -> Result<T, E>) -> Vec<T> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.map(|item| read(item).unwrap_or_default()).collect()
}
