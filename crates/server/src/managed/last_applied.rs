//! The annotation in which kubectl keeps what it applied before there was server-side apply.
//!
//! Who goes over to server-side apply must not be told that their own fields are somebody else's. That is only so for the
//! manager `kubectl`.

use serde_json::{Map, Value};

use super::compare::compare;
use super::set::Set;
use super::to_set::to_set;
use super::validate::validate;
use super::{Request, text};
use crate::patch;
use crate::strategy::{ANNOTATIONS_MAX, Object};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Whose annotation it is.
pub(super) const MANAGER: &str = "kubectl";

/// Fields that are as kubectl applied them last.
pub(super) fn unchanged(request: &Request<'_>, live: &Object) -> Option<Set> {
    let Ok(Value::Object(last)) = serde_json::from_str(annotation(live)?) else { return None };
    if text(&last, "apiVersion") != request.api_version || text(&last, "kind") != request.name {
        return None;
    }
    let place = request.place();
    validate(place, live, false).ok()?;
    validate(place, &last, false).ok()?;
    let changes = compare(place, &last, live).ok()?;
    let mut fields = to_set(place, &last);
    for changed in [&changes.modified, &changes.added, &changes.removed] {
        fields.subtract(changed);
    }
    Some(fields)
}

/// Where there is the annotation, it becomes the configuration that was applied now.
pub(super) fn renew(object: &mut Object, applied: &Object) {
    if annotation(object).is_none() {
        return;
    }
    let mut applied = applied.clone();
    if let Some(annotations) = annotations_of(&mut applied) {
        annotations.remove(ANNOTATION);
    }
    let Some(annotations) = annotations_of(object) else { return };
    annotations.insert(ANNOTATION.to_owned(), format!("{}\n", patch::text_of(&applied)).into());
    let size: usize = annotations.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum();
    if size > ANNOTATIONS_MAX {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Object) -> Option<&str> {
    let annotations = object.get("metadata")?.get("annotations")?;
    annotations.get(ANNOTATION)?.as_str().filter(|text| !text.is_empty())
}

fn annotations_of(object: &mut Object) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}
