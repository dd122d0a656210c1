//! Operations on objects, before it is known where.

use super::operation::{Answers, Body, OBJECT};
use super::parameter::{FORCE, Parameter, WRITE};
use crate::facts::{Type, type_named, type_of};

/// An operation on its way to a path.
pub(super) struct Draft {
    pub(super) method: &'static str,
    /// What the id starts and ends with; the name of the group and version and that of the kind are in between.
    pub(super) id: (&'static str, String),
    pub(super) action: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) answer: Answers,
}

/// The type of a kind that all groups share.
pub(super) fn shared(kind: &str) -> Option<&'static Type> {
    type_of("meta.k8s.io", "v1", kind)
}

pub(super) fn answer(codes: &'static [u16], ty: Option<&'static Type>) -> Answers {
    Answers { codes, media: OBJECT, ty }
}

/// Reading, replacing and patching of an object or a part of it.
pub(super) fn verbs_on(verbs: &[&str], ty: &'static Type, end: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if verbs.contains(&"get") {
        drafts.push(Draft {
            method: "get",
            id: ("read", end.to_owned()),
            action: "get",
            parameters: Vec::new(),
            body: None,
            answer: answer(&[200], Some(ty)),
        });
    }
    if verbs.contains(&"update") {
        drafts.push(Draft {
            method: "put",
            id: ("replace", end.to_owned()),
            action: "put",
            parameters: WRITE.to_vec(),
            body: Some(Body::Object(ty)),
            answer: answer(&[200, 201], Some(ty)),
        });
    }
    if verbs.contains(&"patch") {
        drafts.push(Draft {
            method: "patch",
            id: ("patch", end.to_owned()),
            action: "patch",
            parameters: WRITE.iter().copied().chain([FORCE]).collect(),
            body: type_named("io.k8s.apimachinery.pkg.apis.meta.v1.Patch").map(Body::Patch),
            answer: answer(&[200, 201], Some(ty)),
        });
    }
    drafts
}

pub(super) fn create(ty: &'static Type, end: String) -> Draft {
    Draft {
        method: "post",
        id: ("create", end),
        action: "post",
        parameters: WRITE.to_vec(),
        body: Some(Body::Object(ty)),
        answer: answer(&[200, 201, 202], Some(ty)),
    }
}
