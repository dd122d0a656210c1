//! Groups of the Kubernetes project itself need somebody's approval, told in an annotation.

use rolewright_cel::url::Url;
use rolewright_core::quote::Quoted;
use rolewright_core::validate::Path;

use super::faults::Faults;
use super::read::{self, Object};

const ANNOTATION: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// What the annotation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// Something else than where or why.
    Invalid,
    /// Where it was approved.
    Approved,
    /// Why it was not, and is wanted all the same.
    Bypassed,
    /// Nothing.
    Missing,
}

/// Whether a group belongs to the project.
pub(crate) fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// What the annotation of a definition says, and Kubernetes' words for it.
pub(crate) fn of(definition: &Object) -> (Approval, String) {
    let text = annotation(definition);
    let missing = format!("protected groups must have approval annotation {}", Quoted(ANNOTATION));
    let is_url = || Url::parse_request(text).is_ok_and(|url| !url.host.is_empty() && !url.scheme.is_empty());
    match text {
        "" => (Approval::Missing, format!("{missing}, {SEE}")),
        text if text.starts_with("unapproved") => (Approval::Bypassed, format!("not approved: {}", Quoted(text))),
        text if is_url() => (Approval::Approved, format!("approved in {text}")),
        _ => {
            let wanted = "with either a URL or a reason starting with \"unapproved\"";
            (Approval::Invalid, format!("{missing} {wanted}, {SEE}"))
        }
    }
}

fn annotation(definition: &Object) -> &str {
    let annotations = read::child(definition, "metadata").and_then(|metadata| read::child(metadata, "annotations"));
    annotations.map_or("", |annotations| read::text(annotations, ANNOTATION))
}

/// What was wrong before may stay so.
pub(super) fn check(faults: &mut Faults, definition: &Object, old: Option<&Object>) {
    let group = read::child(definition, "spec").map_or("", |spec| read::text(spec, "group"));
    if !is_protected(group) {
        return;
    }
    let (state, why) = of(definition);
    if old.is_some_and(|old| of(old).0 == state) {
        return;
    }
    let at = Path::field("metadata");
    let at = at.child("annotations");
    let at = at.key(ANNOTATION);
    match state {
        Approval::Invalid => faults.invalid(at, annotation(definition), why),
        Approval::Missing => faults.required(at, why),
        Approval::Approved | Approval::Bypassed => {}
    }
}
