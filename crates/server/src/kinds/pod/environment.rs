//! What is wrong with the environment of a container.

use rolewright_core::validate::{FieldError, Path, names};

use super::super::check::{Errors, config_key, each, each_item, name, named, not_found, required, within};
use super::super::read::{child, items, text};
use super::super::volumes::check_backsteps;
use super::references::{ENVIRONMENT_FIELDS, check_field_ref, check_resource_ref};
use crate::strategy::Object;

const NAME: &str = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const SEVERAL: &str = "may not have more than one field specified at a time";

fn variable_name(name: &str) -> Vec<String> {
    let good = name.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=');
    if good { Vec::new() } else { vec![NAME.to_owned()] }
}

pub(super) fn check_environment(errors: &mut Errors, container: &Object, at: Path<'_>) {
    each_item(container, "env", at, |variable, at| {
        named(errors, variable, "name", at, variable_name);
        let has_value = !text(variable, "value").is_empty();
        within(variable, "valueFrom", at, |source, at| check_source(errors, source, has_value, at));
    });
    let from = at.child("envFrom");
    each_item(container, "envFrom", at, |source, at| {
        name(errors, source, "prefix", at, variable_name);
        let mut count = 0;
        for key in ["configMapRef", "secretRef"] {
            within(source, key, at, |reference, at| {
                count += 1;
                required(errors, reference, "name", at);
                name(errors, reference, "name", at, |name| names::dns_subdomain(&names::generated_from(name)));
            });
        }
        match count {
            0 => errors.push(FieldError::invalid(from, "", "must specify one of: `configMapRef` or `secretRef`")),
            1 => {}
            _ => errors.push(FieldError::invalid(from, "", SEVERAL)),
        }
    });
}

fn check_source(errors: &mut Errors, source: &Object, has_value: bool, at: Path<'_>) {
    let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    for key in sources {
        within(source, key, at, |reference, at| match key {
            "fieldRef" => check_field_ref(errors, reference, &ENVIRONMENT_FIELDS, at),
            "resourceFieldRef" => check_resource_ref(errors, reference, false, at),
            "fileKeyRef" => {
                named(errors, reference, "key", at, variable_name);
                named(errors, reference, "volumeName", at, names::dns_label);
                required(errors, reference, "path", at);
                check_backsteps(errors, text(reference, "path"), at.child("path"));
            }
            _ => {
                let name = text(reference, "name");
                each(errors, at.child("name"), name, names::dns_subdomain(name));
                named(errors, reference, "key", at, config_key);
            }
        });
    }
    let why = match sources.iter().filter(|key| child(source, key).is_some()).count() {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        _ if has_value => "may not be specified when `value` is not empty",
        1 => return,
        _ => SEVERAL,
    };
    errors.push(FieldError::invalid(at, "", why));
}

/// Files that variables are read from lie in a directory of the pod's own.
pub(super) fn check_file_volumes(errors: &mut Errors, spec: &Object, container: &Object, at: Path<'_>) {
    each_item(container, "env", at, |variable, at| {
        let Some(file) = child(variable, "valueFrom").and_then(|source| child(source, "fileKeyRef")) else { return };
        let wanted = text(file, "volumeName");
        let from = at.child("valueFrom");
        let file = from.child("fileKeyRef");
        let at = file.child("volumeName");
        // The last one with that name counts.
        match items(spec, "volumes").filter(|volume| text(volume, "name") == wanted).last() {
            None => errors.push(not_found(at, wanted)),
            Some(volume) if child(volume, "emptyDir").is_none() => {
                errors.push(FieldError::invalid(at, wanted, "referenced volume must be of type emptyDir"));
            }
            Some(_) => {}
        }
    });
}
