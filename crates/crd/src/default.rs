//! Defaults, and nulls that stand for them.

use serde_json::{Map, Value};

use crate::Schema;
use crate::metadata::{self, ObjectMeta};
use crate::prune::{self, Mode};
use crate::schema::Facet;

impl Schema {
    /// Puts defaults where nothing is, or a null that may not be.
    pub fn apply_defaults(&self, object: &mut Map<String, Value>) {
        for (name, property) in self.properties() {
            let Some(default) = property.default_value() else { continue };
            match object.get_mut(name.as_str()) {
                None => {
                    object.insert(name.to_string(), default.clone());
                }
                Some(found) if found.is_null() && !property.nullable() => *found = default.clone(),
                Some(_) => {}
            }
        }
        for (name, value) in object.iter_mut() {
            if let Some(property) = self.property(name) {
                property.default_within(value);
            } else if let Some(values) = self.values() {
                values.default_value_or_within(value);
            }
        }
    }

    /// Whether there is anything that [`Self::apply_defaults`] could put in.
    pub fn has_defaults(&self) -> bool {
        let has = |schema: &Self| schema.default_value().is_some() || schema.has_defaults();
        self.properties().iter().any(|(_, property)| has(property))
            || self.values().is_some_and(has)
            || self.items().is_some_and(has)
    }

    /// Drops nulls that may not be and have no default; those with one are for [`Self::apply_defaults`].
    pub fn prune_nulls(&self, object: &mut Map<String, Value>) {
        object.retain(|name, value| {
            let Some(schema) = self.field(name) else { return true };
            if value.is_null() && !schema.nullable() && schema.default_value().is_none() {
                return false;
            }
            schema.prune_nulls_within(value);
            true
        });
    }

    fn default_within(&self, value: &mut Value) {
        match value {
            Value::Object(object) => self.apply_defaults(object),
            Value::Array(items) => {
                if let Some(schema) = self.items() {
                    for item in items {
                        schema.default_value_or_within(item);
                    }
                }
            }
            _ => {}
        }
    }

    fn default_value_or_within(&self, value: &mut Value) {
        if value.is_null()
            && !self.nullable()
            && let Some(default) = self.default_value()
        {
            *value = default.clone();
        }
        self.default_within(value);
    }

    fn prune_nulls_within(&self, value: &mut Value) {
        match value {
            Value::Object(object) => self.prune_nulls(object),
            Value::Array(items) => {
                if let Some(schema) = self.items() {
                    for item in items {
                        schema.prune_nulls_within(item);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Defaults are pruned once, as if they stood in an object; what they put into objects is not looked at again.
pub(crate) fn prune_defaults(schema: &mut Schema) {
    below(schema, true, Mode::Prune, &prune::value);
}

impl Schema {
    /// Gives the metadata of embedded resources in defaults the form of its type, as the server does it before it uses
    /// a schema. What is malformed there is dropped.
    pub fn coerce_defaults(&mut self, meta: &dyn ObjectMeta) {
        below(self, true, Mode::Prune, &|value, schema, _| metadata::coerce(value, schema, meta));
    }
}

/// What happens to a default of a node, which the walk has come to in some mode.
type Change<'a> = &'a dyn Fn(&mut Value, &Schema, Mode);

fn node(schema: &mut Schema, mode: Mode, change: Change<'_>) {
    if let Some(mut default) = schema.take_default() {
        change(&mut default, schema, mode);
        schema.set_default(default);
    }
    below(schema, schema.embedded_resource(), mode, change);
}

fn below(schema: &mut Schema, embedded: bool, mode: Mode, change: Change<'_>) {
    let mode = mode.within(schema);
    for (name, property) in schema.properties_mut() {
        // No default stands in metadata, and nothing prunes there.
        if !(embedded && prune::is_meta(name)) {
            node(property, Mode::Prune, change);
        }
    }
    if let Some(values) = schema.values_mut() {
        node(values, Mode::Prune, change);
    }
    if let Some(items) = schema.items_mut() {
        node(items, mode, change);
    }
}

impl Schema {
    fn take_default(&mut self) -> Option<Box<Value>> {
        self.facets_mut().iter_mut().find_map(|facet| match facet {
            Facet::Default(value) => Some(std::mem::take(value)),
            _ => None,
        })
    }

    fn set_default(&mut self, default: Box<Value>) {
        for facet in self.facets_mut() {
            if let Facet::Default(value) = facet {
                *value = default;
                return;
            }
        }
    }
}
