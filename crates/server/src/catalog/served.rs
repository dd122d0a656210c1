//! One resource in one version.

use base64::Engine;
use rolewright_core::Name;
use rolewright_crd::strategy::Scale;

use crate::cluster::Collection;
use crate::custom;
use crate::facts::{self, Handling, Type};
use crate::managed::{self, Kind, Replicas};
use crate::status::GroupResource;
use crate::strategy::{Object, Rules, Strategy};

/// One resource in one version.
pub(crate) struct Served {
    pub(crate) group: Name,
    pub(crate) version: Name,
    pub(crate) kind: Name,
    pub(crate) plural: Name,
    pub(crate) namespaced: bool,
    pub(crate) collection: Collection,
    pub(crate) origin: Origin,
}

/// Who defined a resource.
pub(crate) enum Origin {
    BuiltIn(BuiltIn),
    Custom(custom::Version),
}

/// A resource that Kubernetes has.
pub(crate) struct BuiltIn {
    pub(crate) ty: &'static Type,
    pub(crate) strategy: &'static dyn Strategy,
    pub(crate) facts: &'static facts::Resource,
    /// Between the stored form and this version, where they differ.
    pub(crate) conversion: Option<Conversion>,
}

/// Between the stored form of an object and that of another version.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    pub(crate) from_stored: fn(&Object) -> Object,
    pub(crate) to_stored: fn(&Object) -> Object,
}

/// A part of a resource with a path of its own.
pub(crate) struct Subresource<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: &'a str,
    /// Group and version of the kind, where they are not those of the resource.
    pub(crate) kind_from: Option<(&'a str, &'a str)>,
    pub(crate) verbs: &'static [&'static str],
}

