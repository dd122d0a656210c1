//! What a body claims to be.

use rolewright_core::RBAC_GROUP;
use serde_json::Value;

use super::Node;
use super::protobuf::Envelope;
use super::{Gvk, text, typed};
use crate::facts::{self, Type};
use crate::strategy::Object;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "group, version and kind are the words for it")]
pub(super) struct Kind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
}

impl From<Gvk<'_>> for Kind {
    fn from(gvk: Gvk<'_>) -> Self {
        Self { group: gvk.group.to_owned(), version: gvk.version.to_owned(), kind: gvk.kind.to_owned() }
    }
}

/// What the API server says about bodies without a readable kind.
pub(super) fn unreadable(error: impl std::fmt::Display) -> String {
    format!("couldn't get version/kind; json parse error: {error}")
}

/// Group and version as objects have it.
pub(super) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

impl Kind {
    /// The kind of a document. Go looks for it without regard to case, unlike for anything else.
    pub(super) fn of(node: Node<'_>) -> Result<(Self, Node<'_>), String> {
        let members = match &node {
            Node::Null => return Ok((Self::default(), node)),
            Node::Object(members) => members,
            node => {
                return Err(unreadable(format!(
                    "json: cannot unmarshal {} into Go value of type {STRUCT}",
                    node.form()
                )));
            }
        };
        let (mut api_version, mut kind) = ("", "");
        let mut fault = None;
        for (key, node) in members {
            let (slot, name) = match key {
                key if folds_to(key, "kind") => (&mut kind, "kind"),
                key if folds_to(key, "apiversion") => (&mut api_version, "apiVersion"),
                _ => continue,
            };
            match node {
                Node::String(text) => *slot = text,
                Node::Null => {}
                node => {
                    fault.get_or_insert_with(|| {
                        let form = node.form();
                        unreadable(format!("json: cannot unmarshal {form} into Go struct field .{name} of type string"))
                    });
                }
            }
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        let (group, version) = split(api_version)?;
        let found = Self { group, version, kind: kind.to_owned() };
        Ok((found, node))
    }

    pub(super) fn of_envelope(envelope: &Envelope<'_>) -> Self {
        let (group, version) = split(&envelope.api_version).unwrap_or_default();
        Self { group, version, kind: envelope.kind.clone() }
    }

    /// What is missing is as the default has it.
    pub(super) fn or(mut self, default: &Self) -> Self {
        if self.kind.is_empty() {
            self.kind.clone_from(&default.kind);
        }
        if self.version.is_empty() && (self.group.is_empty() || self.group == default.group) {
            self.group.clone_from(&default.group);
            self.version.clone_from(&default.version);
        }
        self
    }

    /// The same for protobuf, which takes group and version together.
    pub(super) fn or_protobuf(mut self, default: &Self) -> Self {
        if self.kind.is_empty() {
            self.kind.clone_from(&default.kind);
        }
        if self.version.is_empty() {
            self.group.clone_from(&default.group);
            self.version.clone_from(&default.version);
        }
        self
    }

    /// The type, where the server that expects `expected` knows the kind.
    pub(super) fn ty(&self, expected: Gvk<'_>) -> Option<&'static Type> {
        let same_server = scheme(&self.group) == scheme(expected.group);
        // Old versions of RBAC are not served any more, but Kubernetes still reads them before it says so.
        let old = self.group == RBAC_GROUP && ["v1alpha1", "v1beta1"].contains(&self.version.as_str());
        let version = if old { "v1" } else { &self.version };
        facts::type_of(&self.group, version, &self.kind).filter(|_| same_server)
    }

    /// That nobody knows the kind.
    pub(super) fn unregistered(&self, expected_group: &str) -> String {
        let (kind, version) = (text::quote(&self.kind), text::quote(&api_version(&self.group, &self.version)));
        format!("no kind {kind} is registered for version {version} in scheme \"{}\"", scheme(expected_group))
    }

    /// That an object of this kind is none of the kind that was expected, if it is not.
    pub(super) fn no_conversion(&self, ty: &Type, expected: Gvk<'_>) -> Option<String> {
        let package = package(expected.group);
        let other = self.kind != expected.kind || self::package(&self.group) != package;
        other.then(|| no_conversion(ty, &format!("{package}.{}", expected.kind)))
    }

    /// The object with its kind.
    pub(super) fn stamp(&self, value: Value) -> Object {
        super::stamp(value, api_version(&self.group, &self.version), self.kind.clone())
    }
}

/// Each of the servers behind kube-apiserver has a scheme of its own, named after the line that makes it.
fn scheme(group: &str) -> &'static str {
    match group {
        "apiextensions.k8s.io" => "pkg/apiserver/apiserver.go:55",
        "meta.k8s.io" => "pkg/apis/meta/internalversion/scheme/register.go:27",
        "apiregistration.k8s.io" => "pkg/apiserver/scheme/scheme.go:28",
        _ => "pkg/api/legacyscheme/scheme.go:30",
    }
}

/// That there is no way from one type to another.
pub(super) fn no_conversion(from: &Type, to: &str) -> String {
    format!("converting ({}) to ({to}): unknown conversion", typed::qualified_name(from))
}

/// The package of a group's types in the form in which the server works with them. Events are in two groups.
fn package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split_once('.').map_or(group, |(first, _)| first),
    }
}

fn split(api_version: &str) -> Result<(String, String), String> {
    match api_version.split_once('/') {
        _ if api_version == "/" => Ok(Default::default()),
        None => Ok((String::new(), api_version.to_owned())),
        Some((_, rest)) if rest.contains('/') => Err(format!("unexpected GroupVersion string: {api_version}")),
        Some((group, version)) => Ok((group.to_owned(), version.to_owned())),
    }
}

/// Case in the sense of Go, for which two letters beyond ASCII are the same as `k` and `s`.
fn folds_to(key: &str, lower: &str) -> bool {
    let fold = |c: char| match c {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        c => c.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(lower.chars())
}

const STRUCT: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
