//! What happens to a new object before it is stored.

use super::{Candidate, Object, Rules, fields, metadata, segment_name};
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
pub fn before_create<'a>(rules: impl Into<Rules<'a>>, object: &mut Object, namespace: &str) -> Result<(), Failure> {
    let rules = rules.into();
    settle_namespace(rules, object, namespace)?;
    rules.strategy.prepare_create(object);
    let mut errors = rules.strategy.check_create(&Candidate::new(rules, object));
    if errors.is_empty() {
        errors = metadata::faults(object, rules.namespaced, segment_name);
    }
    if !errors.is_empty() {
        return Err(rules.invalid(object, &errors));
    }
    rules.strategy.canonicalize(object);
    Ok(())
}

/// Puts the object into the request's namespace, unless it says that it belongs into another one.
pub(super) fn settle_namespace(rules: Rules<'_>, object: &mut Object, namespace: &str) -> Result<(), Failure> {
    let expected = if rules.namespaced { namespace } else { "" };
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