impl Served {
    pub(crate) fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.group, resource: &self.plural }
    }

    pub(crate) fn built_in(&self) -> Option<&BuiltIn> {
        match &self.origin {
            Origin::BuiltIn(built_in) => Some(built_in),
            Origin::Custom(_) => None,
        }
    }

    pub(crate) fn custom(&self) -> Option<&custom::Version> {
        match &self.origin {
            Origin::BuiltIn(_) => None,
            Origin::Custom(custom) => Some(custom),
        }
    }

    /// The type of its objects; those of custom kinds have none.
    pub(crate) fn ty(&self) -> Option<&'static Type> {
        self.built_in().map(|built_in| built_in.ty)
    }

    /// Group and version as discovery names them with a kind: only definitions say where a kind is from.
    pub(crate) fn home(&self) -> (&str, &str) {
        match &self.origin {
            Origin::BuiltIn(_) => ("", ""),
            Origin::Custom(_) => (&self.group, &self.version),
        }
    }

    /// Where Kubernetes keeps its objects.
    pub(crate) fn folder(&self) -> String {
        let (group, plural) = (self.group.as_str(), self.plural.as_str());
        match (&self.origin, group, plural) {
            (Origin::Custom(_), ..) | (_, "apiregistration.k8s.io" | "apiextensions.k8s.io", _) => {
                format!("{group}/{plural}")
            }
            (_, "", "replicationcontrollers") => "controllers".to_owned(),
            (_, "", "endpoints") => "services/endpoints".to_owned(),
            (_, "", "nodes") => "minions".to_owned(),
            (_, "", "services") => "services/specs".to_owned(),
            (_, "networking.k8s.io", "ingresses") => "ingress".to_owned(),
            _ => plural.to_owned(),
        }
    }

    /// Where a definition says that objects have their number of replicas.
    pub(crate) fn scale(&self) -> Option<&Scale> {
        self.custom().and_then(custom::Version::scale)
    }

    /// Where objects have their number of replicas, in any of its versions.
    pub(crate) fn replicas(&self, version: &str) -> Replicas<'_> {
        match &self.origin {
            Origin::BuiltIn(_) => managed::built_in_replicas(version, &self.api_version()),
            Origin::Custom(custom) => custom.replicas(version),
        }
    }

    /// The name of its definition, if that is about to go: there are no new objects then.
    pub(crate) fn ending(&self) -> Option<&Name> {
        let definition = self.custom()?.definition();
        definition.terminating.then(|| definition.name())
    }

    pub(crate) fn conversion(&self) -> Option<Conversion> {
        self.built_in().and_then(|built_in| built_in.conversion)
    }

    /// Whether Kubernetes answers from memory where it may. It does not keep events there.
    pub(crate) fn is_cached(&self) -> bool {
        !matches!(&self.origin, Origin::BuiltIn(_) if self.plural == "events")
    }

    /// `v1`, `apps/v1`
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    pub(crate) fn list_kind(&self) -> String {
        match &self.origin {
            Origin::BuiltIn(_) => format!("{}List", self.kind),
            Origin::Custom(custom) => custom.list_kind().to_owned(),
        }
    }

    pub(crate) fn singular(&self) -> &str {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.facts.singular,
            Origin::Custom(custom) => custom.singular(),
        }
    }

    pub(crate) fn short_names(&self) -> Vec<&str> {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.facts.short_names.to_vec(),
            Origin::Custom(custom) => custom.short_names().collect(),
        }
    }

    pub(crate) fn categories(&self) -> Vec<&str> {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.facts.categories.to_vec(),
            Origin::Custom(custom) => custom.categories().collect(),
        }
    }

    /// What may be done with it.
    pub(crate) fn verbs(&self) -> &'static [&'static str] {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.facts.verbs,
            Origin::Custom(_) => custom::VERBS,
        }
    }

    /// What discovery says may be done with it.
    pub(crate) fn shown_verbs(&self) -> &'static [&'static str] {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.facts.verbs,
            Origin::Custom(custom) => custom.shown_verbs(),
        }
    }

    pub(crate) fn storage_version_hash(&self) -> String {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.facts.storage_version_hash.to_owned(),
            Origin::Custom(custom) => {
                let stored = format!("{}/{}/{}", self.group, custom.stored_version(), self.kind);
                let digest = ring::digest::digest(&ring::digest::SHA256, stored.as_bytes());
                base64::engine::general_purpose::STANDARD.encode(digest.as_ref().get(..8).unwrap_or_default())
            }
        }
    }

    pub(crate) fn subresources(&self) -> Vec<Subresource<'_>> {
        match &self.origin {
            Origin::BuiltIn(built_in) => {
                let of = |sub: &'static facts::Subresource| Subresource {
                    name: sub.name,
                    kind: sub.kind,
                    kind_from: sub.kind_from,
                    verbs: sub.verbs,
                };
                built_in.facts.subresources.iter().map(of).collect()
            }
            Origin::Custom(custom) => custom.subresources(&self.kind),
        }
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<Subresource<'_>> {
        self.subresources().into_iter().find(|sub| sub.name == name)
    }

    /// How objects are handled through a subresource, or as a whole where its name is empty.
    pub(crate) fn handling(&self, subresource: &str) -> &'static Handling {
        match &self.origin {
            Origin::BuiltIn(built_in) => {
                let found = built_in.facts.subresources.iter().find(|sub| sub.name == subresource);
                found.map_or(&built_in.facts.handling, |sub| &sub.handling)
            }
            Origin::Custom(custom) => custom.handling(subresource),
        }
    }

    pub(crate) fn strategy(&self) -> &dyn Strategy {
        match &self.origin {
            Origin::BuiltIn(built_in) => built_in.strategy,
            Origin::Custom(custom) => custom,
        }
    }

    /// What describes its objects to who keeps managedFields.
    pub(crate) fn described(&self) -> Kind<'_> {
        match &self.origin {
            Origin::BuiltIn(built_in) => Kind::BuiltIn(built_in.ty),
            Origin::Custom(custom) => Kind::Custom(custom.schema()),
        }
    }

    /// Everything that writes are judged by.
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules {
            group: &self.group,
            plural: &self.plural,
            kind: &self.kind,
            namespaced: self.namespaced,
            strategy: self.strategy(),
        }
    }
}

/// `v1`, `apps/v1`
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
