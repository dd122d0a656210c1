//! Whether a value is what its schema asks for, in the words of the API server.
//!
//! Where Kubernetes walks over a map its order is random; here it is the order of keys. Nothing is written out before
//! a fault is found, and what only decides between alternatives is not written out at all.

mod combine;
mod fault;
mod number;
mod place;
mod scalar;

use rolewright_core::validate::FieldError;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use crate::go::{self, Data, Num};
use crate::ratchet::{self, MapList};
use crate::schema::{Additional, Facet, Schema};
use fault::Fault;
use place::Place;

/// About as many faults are told. Kubernetes has no limit: there an answer can be much larger than the object.
const FAULTS_MAX: usize = 10_000;
/// About as many bytes of them: one fault can show a large value, or a long enumeration.
const SIZE_MAX: usize = 4 << 20;

impl Schema {
    /// The faults of a new object.
    pub fn validate(&self, object: &Map<String, Value>) -> Vec<FieldError> {
        let mut check = Check::loud("");
        check.value(self, object.into(), &Place::Root);
        check.told()
    }

    /// The faults of a value that may be anything.
    pub(crate) fn validate_value(&self, value: &Value) -> Vec<FieldError> {
        let mut check = Check::loud("");
        check.value(self, value.into(), &Place::Root);
        check.told()
    }

    /// The faults of an object that is to replace `old`. What did not change is not held against it.
    pub fn validate_update(&self, object: &Map<String, Value>, old: &Map<String, Value>) -> Vec<FieldError> {
        self.validate_update_at("", object.into(), old.into())
    }

    /// The same of a value that stands in the field `base` of an object, with the schema of that field.
    pub(crate) fn validate_update_at(&self, base: &'static str, new: Data<'_>, old: Data<'_>) -> Vec<FieldError> {
        let mut check = Check::loud(base);
        check.change(self, new, Some(old), &Place::Root);
        check.told()
    }
}

/// One walk over a value. Faults are told, or only counted.
struct Check {
    /// The field of the object that is checked; empty for the object.
    base: &'static str,
    faults: Option<Vec<Fault>>,
    failures: usize,
    /// The bytes of all that was told, also of what did not count in the end.
    size: usize,
}

impl Check {
    fn loud(base: &'static str) -> Self {
        Self { base, faults: Some(Vec::new()), failures: 0, size: 0 }
    }

    fn quiet() -> Self {
        Self { base: "", faults: None, failures: 0, size: 0 }
    }

    /// What was found, each text once.
    fn told(self) -> Vec<FieldError> {
        let mut seen = FxHashSet::default();
        let faults = self.faults.unwrap_or_default().into_iter();
        faults.filter_map(|fault| seen.insert(fault.message).then_some(fault.error)).collect()
    }

