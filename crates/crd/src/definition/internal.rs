//! A definition in the form in which Kubernetes judges it: what all versions have in common stands above them. This is why
//! errors about the schema of a definition with one version speak of `spec.validation`.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::props::Props;
use super::read::{self, Object};

/// The spec of a definition.
#[derive(Clone, Debug)]
pub(super) struct Spec<'a> {
    pub(super) group: &'a str,
    /// The name of the first version.
    pub(super) version: &'a str,
    pub(super) names: &'a Object,
    pub(super) scope: &'a str,
    /// The schema, subresources, columns and selectable fields that are the same in all versions.
    pub(super) schema: Option<&'a Object>,
    pub(super) subresources: Option<&'a Object>,
    pub(super) columns: &'a [Value],
    pub(super) selectable: &'a [Value],
    /// `None` where Go has no list, which is not an empty one.
    pub(super) versions: Option<Vec<Version<'a>>>,
    pub(super) conversion: Option<&'a Object>,
    /// Objects keep fields that nobody knows.
    pub(super) preserves: bool,
}

/// One version, without what it has in common with all others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version<'a> {
    pub(super) name: &'a str,
    pub(super) served: bool,
    pub(super) storage: bool,
    pub(super) deprecated: bool,
    pub(super) warning: Option<&'a str>,
    pub(super) schema: Option<&'a Object>,
    pub(super) subresources: Option<&'a Object>,
    pub(super) columns: &'a [Value],
    pub(super) selectable: &'a [Value],
}

static NOTHING: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);

impl<'a> Spec<'a> {
    /// The spec of a definition; an empty one where it has none.
    pub(super) fn of(definition: &'a Object) -> Self {
        let spec = read::child(definition, "spec").unwrap_or(&NOTHING);
        let mut versions =
            spec.get("versions").and_then(Value::as_array).map(|list| list.iter().map(Version::of).collect::<Vec<_>>());
        let mut out = Self {
            group: read::text(spec, "group"),
            version: "",
            names: read::child(spec, "names").unwrap_or(&NOTHING),
            scope: read::text(spec, "scope"),
            schema: None,
            subresources: None,
            columns: &[],
            selectable: &[],
            versions: None,
            conversion: read::child(spec, "conversion"),
            preserves: read::flag(spec, "preserveUnknownFields"),
        };
        if let Some(all) = &mut versions
            && let Some(first) = all.first().copied()
        {
            out.version = first.name;
            if all.iter().all(|version| version.subresources == first.subresources) {
                out.subresources = first.subresources;
                for version in all.iter_mut() {
                    version.subresources = None;
                }
            }
            if all.iter().all(|version| version.schema == first.schema) {
                out.schema = first.schema;
                for version in all.iter_mut() {
                    version.schema = None;
                }
            }
            if all.iter().all(|version| version.columns == first.columns) {
                out.columns = first.columns;
                for version in all.iter_mut() {
                    version.columns = &[];
                }
            }
            if all.iter().all(|version| version.selectable == first.selectable) {
                out.selectable = first.selectable;
                for version in all.iter_mut() {
                    version.selectable = &[];
                }
            }
        }
        out.versions = versions;
        out
    }

    pub(super) fn versions(&self) -> &[Version<'a>] {
        self.versions.as_deref().unwrap_or_default()
    }

    /// The schemas: the common one first.
    pub(super) fn schemas(&self) -> impl Iterator<Item = Props<'a>> {
        let each = self.versions().iter().map(|version| version.schema);
        std::iter::once(self.schema).chain(each).filter_map(schema_of)
    }

    /// The names of the versions whose schemas are those of `old`. With a name twice, the first one counts.
    pub(super) fn same_schemas(&self, old: &Self) -> HashSet<&'a str> {
        let (new, old) = (SchemasByName::of(self), SchemasByName::of(old));
        let same = |name: &&str| new.agrees(&old, name);
        self.versions().iter().map(|version| version.name).filter(same).collect()
    }
}

/// Schemas of versions. Where all have the same, any other version has it too.
struct SchemasByName<'a> {
    is_common: bool,
    common: Option<&'a Object>,
    own: HashMap<&'a str, Option<&'a Object>>,
}

impl<'a> SchemasByName<'a> {
    fn of(spec: &Spec<'a>) -> Self {
        let has_own = spec.versions().iter().any(|version| version.schema.is_some());
        let mut own = HashMap::new();
        for version in spec.versions() {
            own.entry(version.name).or_insert(version.schema);
        }
        Self { is_common: !has_own, common: spec.schema, own }
    }

    /// Whether both have the version, with the same schema or without any.
    fn agrees(&self, other: &Self, name: &str) -> bool {
        let has = |side: &Self| side.is_common || side.own.contains_key(name);
        let schema = |side: &Self| side.own.get(name).copied().filter(|_| !side.is_common).unwrap_or(side.common);
        has(self) && has(other) && schema(self) == schema(other)
    }
}

impl<'a> Version<'a> {
    fn of(value: &'a Value) -> Self {
        let version = value.as_object().unwrap_or(&NOTHING);
        Self {
            name: read::text(version, "name"),
            served: read::flag(version, "served"),
            storage: read::flag(version, "storage"),
            deprecated: read::flag(version, "deprecated"),
            warning: version.get("deprecationWarning").and_then(Value::as_str),
            schema: read::child(version, "schema"),
            subresources: read::child(version, "subresources"),
            columns: read::list(version, "additionalPrinterColumns"),
            selectable: read::list(version, "selectableFields"),
        }
    }
}

/// The schema in a version's `schema`.
pub(super) fn schema_of(validation: Option<&Object>) -> Option<Props<'_>> {
    Props::of(validation?.get("openAPIV3Schema"))
}
