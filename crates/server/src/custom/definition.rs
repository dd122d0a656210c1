//! A definition as far as its resources are served by it.

use std::sync::{Arc, OnceLock};

use rolewright_core::Name;
use rolewright_crd::rules::Rules;
use rolewright_crd::strategy::{Kind, Scale};
use rolewright_crd::{Columns, Schema, version};
use serde_json::Value;

use super::{BUT_STATUS, LAST_VERBS, PART_VERBS, STATUS, VERBS, WHOLE};
use crate::catalog::{Origin, Served, Subresource, api_version};
use crate::cluster::{Collection, Entry};
use crate::facts::Handling;
use crate::managed::Replicas;
use crate::strategy::Object;
use crate::strategy::embedded::Metadata;

/// A definition whose names are accepted.
pub(crate) struct Definition {
    /// The stored definition.
    entry: Arc<Entry>,
    group: Name,
    names: Names,
    namespaced: bool,
    preserves_unknown_fields: bool,
    /// No new objects: it is about to go.
    pub(crate) terminating: bool,
    versions: Box<[Kept]>,
    /// Which of the versions objects are stored in.
    stored: usize,
    /// What a change of the specification changes.
    generation: i64,
    /// Objects written later than this are as the schemas want them.
    since: u64,
}

/// The names that were accepted.
struct Names {
    plural: Name,
    singular: Name,
    kind: Name,
    list_kind: Name,
    short: Box<[Name]>,
    categories: Box<[Name]>,
}

/// One version of a definition.
struct Kept {
    name: Name,
    /// Group and version.
    api_version: Box<str>,
    served: bool,
    /// What who uses it is warned of.
    warning: Option<Box<str>>,
    status: bool,
    scale: Option<Scale>,
    /// Paths that field selectors may name, such as `spec.size`.
    selectable: Box<[Name]>,
    compiled: Arc<OnceLock<Compiled>>,
}

/// What is made of a version only when it is needed.
pub(super) struct Compiled {
    pub(super) schema: Schema,
    pub(super) columns: Columns,
    pub(super) rules: Rules,
    has_defaults: bool,
}

/// A version of a definition.
#[derive(Clone)]
pub(crate) struct Version {
    pub(super) definition: Arc<Definition>,
    at: usize,
}

impl Definition {
    /// Reads a definition; none if its names are not accepted. `before` is how it was until now.
    pub(crate) fn read(entry: &Arc<Entry>, before: Option<&Self>) -> Option<Self> {
        let object = entry.object();
        let spec = object.get("spec")?;
        let status = object.get("status")?;
        if !has_condition(status, "NamesAccepted") && !has_condition(status, "Established") {
            return None;
        }
        let names = Names::read(status.get("acceptedNames")?)?;
        let group: Name = text(spec, "group").into();
        let generation = object.get("metadata").and_then(|meta| meta.get("generation")).and_then(Value::as_i64);
        let generation = generation.unwrap_or_default();
        let before = before.filter(|before| before.generation == generation && before.entry.uid == entry.uid);
        let list: &[Value] = spec.get("versions").and_then(Value::as_array).map_or(&[], Vec::as_slice);
        let versions = list.iter().enumerate().map(|(at, version)| {
            let compiled = before.and_then(|before| before.versions.get(at)).map(|kept| kept.compiled.clone());
            Kept {
                name: text(version, "name").into(),
                api_version: api_version(&group, text(version, "name")).into(),
                served: is(version, "served"),
                warning: is(version, "deprecated").then(|| warning(spec, &group, list, version)),
                status: part(version, "status").is_some(),
                scale: part(version, "scale").map(Scale::read),
                selectable: selectable(version),
                compiled: compiled.unwrap_or_default(),
            }
        });
        Some(Self {
            entry: entry.clone(),
            namespaced: text(spec, "scope") == "Namespaced",
            preserves_unknown_fields: is(spec, "preserveUnknownFields"),
            terminating: has_condition(status, "Terminating"),
            stored: list.iter().position(|version| is(version, "storage")).unwrap_or_default(),
            since: before.map_or(entry.revision, |before| before.since),
            versions: versions.collect(),
            group,
            names,
            generation,
        })
    }

    /// A text that is another one after every change of what it says.
    pub(crate) fn stamp(&self) -> String {
        format!("{} {} {}", self.entry.name, self.entry.uid, self.generation)
    }

    /// `databases.example.org`
    pub(crate) fn name(&self) -> &Name {
        &self.entry.name
    }

