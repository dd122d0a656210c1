//! Objects of custom kinds: read as they are, then brought into the form of their definition.

use serde_json::Value;

use super::{Decoded, Gvk, Kind, MEDIA_TYPES, Media, Refusal, kind, media, text, tree, typed, yaml};
use crate::query::FieldValidation;
use crate::status::Failure;
use crate::strategy::Object;

/// Reads the object of a create or update. `coerce` brings it into form, and returns what it dropped.
pub(crate) fn decode_untyped(
    content_type: Option<&str>,
    body: &[u8],
    expected: Gvk<'_>,
    validation: FieldValidation,
    coerce: impl FnOnce(&mut Object) -> Result<Vec<String>, String>,
) -> Result<Decoded, Failure> {
    let unread = |error: String| Refusal { kind: None, error }.into_failure(expected, body);
    let strict = validation != FieldValidation::Ignore;
    let (node, mut faults) = match media(content_type)? {
        Media::Json => (tree::parse(body).map_err(|error| unread(kind::unreadable(error)))?, Vec::new()),
        Media::Yaml => {
            let yaml = yaml::parse(body).map_err(unread)?;
            let repeated = (!yaml.duplicates.is_empty())
                .then(|| format!("yaml: unmarshal errors:\n  {}", yaml.duplicates.join("\n  ")));
            (yaml.node, repeated.into_iter().collect())
        }
        Media::Protobuf => {
            let names: Vec<&str> = MEDIA_TYPES.iter().map(|(name, _)| *name).collect();
            return Err(Failure::unsupported_media(&names));
        }
    };
    let (found, node) = Kind::of(node).map_err(unread)?;
    if found.kind.is_empty() {
        return Err(unread(format!("Object 'Kind' is missing in '{}'", text::lossy(body))));
    }
    let refuse = |error: String| Refusal { kind: Some(found.clone()), error }.into_failure(expected, body);
    let loose = typed::conform_loose(node, strict).map_err(refuse)?;
    faults.extend(loose.strict);
    let Value::Object(object) = loose.value else { return Err(refuse("it is no object".to_owned())) };
    let mut object = found.stamp(Value::Object(object));
    let dropped = coerce(&mut object).map_err(refuse)?;
    faults.extend(dropped.iter().map(|path| format!("unknown field \"{path}\"")));
    if validation == FieldValidation::Strict && !faults.is_empty() {
        return Err(refuse(format!("strict decoding error: {}", faults.join(", "))));
    }
    if (found.group.as_str(), found.version.as_str()) != (expected.group, expected.version) {
        let wanted = kind::api_version(expected.group, expected.version);
        return Err(Failure::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({wanted})",
            kind::api_version(&found.group, &found.version)
        )));
    }
    let warnings = if strict { faults } else { Vec::new() };
    let Kind { group, version, kind } = found;
    Ok(Decoded { object, group, version, kind, warnings, forgets_managers: false })
}

/// An object of a custom kind as it is when it was written and read again: whole floats have become integers.
pub(crate) fn as_written(mut object: Object) -> Object {
    if object.values().any(typed::has_whole_floats) {
        object.values_mut().for_each(typed::write_whole_floats);
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_come_back_as_go_reads_what_it_wrote() {
        let object = json!({"a": 1.0, "b": [-0.0, 2.5, {"c": -3.0}], "d": 1e19, "e": 1e300, "f": 7, "g": 1e-7});
        let Value::Object(object) = object else { unreachable!() };
        let want = r#"{"a":1,"b":[0,2.5,{"c":-3}],"d":1e+19,"e":1e+300,"f":7,"g":1e-7}"#;
        assert_eq!(Value::Object(as_written(object)).to_string(), want);
    }
}
