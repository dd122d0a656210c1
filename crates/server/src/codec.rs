//! From the bytes of a request to an object that conforms to its type, as kube-apiserver reads it.

mod kind;
mod ordered;
mod protobuf;
mod quantity;
mod restore;
mod stored;
mod time;
mod typed;
mod untyped;

pub(crate) use rolewright_api::document::{MAX_DEPTH, json, tree};
use rolewright_api::document::{Node, base64, text, yaml};
use serde_json::Value;

use crate::facts;
pub use crate::query::FieldValidation;
use crate::status::Failure;
use crate::strategy::Object;
pub(crate) use base64::from_url;
use kind::Kind;
pub(crate) use ordered::ordered;
pub(crate) use restore::restore_fault;
pub(crate) use stored::as_stored;
pub(crate) use text::{lossy, number as number_text};
pub(crate) use typed::empty;
pub use typed::{Conformed, conform};
pub(crate) use untyped::{as_written, decode_untyped};

/// The kind that a request must have in its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gvk<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The kind.
    pub kind: &'a str,
}

/// An object from a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The object with `apiVersion` and `kind`.
    pub object: Object,
    /// The group of the object.
    pub group: String,
    /// The version of the object.
    pub version: String,
    /// The kind of the object.
    pub kind: String,
    /// What the client should know.
    pub warnings: Vec<String>,
    /// The body has `metadata.managedFields` without any entry: who manages what is to be forgotten.
    pub forgets_managers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Media {
    Json,
    Yaml,
    Protobuf,
}

const MEDIA_TYPES: &[(&str, Media)] = &[
    ("application/json", Media::Json),
    ("application/yaml", Media::Yaml),
    ("application/vnd.kubernetes.protobuf", Media::Protobuf),
];

/// A request without a type of content is JSON.
fn media(content_type: Option<&str>) -> Result<Media, Failure> {
    let Some(content_type) = content_type.filter(|content_type| !content_type.is_empty()) else {
        return Ok(Media::Json);
    };
    let essence = content_type.split_once(';').map_or(content_type, |(essence, _)| essence).trim();
    MEDIA_TYPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(essence)).map(|(_, media)| *media).ok_or_else(|| {
        let names: Vec<&str> = MEDIA_TYPES.iter().map(|(name, _)| *name).collect();
        Failure::unsupported_media(&names)
    })
}

/// Reads the object of a create or update.
pub fn decode(
    content_type: Option<&str>,
    body: &[u8],
    expected: Gvk<'_>,
    validation: FieldValidation,
) -> Result<Decoded, Failure> {
    let media = media(content_type)?;
    let strict = validation != FieldValidation::Ignore;
    let read = read(media, body, expected, strict).map_err(|refusal| refusal.into_failure(expected, body))?;
    if validation == FieldValidation::Strict
        && let Some(error) = read.strict_error()
    {
        return Err(Refusal { kind: Some(read.kind), error }.into_failure(expected, body));
    }
    let Kind { group, version, kind } = read.kind;
    if (group.as_str(), version.as_str()) != (expected.group, expected.version) {
        let (found, wanted) =
            (kind::api_version(&group, &version), kind::api_version(expected.group, expected.version));
        return Err(Failure::bad_request(format!(
            "the API version in the data ({found}) does not match the expected API version ({wanted})"
        )));
    }
    let warnings = read.duplicates.into_iter().chain(read.strict).collect();
    Ok(Decoded { object: read.object, group, version, kind, warnings, forgets_managers: read.forgets_managers })
}

/// What Go says of bytes that are no JSON.
pub(crate) fn syntax(bytes: &[u8]) -> Result<(), String> {
    tree::parse::<Node<'_>>(bytes).map(|_| ())
}

/// Reads the options in the body of a delete. They may name any version, and nothing about them is strict.
pub fn decode_options(content_type: Option<&str>, body: &[u8], kind: &str) -> Result<Object, Failure> {
    let media = media(content_type)?;
    options(media, body, kind).map_err(Failure::bad_request)
}