    /// Group, version and plural of what it serves.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (Name, Name, Name)> {
        let served = self.versions.iter().filter(|kept| kept.served);
        served.map(|kept| (self.group.clone(), kept.name.clone(), self.names.plural.clone()))
    }

    /// The resources that follow from it: those that are served, and the one in whose form objects are stored.
    pub(crate) fn resources(self: Arc<Self>, collection: Collection) -> (Vec<Arc<Served>>, Option<Arc<Served>>) {
        let resource = |at: usize, kept: &Kept| {
            Arc::new(Served {
                group: self.group.clone(),
                version: kept.name.clone(),
                kind: self.names.kind.clone(),
                plural: self.names.plural.clone(),
                namespaced: self.namespaced,
                collection,
                origin: Origin::Custom(Version { definition: self.clone(), at }),
            })
        };
        let all: Vec<(bool, Arc<Served>)> =
            self.versions.iter().enumerate().map(|(at, kept)| (kept.served, resource(at, kept))).collect();
        let stored = all.get(self.stored).map(|(_, served)| served.clone());
        (all.into_iter().filter(|(served, _)| *served).map(|(_, served)| served).collect(), stored)
    }

    fn stored(&self) -> Option<&Kept> {
        self.versions.get(self.stored)
    }

    /// What a version is compiled to.
    fn compiled(&self, at: usize) -> Option<&Compiled> {
        let kept = self.versions.get(at)?;
        Some(kept.compiled.get_or_init(|| {
            let object = self.entry.object();
            let version = object.get("spec").and_then(|spec| spec.get("versions")).and_then(|list| list.get(at));
            let schema = version.and_then(|version| version.get("schema")?.get("openAPIV3Schema"));
            let columns = Columns::compile(version.unwrap_or(&Value::Null));
            let rules = schema.map(Rules::compile).unwrap_or_default();
            let mut schema = schema.map(Schema::compile).unwrap_or_default();
            schema.coerce_defaults(&Metadata);
            Compiled { has_defaults: schema.has_defaults(), schema, columns, rules }
        }))
    }
}

impl Names {
    fn read(names: &Value) -> Option<Self> {
        let name = |member: &str| Some(Name::from(text(names, member))).filter(|name| !name.is_empty());
        let list = |member: &str| {
            let list = names.get(member).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(Name::from).collect()
        };
        Some(Self {
            plural: name("plural")?,
            singular: name("singular")?,
            kind: name("kind")?,
            list_kind: name("listKind")?,
            short: list("shortNames"),
            categories: list("categories"),
        })
    }
}

impl Version {
    pub(crate) fn name(&self) -> &Name {
        &self.kept().name
    }

    pub(crate) fn definition(&self) -> &Definition {
        &self.definition
    }

    fn kept(&self) -> &Kept {
        self.definition.versions.get(self.at).expect("a version is made of one of its definition's")
    }

    pub(super) fn group(&self) -> &str {
        &self.definition.group
    }

    pub(super) fn kind(&self) -> &str {
        &self.definition.names.kind
    }

    pub(super) fn api_version(&self) -> &str {
        &self.kept().api_version
    }

