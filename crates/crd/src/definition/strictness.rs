//! What is asked of a definition. A stored one may keep most of what is wrong with it.

use std::collections::{HashMap, HashSet};

use super::conversion::Allowed;
use super::internal::{Spec, schema_of};
use super::props::Props;
use super::read::{self, Object};
use super::selectable::FIELDS_MAX;
use super::{bundle, conversion, defaults, lists, schema, structural};
use crate::metadata::ObjectMeta;

/// The rules that hold.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own, and any of them may be off")]
pub(super) struct Strictness<'a> {
    /// What is known of metadata.
    pub(super) meta: &'a dyn ObjectMeta,
    /// Names cannot change.
    pub(super) fixed_names: bool,
    /// Every version has a schema.
    pub(super) schemas: bool,
    /// Types are those of OpenAPI.
    pub(super) types: bool,
    /// Schemas are structural.
    pub(super) structural: bool,
    /// Defaults have no unknown fields.
    pub(super) pruned_defaults: bool,
    /// Items of sets are atomic.
    pub(super) atomic_sets: bool,
    /// Keys of lists have values.
    pub(super) list_keys: bool,
    pub(super) conversion: Allowed,
    /// Versions that may have too many selectable fields; `""` stands for all of them.
    pub(super) many_fields: HashSet<&'a str>,
    /// Versions whose schema stays what it was.
    pub(super) same_schemas: HashSet<&'a str>,
}

impl<'a> Strictness<'a> {
    /// For a new definition.
    pub(super) fn new(meta: &'a dyn ObjectMeta) -> Self {
        Self {
            meta,
            fixed_names: false,
            schemas: true,
            types: true,
            structural: true,
            pruned_defaults: true,
            atomic_sets: true,
            list_keys: true,
            conversion: Allowed { unknown_reviews: false, bad_certificates: true },
            many_fields: HashSet::new(),
            same_schemas: HashSet::new(),
        }
    }

    /// For the next form of a stored one.
    pub(super) fn after(old_definition: &'a Object, old: &Spec<'a>, new: &Spec<'a>, meta: &'a dyn ObjectMeta) -> Self {
        let has = |mut look: fn(Props<'a>) -> bool| old.schemas().any(|schema| schema.any(&mut look));
        let established = read::condition_is(old_definition, "Established", "True");
        let certificates = conversion::certificates(old.conversion);
        let without_schema = old.versions().iter().any(|version| schema_of(version.schema).is_none());
        Self {
            meta,
            fixed_names: established,
            schemas: schema_of(old.schema).is_some() || !without_schema,
            types: !has(schema::has_unknown_type),
            structural: !old.schemas().any(structural::is_not),
            pruned_defaults: !old.schemas().any(defaults::has_unpruned),
            atomic_sets: !has(lists::has_open_set),
            list_keys: !has(lists::has_loose_keys),
            conversion: Allowed {
                unknown_reviews: !conversion::reviews_known(old.conversion),
                bad_certificates: !established || !certificates.is_empty() && bundle::fault(certificates).is_some(),
            },
            many_fields: many_fields(old, new),
            same_schemas: new.same_schemas(old),
        }
    }

    /// Whether a version's schema stays what it was, so that its rules may cost what they cost.
    pub(super) fn any_cost(&self, version: &str) -> bool {
        self.same_schemas.contains(version)
    }
}

/// Too many selectable fields may stay if they are the same.
fn many_fields<'a>(old: &Spec<'a>, new: &Spec<'a>) -> HashSet<&'a str> {
    let mut allowed = HashSet::new();
    if old.selectable.len() > FIELDS_MAX && old.selectable == new.selectable {
        allowed.insert("");
    }
    let olds: HashMap<&str, _> = old.versions().iter().map(|version| (version.name, version.selectable)).collect();
    for version in new.versions() {
        let same = |old: &&[serde_json::Value]| old.len() > FIELDS_MAX && *old == version.selectable;
        if olds.get(version.name).is_some_and(same) {
            allowed.insert(version.name);
        }
    }
    allowed
}
