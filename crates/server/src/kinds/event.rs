//! Events, which have two forms: the core group's, in which they are stored, and that of events.k8s.io.

mod form;
mod rules;

pub use form::{to_core, to_events_v1};

use rolewright_core::validate::FieldError;

use crate::strategy::{Candidate, Object, Strategy, fields};

/// The rules of events.
pub struct Event {
    /// The request is one to events.k8s.io, whose rules are stricter. Its objects may have either form.
    pub strict: bool,
}

impl Strategy for Event {
    fn check_create(&self, new: &Candidate<'_>) -> Vec<FieldError> {
        if !self.strict {
            return rules::common(new.object, "reportingComponent");
        }
        let event = to_core(new.object);
        [rules::common(&event, "reportingController"), new.metadata(), rules::strict(&event)].concat()
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        if !self.strict {
            return rules::common(new.object, "reportingComponent");
        }
        let event = to_core(new.object);
        let change = rules::change(&event, &to_core(old));
        [rules::common(&event, "reportingController"), new.metadata_change(old), change].concat()
    }

    /// Kubernetes has one type for both forms, and names it by its first group.
    fn failure_group(&self) -> Option<&'static str> {
        Some("")
    }

    fn selectable(&self) -> &'static [&'static str] {
        if self.strict { STRICT_FIELDS } else { CORE_FIELDS }
    }

    /// The text in an event of either form.
    fn select(&self, object: &Object, field: &str) -> String {
        let first = |paths: &[&[&str]]| {
            let found = paths.iter().map(|path| fields::text(object, path)).find(|text| !text.is_empty());
            found.unwrap_or_default().to_owned()
        };
        let controller: [&[&str]; 2] = [&["reportingComponent"], &["reportingController"]];
        match field {
            "reportingComponent" | "reportingController" => first(&controller),
            "source" => match first(&[&["source", "component"], &["deprecatedSource", "component"]]) {
                none if none.is_empty() => first(&controller),
                source => source,
            },
            field => match field.split_once('.') {
                Some((_, part)) => first(&[&["involvedObject", part], &["regarding", part]]),
                None => first(&[&[field]]),
            },
        }
    }
}

const CORE_FIELDS: &[&str] = &[
    "involvedObject.apiVersion",
    "involvedObject.fieldPath",
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.resourceVersion",
    "involvedObject.uid",
    "reason",
    "reportingComponent",
    "source",
    "type",
];

const STRICT_FIELDS: &[&str] = &[
    "reason",
    "regarding.apiVersion",
    "regarding.fieldPath",
    "regarding.kind",
    "regarding.name",
    "regarding.namespace",
    "regarding.resourceVersion",
    "regarding.uid",
    "reportingController",
    "type",
];
