//! Whether a document is of a type, as server-side apply asks.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::element::{Element, go_general};
use super::schema::{Form, Items, Members, Place, Sort};
use rolewright_core::quote::Quoted;

/// All faults, each after the path to it.
pub(super) struct Faults {
    allow_duplicates: bool,
    path: String,
    found: Vec<String>,
}

/// What is wrong with an object, in one text. Lists of an applied configuration must not repeat a key.
pub(super) fn validate(place: Place<'_>, object: &Map<String, Value>, allow_duplicates: bool) -> Result<(), String> {
    let mut faults = Faults { allow_duplicates, path: String::new(), found: Vec::new() };
    if let Form::Map(members) = place.form(None) {
        faults.members(members, object);
    }
    match faults.found.as_slice() {
        [] => Ok(()),
        [fault] => Err(fault.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

impl Faults {
    fn add(&mut self, message: &str) {
        let path = &self.path;
        self.found.push(if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") });
    }

    fn at(&mut self, element: &Element, check: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        element.show(&mut self.path);
        check(self);
        self.path.truncate(length);
    }

    fn value(&mut self, place: Place<'_>, value: &Value) {
        match (place.form(Some(value)), value) {
            (_, Value::Null) => {}
            (Form::Scalar(sort), _) => self.scalar(sort, value),
            (Form::List(items), Value::Array(list)) => self.items(items, list),
            (Form::Map(members), Value::Object(map)) => self.members(members, map),
            (Form::List(_), _) => self.add(&format!("expected list, got &{{{}}}", go_value(value))),
            (Form::Map(_), _) => self.add(&format!("expected map, got &{{{}}}", go_value(value))),
        }
    }

    fn scalar(&mut self, sort: Sort, value: &Value) {
        match (sort, value) {
            (Sort::Number, Value::Number(_))
            | (Sort::Text, Value::String(_))
            | (Sort::Bool, Value::Bool(_))
            | (Sort::Any, Value::Number(_) | Value::String(_) | Value::Bool(_)) => {}
            (Sort::Number, _) => self.add(&format!("expected numeric (int or float), got {}", go_type(value))),
            (Sort::Text, _) => {
                self.add(&format!("expected string, got &value.valueUnstructured{{Value:{}}}", go_syntax(value)));
            }
            (Sort::Bool, _) => self.add(&format!("expected boolean, got &{{{}}}", go_value(value))),
            (Sort::Any, _) => self.add(&format!("expected any scalar, got &{{{}}}", go_value(value))),
        }
    }

    fn items(&mut self, items: Items<'_>, list: &[Value]) {
        let mut seen = std::collections::BTreeSet::new();
        for (at, item) in (0_i64..).zip(list) {
            let element = if items.atomic() {
                Element::Index(at)
            } else {
                match items.element(item) {
                    Ok(element) => element,
                    Err(fault) => return self.add(&format!("element {at}: {fault}")),
                }
            };
            self.at(&element, |faults| faults.value(items.place, item));
            if !items.atomic() && !self.allow_duplicates && seen.contains(&element) {
                let mut text = String::from("duplicate entries for key ");
                element.show(&mut text);
                self.add(&text);
            }
            seen.insert(element);
        }
    }

    fn members(&mut self, members: Members<'_>, map: &Map<String, Value>) {
        for (name, value) in map {
            let element = Element::Field(name.into());
            match members.get(name) {
                Some((place, _)) => self.at(&element, |faults| faults.value(place, value)),
                // Kubernetes looks no further, and comes across members in no particular order.
                None => return self.at(&element, |faults| faults.add("field not declared in schema")),
            }
        }
    }
}

/// Go's name for the type of a value.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Go's `%v`.
fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_value).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => {
            let members: Vec<String> = map.iter().map(|(name, value)| format!("{name}:{}", go_value(value))).collect();
            format!("map[{}]", members.join(" "))
        }
        Value::Bool(_) | Value::Number(_) => go_syntax(value),
    }
}

/// Go's `%#v`.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(is) => is.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => go_general(float),
            _ => number.to_string(),
        },
        Value::String(text) => Quoted(text).to_string(),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(go_syntax).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let mut out = String::from("map[string]interface {}{");
            for (at, (name, value)) in map.iter().enumerate() {
                let comma = if at > 0 { ", " } else { "" };
                // Writing into a String cannot fail.
                let _ = write!(out, "{comma}{}:{}", Quoted(name), go_syntax(value));
            }
            out.push('}');
            out
        }
    }
}