    fn fault(&mut self, fault: impl FnOnce(&'static str) -> Fault) {
        self.failures += 1;
        if let Some(faults) = &mut self.faults
            && faults.len() < FAULTS_MAX
            && self.size < SIZE_MAX
        {
            let fault = fault(self.base);
            self.size += fault.size();
            faults.push(fault);
        }
    }

    /// Checks a value that stands alone. The number tells how much of it was right, for the choice between alternatives.
    fn value(&mut self, schema: &Schema, data: Data<'_>, at: &Place<'_>) -> usize {
        self.change(schema, data, None, at)
    }

    /// Checks a value that replaces another: if both are the same, nothing is wrong with it.
    fn change(&mut self, schema: &Schema, data: Data<'_>, old: Option<Data<'_>>, at: &Place<'_>) -> usize {
        let (failures, told) = (self.failures, self.faults.as_ref().map_or(0, Vec::len));
        let matched = self.all(schema, data, old, at);
        if self.failures > failures
            && let Some(old) = old
            && ratchet::same(schema, data, old)
        {
            self.failures = failures;
            if let Some(faults) = &mut self.faults {
                faults.truncate(told);
            }
        }
        matched
    }

    /// The order of the checks is that of Kubernetes.
    fn all(&mut self, schema: &Schema, data: Data<'_>, old: Option<Data<'_>>, at: &Place<'_>) -> usize {
        if let Data::Null = data {
            let matched = self.null(schema, at);
            self.enumeration(schema, data, at);
            return matched;
        }
        // One for the node itself, one for its combinations, one for its enumeration.
        let mut matched = 3;
        if let Some(right) = self.kind(schema, data, at) {
            matched += 1 + usize::from(right);
        }
        matched += self.combinations(schema, data, at);
        match data {
            Data::Text(text) => {
                matched += 1;
                self.text(schema, text, at);
                if self.format(schema, text, at) {
                    matched += 1;
                }
            }
            Data::Number(number) => {
                matched += 2;
                self.number(schema, number, at);
            }
            Data::List(items) => matched += 2 + self.items(schema, items, old, at),
            _ => {}
        }
        self.enumeration(schema, data, at);
        if let Data::Object(object) = data {
            matched += 1 + self.fields(schema, object, old, at);
        }
        matched
    }

    fn items(&mut self, schema: &Schema, items: &[Value], old: Option<Data<'_>>, at: &Place<'_>) -> usize {
        let mut matched = 0;
        if let Some(below) = schema.items() {
            let old = old.and_then(|old| MapList::of(schema, old));
            for (index, item) in items.iter().enumerate() {
                let old = old.as_ref().and_then(|old| old.get(item)).map(Data::Object);
                matched += self.change(below, item.into(), old, &at.index(index));
            }
        }
        let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
        for facet in schema.facets() {
            match facet {
                Facet::MinItems(least) if size < *least => {
                    self.fault(|base| Fault::too_few(base, at, size, *least, "items"));
                }
                _ => {}
            }
        }
        if let Some(most) = schema.max_items().filter(|most| size > *most) {
            self.fault(|base| Fault::too_many(base, at, size, most, "items"));
        }
        if schema.unique_items() {
            let mut seen = FxHashSet::default();
            if !items.iter().all(|item| seen.insert(ratchet::distinct(item))) {
                self.fault(|base| Fault::duplicates(base, at));
            }
        }
        matched
    }

    fn fields(&mut self, schema: &Schema, object: &Map<String, Value>, old: Option<Data<'_>>, at: &Place<'_>) -> usize {
        let size = i64::try_from(object.len()).unwrap_or(i64::MAX);
        for facet in schema.facets() {
            match facet {
                Facet::MinProperties(least) if size < *least => {
                    self.fault(|base| Fault::too_few(base, at, size, *least, "properties"));
                }
                _ => {}
            }
        }
        if let Some(most) = schema.max_properties().filter(|most| size > *most) {
            self.fault(|base| Fault::too_many(base, at, size, most, "properties"));
        }
        let mut matched = 0;
        let old = match old {
            Some(Data::Object(old)) => Some(old),
            _ => None,
        };
        // A type is the same before and after, whatever was written: it never speaks for the value that it names.
        let counts = |name: &str| !(matches!(at, Place::Root) && matches!(name, "apiVersion" | "kind"));
        let before = |name: &str| old.and_then(|old| old.get(name)).filter(|_| counts(name)).map(Data::from);
        match schema.additional() {
            Some(Additional::Allowed(false)) => {
                for name in object.keys().filter(|name| schema.property(name).is_none()) {
                    self.fault(|base| Fault::forbidden_property(base, at, name));
                }
            }
            Some(Additional::Schema(below)) => {
                for (name, value) in object.iter().filter(|(name, _)| schema.property(name).is_none()) {
                    matched += self.change(below, value.into(), before(name), &at.value(name));
                }
            }
            Some(Additional::Allowed(true)) | None => {}
        }
        for (name, below, value) in ratchet::known_fields(schema, object) {
            matched += self.change(below, value.into(), before(name), &at.field(name));
        }
        for name in schema.required() {
            if !object.contains_key(name.as_str()) {
                self.fault(|base| Fault::required(base, at, name));
            }
        }
        matched
    }

    fn enumeration(&mut self, schema: &Schema, data: Data<'_>, at: &Place<'_>) {
        let Some(known) = schema.enumeration() else { return };
        let right = match data {
            Data::Text(text) => known.has_text(text),
            data => known.values().iter().any(|known| converts_to(data, known)),
        };
        if !right {
            self.fault(|base| Fault::not_supported(base, at, data, known.values()));
        }
    }
}

/// Whether a value is the one that an enumeration has, after Go has converted it to the type of that.
fn converts_to(data: Data<'_>, known: &Value) -> bool {
    match (data, Data::from(known)) {
        (Data::Null, _) => false,
        (Data::Number(Num::Int(int)), Data::Number(Num::Float(float))) => {
            Num::Float(Num::Int(int).as_float()) == Num::Float(float)
        }
        (Data::Number(Num::Float(float)), Data::Number(Num::Int(int))) => go::truncated(float) == int,
        (Data::Number(Num::Int(int)), Data::Text(text)) => {
            // Go makes of an integer the character that has it as its code.
            let character = u32::try_from(int).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            text.chars().eq([character])
        }
        (data, known) => go::equal_data(data, known),
    }
}
