//! stub
use serde_json::{Value, json};
use crate::facts::Resource;
use crate::strategy::Object;
pub fn columns(_: &'static Resource) -> Value { json!([]) }
pub fn cells(_: &'static Resource, _: &Object, _: jiff::Timestamp) -> Vec<Value> { vec![] }
