//! Rules of a schema: `x-kubernetes-validations`, compiled with a definition and evaluated with its objects.

mod compile;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use rolewright_cel as cel;
use rolewright_core::validate::{ErrorKind, FieldError, Path};
use serde_json::{Map, Value};

pub(crate) use compile::{Compiled, compile};

use crate::Schema;
use crate::metadata::block_rules;

/// What is said when rules are not evaluated because something else is wrong.
const NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct the existing \
                           errors to complete validation";

/// The rules of a version's schema.
#[derive(Debug, Default)]
pub struct Rules {
    root: Option<Node>,
}

/// The rules of a node, and of all below it.
#[derive(Debug)]
struct Node {
    /// `type` of the node's schema, which errors show in place of the value.
    kind: String,
    rules: Vec<Compiled>,
    /// Why no rule of the node can be compiled.
    broken: Option<&'static str>,
    all_of: Vec<Node>,
    items: Option<Box<Node>>,
    properties: BTreeMap<String, Node>,
    values: Option<Box<Node>>,
}

/// What rules say of an object.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The rules that do not hold.
    pub errors: Vec<FieldError>,
    /// The rules that did not hold before, of parts that did not change.
    pub warnings: Vec<String>,
}

impl Rules {
    /// Compiles the rules of an `openAPIV3Schema`.
    pub fn compile(schema: &Value) -> Self {
        let Some(root) = schema.as_object().filter(|schema| has_rules(schema)) else { return Self::default() };
        let declared = cel::Schema::structural(schema, true);
        Self { root: node(root, root, Some(&declared)) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Evaluates the rules over an object that is to replace `old`, if there is one.
    ///
    /// `errors` are those found before: some of them keep rules from being evaluated, and a word on that is the answer then.
    pub fn judge(
        &self,
        schema: &Schema,
        object: &Map<String, Value>,
        old: Option<&Map<String, Value>>,
        errors: &[FieldError],
    ) -> Verdict {
        let Some(root) = &self.root else { return Verdict::default() };
        if block_rules(errors) {
            let mut blocked = FieldError::required(Path::Root, NOT_CHECKED);
            blocked.kind = ErrorKind::Invalid;
            blocked.value = Some(rolewright_core::validate::BadValue::null());
            return Verdict { errors: vec![blocked], warnings: Vec::new() };
        }
        walk::judge(root, schema, cel::Input::from(object), old.map(cel::Input::from))
    }

    /// Compiles the rules of a part of a schema. `is_resource`: its values have what every object has.
    pub(crate) fn of_part(schema: &Map<String, Value>, is_resource: bool) -> Self {
        if !has_rules(schema) {
            return Self::default();
        }
        let declared = cel::Schema::structural(&Value::Object(schema.clone()), is_resource);
        Self { root: node(schema, schema, Some(&declared)) }
    }

    /// What rules say of a value that may be anything.
    pub(crate) fn judge_value(&self, schema: &Schema, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let Some(root) = &self.root else { return Vec::new() };
        walk::judge(root, schema, cel::Input::from(value), old.map(cel::Input::from)).errors
    }
}

fn has_rules(schema: &Map<String, Value>) -> bool {
    let below = |key: &str| schema.get(key).and_then(Value::as_object);
    schema.get("x-kubernetes-validations").and_then(Value::as_array).is_some_and(|rules| !rules.is_empty())
        || below("items").is_some_and(has_rules)
        || below("additionalProperties").is_some_and(has_rules)
        || below("properties").into_iter().flatten().filter_map(|(_, json)| json.as_object()).any(has_rules)
}

fn flag(schema: &Map<String, Value>, key: &str) -> bool {
    schema.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Compiles the rules that `rules` has for the values of `schema`: the two are the same but for clauses of `allOf`.
fn node(rules: &Map<String, Value>, schema: &Map<String, Value>, declared: Option<&Arc<cel::Schema>>) -> Option<Node> {
    let usable = declared.filter(|declared| declared.is_typed());
    let has_own = rules.get("x-kubernetes-validations").and_then(Value::as_array).is_some_and(|own| !own.is_empty());
    let (own, broken) = match usable {
        _ if !has_own => (Vec::new(), None),
        Some(declared) => (compile::rules(rules, schema, declared), None),
        None => (Vec::new(), Some("failed to convert to declType for CEL validation rules")),
    };
    let object = |json: &Map<String, Value>, key: &str| json.get(key).and_then(Value::as_object).cloned();
    let elements = usable.and_then(|declared| declared.elements());
    let below = |key: &str| {
        let (rules, schema) = (object(rules, key)?, object(schema, key)?);
        node(&rules, &schema, elements).map(Box::new)
    };
    let (items, values) = (below("items"), below("additionalProperties"));
    let mut properties = BTreeMap::new();
    for (name, rules) in object(rules, "properties").into_iter().flatten() {
        let Some(schema) = schema.get("properties").and_then(|properties| properties.get(&name)) else { continue };
        let (Some(rules), Some(schema_object)) = (rules.as_object(), schema.as_object()) else { continue };
        let is_embedded = flag(schema_object, "x-kubernetes-embedded-resource");
        let declared = if cel::escape(&name).is_some() {
            usable.and_then(|declared| declared.property(&name)).cloned()
        } else {
            Some(cel::Schema::structural(schema, is_embedded)).filter(|declared| declared.is_typed())
        };
        let Some(declared) = declared else { continue };
        if let Some(node) = node(rules, schema_object, Some(&declared)) {
            properties.insert(name, node);
        }
    }
    let clauses = rules.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let all_of: Vec<Node> = clauses.filter_map(|clause| node(clause, schema, declared)).collect();
    let is_empty = own.is_empty() && broken.is_none() && items.is_none() && values.is_none();
    if is_empty && properties.is_empty() && all_of.is_empty() {
        return None;
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Node { kind, rules: own, broken, all_of, items, properties, values })
}
