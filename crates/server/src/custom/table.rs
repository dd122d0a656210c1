//! Custom resources as rows of a table.

use jiff::Timestamp;
use serde_json::Value;

use super::Version;
use crate::strategy::Object;
use crate::table;

impl Version {
    pub(crate) fn columns(&self) -> Value {
        self.compiled().columns.definitions()
    }

    pub(crate) fn cells(&self, object: &Object, now: Timestamp) -> Vec<Value> {
        self.compiled().columns.cells(object, |time| table::age(time, now))
    }
}