fn options(media: Media, body: &[u8], kind: &str) -> Result<Object, String> {
    let ty = facts::type_of("meta.k8s.io", "v1", kind).ok_or_else(|| format!("no kind \"{kind}\""))?;
    let default = Kind { group: "meta.k8s.io".to_owned(), version: "v1".to_owned(), kind: kind.to_owned() };
    let (found, node) = match media {
        Media::Json => Kind::of(tree::parse(body).map_err(kind::unreadable)?)?,
        Media::Yaml => Kind::of(yaml::parse(body)?.node)?,
        Media::Protobuf => {
            let envelope = protobuf::open(body)?;
            (Kind::of_envelope(&envelope), protobuf::message(ty, envelope.raw)?)
        }
    };
    let found = found.or(&default);
    if found.kind != kind {
        return Err(match facts::type_of("meta.k8s.io", "v1", &found.kind) {
            Some(other) => kind::no_conversion(other, &typed::qualified_name(ty)),
            None => found.unregistered("meta.k8s.io"),
        });
    }
    let conformed = typed::conform_node(ty, node, false)?;
    Ok(found.stamp(conformed.value))
}

/// What a client applies: not yet of any type.
pub(crate) struct Configuration {
    pub(crate) object: Object,
    /// Keys that come twice.
    repeated: Vec<String>,
}

impl Configuration {
    /// What strict clients are told, and others are warned of.
    pub(crate) fn strict_error(&self) -> Option<(String, &[String])> {
        let lines = self.repeated.join("\n  ");
        let error = format!("error converting YAML to JSON: yaml: unmarshal errors:\n  {lines}");
        (!self.repeated.is_empty()).then_some((error, self.repeated.as_slice()))
    }
}

/// Reads an applied configuration.
pub(crate) fn decode_configuration(body: &[u8]) -> Result<Configuration, String> {
    let yaml = yaml::parse(body).map_err(|error| format!("error converting YAML to JSON: {error}"))?;
    let undecoded = |why: String| format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {why}");
    let object = match yaml.node {
        Node::Null => Object::new(),
        node @ Node::Object(_) => match node.into_value() {
            Ok(Value::Object(object)) => object,
            Ok(_) => Object::new(),
            Err(literal) => return Err(undecoded(format!("number {literal} into Go value of type float64"))),
        },
        other => return Err(undecoded(format!("{} into Go value of type map[string]interface {{}}", other.form()))),
    };
    Ok(Configuration { object, repeated: yaml.duplicates })
}

struct Read {
    object: Object,
    kind: Kind,
    /// Keys of YAML that come twice.
    duplicates: Vec<String>,
    strict: Vec<String>,
    forgets_managers: bool,
}

impl Read {
    /// What there is to say against the body in the strict sense, as one text.
    fn strict_error(&self) -> Option<String> {
        let duplicates = (!self.duplicates.is_empty())
            .then(|| format!("yaml: unmarshal errors:\n  {}", self.duplicates.join("\n  ")));
        let parts: Vec<&str> = duplicates.iter().chain(&self.strict).map(String::as_str).collect();
        (!parts.is_empty()).then(|| format!("strict decoding error: {}", parts.join(", ")))
    }
}

/// Why a body is not what was expected.
struct Refusal {
    /// What the body claims to be, where that could be read.
    kind: Option<Kind>,
    error: String,
}

impl Refusal {
    fn into_failure(self, expected: Gvk<'_>, body: &[u8]) -> Failure {
        let (wanted, error) = (expected.kind, self.error);
        match self.kind {
            Some(Kind { version, kind, .. }) => Failure::bad_request(format!(
                "{kind} in version {} cannot be handled as a {wanted}: {error}",
                text::quote(&version)
            )),
            None => Failure::bad_request(format!(
                "the object provided is unrecognized (must be of type {wanted}): {error} ({})",
                summary(body)
            )),
        }
    }
}

/// The first bytes of a body: as text if it may be JSON.
fn summary(body: &[u8]) -> String {
    const LENGTH: usize = 30;
    let head = body.get(..LENGTH).unwrap_or(body);
    let more = if body.len() > LENGTH { " ..." } else { "" };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", lossy(head)),
        Some(_) => {
            let hex = head.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
            format!("{hex}{more}")
        }
    }
}

