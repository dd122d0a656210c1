//! What happens to the new form of an object before it replaces the stored one.

use super::create::settle_namespace;
use super::{Candidate, Object, Rules, fields, metadata, segment_name};
use crate::status::Failure;

/// Makes an update ready to be stored, or says why it cannot be. `subresource` is `""` for the object as a whole.
///
/// The object must name the version that it replaces, see [`settle_version`](super::settle_version).
pub fn before_update<'a>(
    rules: impl Into<Rules<'a>>,
    subresource: &str,
    object: &mut Object,
    old: &Object,
) -> Result<(), Failure> {
    let rules = rules.into();
    settle_namespace(rules, object, fields::text(old, &["metadata", "namespace"]))?;
    fields::keep(object, old, &["metadata", "generation"]);
    match subresource {
        "" => rules.strategy.prepare_update(object, old),
        subresource => rules.strategy.prepare_subresource(subresource, object, old),
    }
    keep_system_fields(object, old);

    let mut errors = metadata::faults(object, rules.namespaced, segment_name);
    errors.extend(metadata::change_faults(object, old));
    let new = Candidate::new(rules, object);
    errors.extend(match subresource {
        "" => rules.strategy.check_update(&new, old),
        subresource => rules.strategy.check_subresource(subresource, &new, old),
    });
    if !errors.is_empty() {
        return Err(rules.invalid(object, &errors));
    }
    rules.strategy.canonicalize(object);
    Ok(())
}

/// What an update may leave out, and what it cannot change.
fn keep_system_fields(object: &mut Object, old: &Object) {
    for (field, always) in [
        ("uid", false),
        ("creationTimestamp", true),
        ("deletionTimestamp", true),
        ("deletionGracePeriodSeconds", false),
    ] {
        let path = ["metadata", field];
        let missing = fields::get(object, &path).is_none_or(|value| value == "");
        if (always || missing) && fields::get(old, &path).is_some() {
            fields::keep(object, old, &path);
        }
    }
}