    /// The rules for its objects.
    pub(super) fn rules(&self) -> Kind<'_> {
        Kind {
            schema: self.schema(),
            api_version: self.api_version(),
            kind: self.kind(),
            status: self.kept().status,
            scale: self.scale(),
            preserve_unknown_fields: self.definition.preserves_unknown_fields,
            meta: &Metadata,
        }
    }

    pub(crate) fn list_kind(&self) -> &str {
        &self.definition.names.list_kind
    }

    pub(crate) fn singular(&self) -> &str {
        &self.definition.names.singular
    }

    pub(crate) fn short_names(&self) -> impl Iterator<Item = &str> {
        self.definition.names.short.iter().map(Name::as_str)
    }

    pub(crate) fn categories(&self) -> impl Iterator<Item = &str> {
        self.definition.names.categories.iter().map(Name::as_str)
    }

    pub(crate) fn shown_verbs(&self) -> &'static [&'static str] {
        if self.definition.terminating { LAST_VERBS } else { VERBS }
    }

    /// The version that objects are stored in.
    pub(crate) fn stored_version(&self) -> &str {
        self.definition.stored().map_or("", |kept| kept.name.as_str())
    }

    /// What who uses this version is warned of.
    pub(crate) fn warning(&self) -> Option<&str> {
        self.kept().warning.as_deref()
    }

    pub(crate) fn scale(&self) -> Option<&Scale> {
        self.kept().scale.as_ref()
    }

    /// Whether field selectors may name a path.
    pub(crate) fn selects(&self, path: &str) -> bool {
        path == "metadata.name"
            || path == "metadata.namespace" && self.definition.namespaced
            || self.kept().selectable.iter().any(|known| known == path)
    }

    pub(crate) fn subresources<'a>(&'a self, kind: &'a str) -> Vec<Subresource<'a>> {
        let status = Subresource { name: "status", kind, kind_from: None, verbs: PART_VERBS };
        let scale =
            Subresource { name: "scale", kind: "Scale", kind_from: Some(("autoscaling", "v1")), verbs: PART_VERBS };
        let status = self.kept().status.then_some(status);
        status.into_iter().chain(self.kept().scale.is_some().then_some(scale)).collect()
    }

    pub(crate) fn handling(&self, subresource: &str) -> &'static Handling {
        match subresource {
            "status" => &STATUS,
            _ if self.kept().status => &BUT_STATUS,
            _ => &WHOLE,
        }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.compiled().schema
    }

    pub(super) fn compiled(&self) -> &Compiled {
        self.definition.compiled(self.at).expect("a version is made of one of its definition's")
    }

    /// The schema of any version of the same definition, and whether it has a status of its own.
    pub(super) fn described(&self, name: &str) -> Option<(&Schema, bool)> {
        let at = self.definition.versions.iter().position(|kept| kept.name == name)?;
        let status = self.definition.versions.get(at).is_some_and(|kept| kept.status);
        Some((&self.definition.compiled(at)?.schema, status))
    }

    /// Where objects of any version of the same definition have their number of replicas.
    pub(crate) fn replicas(&self, api_version: &str) -> Replicas<'_> {
        match self.definition.versions.iter().find(|kept| *kept.api_version == *api_version) {
            None => Replicas::Unknown,
            Some(kept) => kept.scale.as_ref().map_or(Replicas::Nowhere, |scale| Replicas::At(&scale.spec_replicas)),
        }
    }

    /// Another version of the same definition.
    pub(super) fn sibling(&self, name: &str) -> Option<Self> {
        let at = self.definition.versions.iter().position(|kept| kept.name == name)?;
        Some(Self { definition: self.definition.clone(), at })
    }

    /// Whether a stored object is as this version wants it, without being read.
    pub(crate) fn shows_as_stored(&self, entry: &Entry) -> bool {
        entry.revision > self.definition.since
            && match self.definition.versions.len() {
                1 => true,
                // What another version wrote has not seen the defaults of the stored one.
                _ => self.at == self.definition.stored && !self.compiled().has_defaults,
            }
    }

    /// The definition as JSON, for what is made of it rarely.
    pub(crate) fn source(&self) -> Object {
        self.definition.entry.object()
    }
}

/// What Kubernetes says of a version that should no longer be used, unless the definition says it itself.
fn warning(spec: &Value, group: &str, versions: &[Value], deprecated: &Value) -> Box<str> {
    if let Some(own) = deprecated.get("deprecationWarning").and_then(Value::as_str) {
        return own.into();
    }
    let kind = spec.get("names").map(|names| text(names, "kind")).unwrap_or_default();
    let name = text(deprecated, "name");
    let better = versions.iter().filter(|version| is(version, "served") && !is(version, "deprecated"));
    let better = better.map(|version| text(version, "name")).filter(|other| version::priority(name, other).is_lt());
    let use_instead = better.max_by(|a, b| version::priority(a, b));
    let mut warning = format!("{group}/{name} {kind} is deprecated");
    if let Some(other) = use_instead {
        warning = format!("{warning}; use {group}/{other} {kind}");
    }
    warning.into()
}

fn has_condition(status: &Value, kind: &str) -> bool {
    let mut conditions = status.get("conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.any(|condition| text(condition, "type") == kind && text(condition, "status") == "True")
}

fn selectable(version: &Value) -> Box<[Name]> {
    let list = version.get("selectableFields").and_then(Value::as_array).into_iter().flatten();
    list.map(|field| Name::from(text(field, "jsonPath").trim_start_matches('.'))).collect()
}

fn part<'a>(version: &'a Value, name: &str) -> Option<&'a Value> {
    version.get("subresources")?.get(name).filter(|part| !part.is_null())
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn is(value: &Value, member: &str) -> bool {
    value.get(member).and_then(Value::as_bool).unwrap_or_default()
}
