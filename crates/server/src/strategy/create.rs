//! What happens to a new object before it is stored.

use super::{Candidate, Object, fields, metadata, segment_name};
use crate::facts::Resource;
use crate::kinds;
use crate::status::Failure;

/// Takes away what only the server may say about an object; the server does so to whatever a client wants to create.
pub fn wipe_system_fields(object: &mut Object) {
    for field in ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        fields::remove(object, &["metadata", field]);
    }
}

/// Takes away where the object says that it is: nobody stores that any more.
pub(crate) fn forget_link(object: &mut Object) {
    fields::remove(object, &["metadata", "selfLink"]);
}

/// Makes a new object ready to be stored, or says why it cannot be.
///
/// It must have its uid, its time of creation and, where it asks for a generated one, its name. `namespace` is that of
/// the request, `""` for none.
pub fn before_create(resource: &Resource, object: &mut Object, namespace: &str) -> Result<(), Failure> {
    settle_namespace(resource, object, namespace)?;
    let rules = kinds::strategy(resource.group, resource.plural);
    rules.prepare_create(object);
    let mut errors = rules.check_create(&Candidate::new(resource, rules, object));
    if errors.is_empty() {
        errors = metadata::faults(object, resource.namespaced, segment_name);
    }
    if !errors.is_empty() {
        let group = rules.failure_group().unwrap_or(resource.group);
        return Err(Failure::invalid(group, resource.kind, fields::text(object, &["metadata", "name"]), &errors));
    }
    rules.canonicalize(object);
    Ok(())
}

/// Puts the object into the request's namespace, unless it says that it belongs into another one.
pub(super) fn settle_namespace(resource: &Resource, object: &mut Object, namespace: &str) -> Result<(), Failure> {
    let expected = if resource.namespaced { namespace } else { "" };
    let path = ["metadata", "namespace"];
    let given = fields::text(object, &path);
    if given != expected && !given.is_empty() && !expected.is_empty() {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    fields::set_text(object, &path, expected);
    Ok(())
}
