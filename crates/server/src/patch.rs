//! Patches of the three old kinds: JSON Patch, JSON Merge Patch and strategic merge patch.

mod go;
mod json;
mod merge;
mod node;
mod strategic;
mod strict;

use rolewright_core::validate::{FieldError, Path};
use rolewright_crd::go::printed;
use serde_json::Value;

use crate::codec::{MAX_DEPTH, tree};
use crate::facts::{Ty, Type};
use crate::query::FieldValidation;
use crate::status::{Details, Failure};
use crate::strategy::Object;
use node::Node;

/// How to read a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// `application/json-patch+json`, RFC 6902.
    Json,
    /// `application/merge-patch+json`, RFC 7386.
    Merge,
    /// `application/strategic-merge-patch+json`.
    Strategic,
}

/// A patched object, before it is given the form of its type.
#[derive(Clone, Debug)]
pub struct Patched {
    /// As the patch left it: it may have unknown fields, and values of wrong types.
    pub object: Object,
    /// Repeated and unknown fields of the patch itself. They come before those of the object.
    pub strict: Vec<String>,
    shown: Shown,
}

/// What Kubernetes shows of a patch in errors.
#[derive(Clone, Debug)]
enum Shown {
    /// The patched document.
    Document(Node),
    /// The patch, without what was used up.
    Patch(Object),
}

impl Patched {
    /// The text that Kubernetes decodes next; none after a strategic merge patch, where it has values.
    pub fn text(&self) -> Option<String> {
        match &self.shown {
            Shown::Document(node) => Some(node.text()),
            Shown::Patch(_) => None,
        }
    }

    /// 422: what the patch made of the object cannot be decoded, or must not have the fields it has.
    pub fn refused(&self, why: &str) -> Failure {
        match &self.shown {
            Shown::Document(node) => undecodable(&node.text(), why),
            Shown::Patch(patch) => undecodable(&printed(patch), why),
        }
    }
}

/// Why a patch was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// 400.
    Malformed(String),
    /// 422, without a reason that would be told.
    Refused,
    /// 500, with a reason.
    Failed(String),
    /// Kubernetes crashes on this, and catches it.
    Panic,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Malformed(message) => Self::bad_request(message),
            Fault::Refused => {
                Self::new(422, "Invalid", "the server rejected our request due to an error in our request")
                    .about(Details::default())
            }
            Fault::Failed(message) => Self::new(500, "", message),
            Fault::Panic => {
                Self::new(500, "InternalError", "This request caused apiserver to panic. Look in the logs for details.")
            }
        }
    }
}

/// Applies a patch to an object of a type, or of a custom kind. Unless `checks` says to ignore it, the text of the patch is read strictly.
pub fn apply(
    kind: PatchType,
    ty: Option<&'static Type>,
    original: &Object,
    patch: &[u8],
    checks: FieldValidation,
) -> Result<Patched, Failure> {
    let strictly = checks != FieldValidation::Ignore;
    let read = tree::parse(patch).map_err(|why| match kind {
        PatchType::Json | PatchType::Merge if strictly => prefixed(&why),
        PatchType::Merge => Fault::Malformed(NOT_A_PATCH.to_owned()),
        _ => Fault::Malformed(why),
    });
    let patch = read?;
    let loose = ty.map_or(Ty::Any, Ty::Ref);
    match (kind, ty) {
        (PatchType::Json, _) => operations(loose, original, patch, strictly),
        (PatchType::Merge, _) => merged(loose, original, patch, strictly),
        (PatchType::Strategic, Some(ty)) => strategic(ty, original, &patch, strictly),
        (PatchType::Strategic, None) => Err(Failure::unsupported_media(&UNTYPED)),
    }
}

/// What custom kinds understand.
pub(crate) const UNTYPED: [&str; 3] =
    ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

const NOT_A_PATCH: &str = "Invalid JSON Patch";

fn prefixed(why: &str) -> Fault {
    Fault::Malformed(format!("error decoding patch: {why}"))
}

fn operations(ty: Ty, original: &Object, patch: Node, strictly: bool) -> Result<Patched, Failure> {
    let mut strict = Vec::new();
    if strictly {
        strict = strict::operations(&patch).map_err(|why| prefixed(&why))?;
    }
    let wanted =
        |form, ty| Fault::Malformed(format!("json: cannot unmarshal {form} into Go value of type jsonpatch.{ty}"));
    let operations = match patch {
        Node::Array(operations) => operations,
        Node::Null => Vec::new(),
        other => return Err(wanted(other.form(), "Patch").into()),
    };
    if let Some(other) = operations.iter().find(|node| !matches!(node, Node::Object(_) | Node::Null)) {
        return Err(wanted(other.form(), "Operation").into());
    }
    if operations.len() > json::MAX_OPERATIONS {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {}, got {}",
            json::MAX_OPERATIONS,
            operations.len()
        );
        return Err(Failure::new(413, "RequestEntityTooLarge", message));
    }
    let document = Node::of_object(&ty, original);
    decoded(json::apply(document, &operations)?, strict)
}

fn merged(ty: Ty, original: &Object, mut patch: Node, strictly: bool) -> Result<Patched, Failure> {
    let mut strict = Vec::new();
    if strictly {
        strict = strict::object(&patch).map_err(|why| prefixed(&why))?;
    }
    let document = match patch {
        Node::Object(_) => {
            let mut document = merge::opened(Node::of_object(&ty, original));
            merge::members(&mut document, merge::opened(patch));
            Node::Opened(document)
        }
        Node::Array(_) => {
            merge::prune(&mut patch);
            patch
        }
        _ => return Err(Failure::bad_request(NOT_A_PATCH)),
    };
    decoded(document, strict)
}

fn strategic(ty: &'static Type, original: &Object, patch: &Node, strictly: bool) -> Result<Patched, Failure> {
    let mut strict = strict::object(patch).map_err(Fault::Malformed)?;
    if !strictly {
        strict.clear();
    }
    let mut patch = match patch.value() {
        Value::Object(patch) => patch,
        _ => Object::new(),
    };
    let mut object = original.clone();
    strategic::merge(&mut object, &mut patch, ty)?;
    Ok(Patched { object, strict, shown: Shown::Patch(patch) })
}

/// The values of a document, as far as it is an object.
fn decoded(document: Node, strict: Vec<String>) -> Result<Patched, Failure> {
    if document.depth() > MAX_DEPTH {
        return Err(Fault::Refused.into());
    }
    match document.value() {
        Value::Object(object) => Ok(Patched { object, strict, shown: Shown::Document(document) }),
        _ => Err(undecodable(
            &document.text(),
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { \
             APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
        )),
    }
}

/// Loose values as Go writes them.
pub(crate) fn text_of(object: &Object) -> String {
    Node::of_object(&Ty::Any, object).text()
}

fn undecodable(shown: &str, why: &str) -> Failure {
    Failure::invalid("", "", "", &[FieldError::invalid(Path::field("patch"), shown, why)])
}

#[cfg(test)]
mod tests;
