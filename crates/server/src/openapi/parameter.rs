//! What requests take in their paths and queries.

use serde_json::{Value, json};

use crate::facts::{Ty, Type};

/// A parameter of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parameter {
    name: &'static str,
    /// Part of the path and not of the query.
    in_path: bool,
    ty: &'static str,
}

const fn text(name: &'static str) -> Parameter {
    Parameter { name, in_path: false, ty: "string" }
}

const fn number(name: &'static str) -> Parameter {
    Parameter { name, in_path: false, ty: "integer" }
}

const fn flag(name: &'static str) -> Parameter {
    Parameter { name, in_path: false, ty: "boolean" }
}

/// A part of the path.
pub(super) const fn part(name: &'static str) -> Parameter {
    Parameter { name, in_path: true, ty: "string" }
}

/// What every request about objects takes.
pub(super) const PRETTY: Parameter = text("pretty");
/// What requests that write an object take.
pub(super) const WRITE: &[Parameter] = &[text("dryRun"), text("fieldManager"), text("fieldValidation")];
/// What patches take as well.
pub(super) const FORCE: Parameter = flag("force");
/// What lists and watches take.
pub(super) const LIST: &[Parameter] = &[
    flag("allowWatchBookmarks"),
    text("continue"),
    text("fieldSelector"),
    text("labelSelector"),
    number("limit"),
    text("resourceVersion"),
    text("resourceVersionMatch"),
    flag("sendInitialEvents"),
    text("shardSelector"),
    number("timeoutSeconds"),
    flag("watch"),
];
/// What reading an object takes, where it is said at all.
pub(super) const VERSION: &[Parameter] = &[text("resourceVersion")];
/// What deletions take.
pub(super) const DELETE: &[Parameter] = &[
    text("dryRun"),
    number("gracePeriodSeconds"),
    flag("ignoreStoreReadErrorWithClusterBreakingPotential"),
    flag("orphanDependents"),
    text("propagationPolicy"),
];

/// What deletions of many objects take: those of a list as well, except what makes it a watch.
pub(super) fn delete_many() -> impl Iterator<Item = Parameter> {
    let listing = LIST.iter().filter(|one| !matches!(one.name, "allowWatchBookmarks" | "watch"));
    listing.chain(DELETE).copied()
}

/// The fields of an options type as query parameters; times cannot be written there.
pub(super) fn options(ty: &'static Type) -> impl Iterator<Item = Parameter> {
    ty.fields().filter(|field| !matches!(field.name, "kind" | "apiVersion")).filter_map(|field| {
        let ty = match field.ty {
            Ty::List(item) => *item,
            ty => ty,
        };
        match ty {
            Ty::Bool => Some(flag(field.name)),
            Ty::Int32 | Ty::Int64 | Ty::Uint32 => Some(number(field.name)),
            Ty::String => Some(text(field.name)),
            _ => None,
        }
    })
}

impl Parameter {
    pub(super) fn to_json(self) -> Value {
        let schema = json!({"type": self.ty, "uniqueItems": true});
        if self.in_path {
            json!({"name": self.name, "in": "path", "required": true, "schema": schema})
        } else {
            json!({"name": self.name, "in": "query", "schema": schema})
        }
    }
}
