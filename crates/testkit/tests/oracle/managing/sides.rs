//! Our side of a life: what describes its object in each step.

use std::fmt;

use rolewright_crd::Schema;
use rolewright_server::facts::{self, Resource, Type};
use rolewright_server::kinds::versions::{BuiltInVersions, reset_fields};
use rolewright_server::managed::{self, Converted, Kind, Request, Unconverted, Version, Versions};
use serde_json::Value;

use super::{Life, Object, Step};

/// The versions of the kind of a life.
pub(super) enum Kinds<'a> {
    BuiltIn(&'a Life),
    Custom { life: &'a Life, versions: Vec<CustomVersion<'a>> },
}

pub(super) struct CustomVersion<'a> {
    name: &'a str,
    schema: Schema,
    has_status: bool,
}

/// The versions of a custom kind, as a step sees them.
struct CustomVersions<'a> {
    versions: &'a [CustomVersion<'a>],
    step: &'a Step,
}

impl CustomVersions<'_> {
    fn find(&self, name: &str) -> Option<Version<'_>> {
        let version = self.versions.iter().find(|version| version.name == name)?;
        let reset_fields: &[&str] = match (self.step.subresource.as_str(), version.has_status) {
            ("status", true) => &["metadata", "spec"],
            ("", true) if version.name == self.step.version => &["status"],
            _ => &[],
        };
        Some(Version { kind: Kind::Custom(&version.schema), reset_fields })
    }
}

impl fmt::Debug for CustomVersions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.versions.iter().map(|version| version.name)).finish()
    }
}

impl Versions for CustomVersions<'_> {
    fn convert(&self, object: &Object, from: &str, to: &str) -> Result<Converted<'_>, Unconverted> {
        managed::unchanged(object, from, to, |name| self.find(name))
    }
}

impl<'a> Kinds<'a> {
    pub(super) fn of(life: &'a Life) -> Self {
        let Some(definition) = &life.definition else { return Self::BuiltIn(life) };
        let versions = definition["spec"]["versions"].as_array().expect("definitions have versions");
        let version = |version: &'a Value| CustomVersion {
            name: version["name"].as_str().expect("versions have names"),
            schema: Schema::compile(&version["schema"]["openAPIV3Schema"]),
            has_status: version["subresources"].get("status").is_some(),
        };
        Self::Custom { life, versions: versions.iter().map(version).collect() }
    }

    /// Does something as the request of a step.
    pub(super) fn with<T>(&self, step: &Step, now: &str, act: impl FnOnce(&Request<'_>) -> T) -> T {
        let subresource = step.subresource.as_str();
        match self {
            Self::BuiltIn(life) => {
                let resource = resource_of(life, step);
                let reset_fields = match subresource {
                    // The oracle asks the strategies, and those of two subresources have what pods have; the server
                    // asks storages.
                    "ephemeralcontainers" | "resize" => &["status"],
                    _ => reset_fields(resource, subresource),
                };
                act(&Request {
                    kind: Kind::BuiltIn(type_of(resource)),
                    name: resource.kind,
                    api_version: &api_version(resource),
                    manager: &step.manager,
                    subresource,
                    reset_fields,
                    now,
                    versions: Some(&BuiltInVersions { resource, subresource }),
                })
            }
            Self::Custom { life, versions } => {
                let versions = CustomVersions { versions, step };
                let Version { kind, reset_fields } = versions.find(&step.version).expect("steps are in known versions");
                act(&Request {
                    kind,
                    name: &life.kind,
                    api_version: &format!("{}/{}", life.group, step.version),
                    manager: &step.manager,
                    subresource,
                    reset_fields,
                    now,
                    versions: Some(&versions),
                })
            }
        }
    }

    /// What is described by a type; nothing else lives long enough.
    pub(super) fn described(&self, step: &Step) -> Kind<'static> {
        match self {
            Self::BuiltIn(life) => Kind::BuiltIn(type_of(resource_of(life, step))),
            Self::Custom { .. } => Kind::Deduced,
        }
    }

    /// Custom objects are filled with defaults here, built-in ones by Kubernetes: that is not what is compared.
    pub(super) fn defaulted(&self, step: &Step, mut object: Object) -> Object {
        if let Self::Custom { versions, .. } = self
            && let Some(version) = versions.iter().find(|version| version.name == step.version)
        {
            version.schema.apply_defaults(&mut object);
        }
        object
    }
}

fn type_of(resource: &Resource) -> &'static Type {
    facts::type_of(resource.group, resource.version, resource.kind).expect("kinds have types")
}

fn resource_of(life: &Life, step: &Step) -> &'static Resource {
    let group = step.group.as_deref().unwrap_or(&life.group);
    let version = if step.version.is_empty() { &life.version } else { &step.version };
    let is = |resource: &&Resource| (resource.group, resource.version, resource.kind) == (group, version, &life.kind);
    facts::resources().iter().find(is).expect("lives are those of known kinds")
}

pub(super) fn api_version(resource: &Resource) -> String {
    if resource.group.is_empty() {
        resource.version.to_owned()
    } else {
        format!("{}/{}", resource.group, resource.version)
    }
}
