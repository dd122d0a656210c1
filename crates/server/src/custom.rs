//! Custom resources: what a definition makes of requests and of objects.
//!
//! A definition is read when it is served; the schemas of its versions are compiled when somebody first needs them, so a
//! definition that nobody uses costs little more than its bytes.

mod definition;
mod form;
mod strategy;
mod table;
mod versions;

pub(crate) use definition::{Definition, Version};
pub(crate) use rolewright_crd::metadata::Malformed;
pub(crate) use versions::Versions;

use crate::facts::Handling;

/// What may be done with custom resources.
pub(crate) const VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// What may be done while the definition goes.
const LAST_VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "watch"];

/// What may be done with their subresources.
const PART_VERBS: &[&str] = &["get", "patch", "update"];

const fn handling(reset_fields: &'static [&'static str]) -> Handling {
    Handling {
        create_on_update: false,
        unconditional_update: false,
        returns_deleted: false,
        graceful_delete: false,
        collected: true,
        orphans: false,
        reset_fields,
    }
}

/// Objects as a whole, where their status is a part of its own and where it is not; and that status.
const WHOLE: Handling = handling(&[]);
const BUT_STATUS: Handling = handling(&["status"]);
const STATUS: Handling = handling(&["metadata", "spec"]);