fn read(media: Media, body: &[u8], expected: Gvk<'_>, strict: bool) -> Result<Read, Refusal> {
    let unread = |error| Refusal { kind: None, error };
    let expected_kind = Kind::from(expected);
    let mut duplicates = Vec::new();
    let (kind, node, raw) = match media {
        Media::Json => {
            let node = tree::parse(body).map_err(|error| unread(kind::unreadable(error)))?;
            let (kind, node) = Kind::of(node).map_err(unread)?;
            (kind.or(&expected_kind), Some(node), None)
        }
        Media::Yaml => {
            let yaml = yaml::parse(body).map_err(unread)?;
            if strict {
                duplicates = yaml.duplicates;
            }
            let (kind, node) = Kind::of(yaml.node).map_err(unread)?;
            (kind.or(&expected_kind), Some(node), None)
        }
        Media::Protobuf => {
            let envelope = protobuf::open(body).map_err(unread)?;
            (Kind::of_envelope(&envelope).or_protobuf(&expected_kind), None, Some(envelope.raw))
        }
    };
    let refuse = |kind: &Kind, error| Refusal { kind: Some(kind.clone()), error };
    if kind.version.is_empty() {
        let error = format!("Object 'apiVersion' is missing in '{}'", lossy(body));
        return Err(refuse(&kind, error));
    }
    let Some(ty) = kind.ty(expected) else {
        let error = kind.unregistered(expected.group);
        return Err(refuse(&kind, error));
    };
    let node = match (node, raw) {
        (Some(node), _) => node,
        (None, raw) => protobuf::message(ty, raw.unwrap_or_default()).map_err(|error| refuse(&kind, error))?,
    };
    let Conformed { value, strict: found, forgets_managers } =
        typed::conform_node(ty, node, strict && media != Media::Protobuf).map_err(|error| refuse(&kind, error))?;
    if let Some(error) = kind.no_conversion(ty, expected) {
        return Err(refuse(&kind, error));
    }
    Ok(Read { object: kind.stamp(value), kind, duplicates, strict: found, forgets_managers })
}

/// Sets what every object says about itself.
fn stamp(value: Value, api_version: String, kind: String) -> Object {
    let mut object = match value {
        Value::Object(object) => object,
        _ => Object::new(),
    };
    object.insert("apiVersion".to_owned(), Value::String(api_version));
    object.insert("kind".to_owned(), Value::String(kind));
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLE: Gvk<'_> = Gvk { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" };

    #[test]
    fn the_type_of_the_content_decides() {
        let json = br#"{"metadata":{"name":"a"}}"#;
        for content_type in [None, Some(""), Some("application/json"), Some("Application/JSON; charset=utf-8")] {
            let decoded = decode(content_type, json, ROLE, FieldValidation::Strict).unwrap();
            let want = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a"},"rules":null}"#;
            assert_eq!(Value::Object(decoded.object).to_string(), want);
        }
        let yaml = decode(Some("application/yaml"), b"metadata: {name: a}", ROLE, FieldValidation::Strict);
        assert_eq!(yaml.unwrap().object["metadata"]["name"], "a");
        let failure = decode(Some("text/plain"), json, ROLE, FieldValidation::Strict).unwrap_err();
        assert_eq!((failure.code, failure.reason), (415, "UnsupportedMediaType"));
        let want = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        assert!(failure.message.ends_with(want), "{failure}");
    }

    #[test]
    fn strictness_is_up_to_the_client() {
        let body = br#"{"rules":[{"verbs":["get"],"bogus":1}],"rules":null}"#;
        let found = ["unknown field \"rules[0].bogus\"", "duplicate field \"rules\""];
        assert_eq!(decode(None, body, ROLE, FieldValidation::Ignore).unwrap().warnings, [""; 0]);
        assert_eq!(decode(None, body, ROLE, FieldValidation::Warn).unwrap().warnings, found);
        let failure = decode(None, body, ROLE, FieldValidation::Strict).unwrap_err();
        let want = format!(
            "ClusterRole in version \"v1\" cannot be handled as a ClusterRole: strict decoding error: {}",
            found.join(", ")
        );
        assert_eq!((failure.code, failure.message), (400, want));
    }

    #[test]
    fn options_may_name_any_version() {
        for body in [
            r#"{"gracePeriodSeconds":5}"#,
            r#"{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"bogus":1}"#,
            r#"{"kind":"DeleteOptions","apiVersion":"rbac.authorization.k8s.io/v1","gracePeriodSeconds":5}"#,
        ] {
            let options = decode_options(None, body.as_bytes(), "DeleteOptions").unwrap();
            assert_eq!(options["gracePeriodSeconds"], 5, "{body}");
        }
        assert!(decode_options(None, b"{\"gracePeriodSeconds\":\"5\"}", "DeleteOptions").is_err());
    }
}
