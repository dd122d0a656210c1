//! Documents become values of a type: what is left when Go decodes into its struct and encodes that again.

mod fault;
mod special;
mod zero;

use serde_json::{Map, Number, Value};

use super::Node;
use super::base64;
use super::text;
use crate::facts::{Field, Shape, Ty, Type};
pub(super) use fault::qualified_name;
use fault::{Fault, go_type};
use zero::{is_empty, zero};

/// A value that has the form of its type.
#[derive(Debug)]
pub struct Conformed {
    /// Known fields only, zero values written or left out as Go does.
    pub value: Value,
    /// What strict decoding holds against it: unknown and duplicate fields, at most 100.
    pub strict: Vec<String>,
    /// The document has `metadata.managedFields` without any entry: a wish, of which Go writes nothing.
    pub forgets_managers: bool,
}

/// Gives a value the form of a type. The error is Go's.
pub fn conform(ty: &'static Type, value: Value) -> Result<Conformed, String> {
    conform_node(ty, Node::from(value), true)
}

/// An object of a type with nothing in it but its metadata, as a bookmark shows it.
pub(crate) fn empty(ty: &'static Type, metadata: &Value) -> crate::strategy::Object {
    match conform(ty, serde_json::json!({"metadata": metadata})) {
        Ok(Conformed { value: Value::Object(object), .. }) => object,
        _ => crate::strategy::Object::new(),
    }
}

/// The same for a document as it was read.
pub(super) fn conform_node(ty: &'static Type, node: Node<'_>, strict: bool) -> Result<Conformed, String> {
    let mut decoder = Decoder::new(strict);
    let value = decoder.run(Ty::Ref(ty), "", node).map_err(|fault| fault.to_string())?;
    Ok(Conformed { value, strict: decoder.strict, forgets_managers: decoder.forgets_managers })
}

/// A document that has no type.
pub(super) fn conform_loose(node: Node<'_>, strict: bool) -> Result<Conformed, String> {
    let mut decoder = Decoder { keeps_floats: true, ..Decoder::new(strict) };
    let value = decoder.run(Ty::Any, "", node).map_err(|fault| fault.to_string())?;
    Ok(Conformed { value, strict: decoder.strict, forgets_managers: false })
}

/// Strict decoding stops counting here.
const MAX_STRICT: usize = 100;

/// One run of Go's `Unmarshal`. Types with their own decoding start further ones.
struct Decoder {
    watch: bool,
    strict: Vec<String>,
    /// Where the document is read, for strict errors.
    path: String,
    /// The struct whose field is read, and the fields that lead there, for type errors.
    within: Option<&'static Type>,
    stack: Vec<&'static str>,
    /// Go reads on after a type error, and a later error of another sort is the one it reports.
    saved: Option<Fault>,
    forgets_managers: bool,
    /// A number with a point stays a float until it is written.
    keeps_floats: bool,
}

impl Decoder {
    fn new(watch: bool) -> Self {
        Self {
            watch,
            strict: Vec::new(),
            path: String::new(),
            within: None,
            stack: Vec::new(),
            saved: None,
            forgets_managers: false,
            keeps_floats: false,
        }
    }

    fn run(&mut self, ty: Ty, go: &'static str, node: Node<'_>) -> Result<Value, Fault> {
        let value = self.value(ty, go, node)?;
        match self.saved.take() {
            Some(fault) => Err(fault),
            None => Ok(value.unwrap_or_else(|| zero(ty))),
        }
    }

    /// The value that Go writes; none where what is read leaves Go's value as it was. `go` names the type if given.
    fn value(&mut self, ty: Ty, go: &'static str, node: Node<'_>) -> Result<Option<Value>, Fault> {
        let found = match (ty, node) {
            (Ty::Ref(Type { shape: Shape::Codec(codec, fields), .. }), node) => {
                return special::value(*codec, fields, node).map(Some).map_err(|fault| self.placed(fault));
            }
            (_, Node::Null) => return Ok(None),
            (Ty::Any, node) => self.any(node)?,
            (Ty::Ref(ty), Node::Object(members)) if matches!(ty.shape, Shape::Struct(_)) => {
                return self.object(ty, members).map(Some);
            }
            (Ty::Ref(Type { shape: Shape::List(item), .. }) | Ty::List(item), Node::Array(items)) => {
                return self.list(*item, item_of(go), items).map(Some);
            }
            (Ty::Map(item), Node::Object(members)) => return self.map(*item, item_of(go), members).map(Some),
            (Ty::Bool, Node::Bool(on)) => Some(Value::Bool(on)),
            (Ty::String, Node::String(text)) => Some(Value::String(text)),
            (Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64, Node::Number(literal)) => match number(ty, &literal) {
                Some(number) => Some(Value::Number(number)),
                None => self.mismatch(format!("number {literal}"), ty, go),
            },
            (Ty::Bytes, Node::String(text)) => match base64::canonical(&text) {
                Ok(text) => Some(Value::String(text)),
                Err(error) => self.save(Fault::Plain(error)),
            },
            (Ty::Bytes, Node::Array(items)) => Some(self.bytes(items)),
            (ty, node) => self.mismatch(node.form().to_owned(), ty, go),
        };
        Ok(found)
    }

    fn object(&mut self, ty: &'static Type, members: Vec<(String, Node<'_>)>) -> Result<Value, Fault> {
        let mut out = Map::new();
        let mut seen = 0_u128;
        let outside = self.within.replace(ty);
        let (path, depth) = (self.path.len(), self.stack.len());
        for (key, node) in members {
            let Some((field, index)) = lookup(ty.own_fields(), &key, &mut self.stack, &mut 0) else {
                self.found("unknown field", &key);
                continue;
            };
            let bit = 1_u128.checked_shl(index).unwrap_or(0);
            if seen & bit != 0 {
                self.found("duplicate field", field.name);
            }
            seen |= bit;
            self.stack.push(field.name);
            self.enter(field.name);
            let null = node == Node::Null;
            let value = if null && field.pointer { Ok(None) } else { self.value(field.ty, field.go, node) };
            self.path.truncate(path);
            if self.stack == ["metadata", "managedFields"] {
                self.forgets_managers = matches!(&value, Ok(Some(Value::Array(entries))) if entries.is_empty());
            }
            self.stack.truncate(depth);
            match value? {
                Some(value) => write(field, value, key, &mut out),
                None if field.pointer || matches!(field.ty, Ty::List(_) | Ty::Map(_) | Ty::Bytes | Ty::Any) => {
                    out.remove(field.name);
                }
                None => {}
            }
        }
        self.within = outside;
        zero::fill(ty.own_fields(), &mut out);
        Ok(Value::Object(out))
    }

    fn list(&mut self, ty: Ty, go: &'static str, items: Vec<Node<'_>>) -> Result<Value, Fault> {
        let path = self.path.len();
        let mut out = Vec::with_capacity(items.len());
        for (index, node) in items.into_iter().enumerate() {
            if self.watch {
                self.path.push('[');
                self.path.push_str(&index.to_string());
                self.path.push(']');
            }
            let value = self.value(ty, go, node);
            self.path.truncate(path);
            out.push(value?.unwrap_or_else(|| zero(ty)));
        }
        Ok(Value::Array(out))
    }

    fn map(&mut self, ty: Ty, go: &'static str, members: Vec<(String, Node<'_>)>) -> Result<Value, Fault> {
        let path = self.path.len();
        let mut out = Map::new();
        for (key, node) in members {
            if out.contains_key(&key) {
                self.found("duplicate field", &key);
            }
            self.enter(&key);
            let value = self.value(ty, go, node);
            self.path.truncate(path);
            out.insert(key, value?.unwrap_or_else(|| zero(ty)));
        }
        Ok(Value::Object(out))
    }

    fn any(&mut self, node: Node<'_>) -> Result<Option<Value>, Fault> {
        match node {
            Node::Number(literal) => Ok(match any_number(&literal, self.keeps_floats) {
                Some(number) => Some(Value::Number(number)),
                None => self.mismatch(format!("number {literal}"), Ty::Float64, ""),
            }),
            Node::Array(items) => self.list(Ty::Any, "", items).map(Some),
            Node::Object(members) => self.map(Ty::Any, "", members).map(Some),
            node => Ok(node.into_value().ok()),
        }
    }

    /// Go takes bytes as a list of numbers, too.
    fn bytes(&mut self, items: Vec<Node<'_>>) -> Value {
        let mut bytes = Vec::with_capacity(items.len());
        for node in items {
            bytes.push(match node {
                Node::Null => 0,
                Node::Number(literal) => literal.parse::<u8>().unwrap_or_else(|_| {
                    self.type_fault(format!("number {literal}"), "uint8".to_owned());
                    0
                }),
                node => {
                    self.type_fault(node.form().to_owned(), "uint8".to_owned());
                    0
                }
            });
        }
        Value::String(base64::encode(&bytes))
    }

    fn enter(&mut self, key: &str) {
        if self.watch {
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(key);
        }
    }

    fn found(&mut self, what: &str, key: &str) {
        if !self.watch || self.strict.len() >= MAX_STRICT {
            return;
        }
        let path = if self.path.is_empty() { text::quote(key) } else { text::quote(&format!("{}.{key}", self.path)) };
        let finding = format!("{what} {path}");
        if !self.strict.contains(&finding) {
            self.strict.push(finding);
        }
    }

    fn mismatch(&mut self, found: String, ty: Ty, go: &'static str) -> Option<Value> {
        self.type_fault(found, if go.is_empty() { go_type(ty) } else { go.to_owned() })
    }

    fn type_fault(&mut self, found: String, wanted: String) -> Option<Value> {
        self.save(Fault::Type { found, wanted, within: None, field: String::new() })
    }

    fn save(&mut self, fault: Fault) -> Option<Value> {
        if self.saved.is_none() {
            self.saved = Some(self.placed(fault));
        }
        None
    }

    fn placed(&self, fault: Fault) -> Fault {
        match self.within {
            None => fault,
            Some(ty) => fault.inside(ty, &self.stack),
        }
    }
}

/// Finds a field and counts the fields before it. Those of inline types are found through the names of these.
fn lookup(
    fields: &'static [Field],
    name: &str,
    stack: &mut Vec<&'static str>,
    index: &mut u32,
) -> Option<(&'static Field, u32)> {
    for field in fields {
        match field.ty {
            Ty::Ref(inner) if field.inline => {
                stack.push(fault::short_name(inner));
                if let Some(found) = lookup(inner.own_fields(), name, stack, index) {
                    return Some(found);
                }
                stack.pop();
            }
            _ if field.name == name => return Some((field, *index)),
            _ => *index += 1,
        }
    }
    None
}

/// The name of the items of a list or map, unless it has a name as a whole.
pub(super) fn item_of(go: &'static str) -> &'static str {
    match go.strip_prefix("map[") {
        Some(rest) => rest.split_once(']').map_or("", |(_, item)| item),
        None => go.strip_prefix("[]").unwrap_or_default(),
    }
}

fn write(field: &'static Field, value: Value, key: String, out: &mut Map<String, Value>) {
    let left_out = !field.pointer
        && (field.omitempty && is_empty(field.ty, &value) || field.omitzero && zero::is_zero(field.ty, &value));
    if left_out {
        out.remove(field.name);
    } else {
        out.insert(key, value);
    }
}

fn number(ty: Ty, literal: &str) -> Option<Number> {
    match ty {
        Ty::Int32 => literal.parse::<i32>().ok().map(Number::from),
        Ty::Uint32 => literal.parse::<u32>().ok().map(Number::from),
        Ty::Float64 => float(literal),
        _ => literal.parse::<i64>().ok().map(Number::from),
    }
}

/// Integers stay what they are unless there is a point or too many digits.
fn any_number(literal: &str, keeps_floats: bool) -> Option<Number> {
    match literal.parse::<i64>() {
        Ok(int) => Some(int.into()),
        Err(_) if keeps_floats => Number::from_f64(literal.parse().ok()?),
        Err(_) => float(literal),
    }
}

/// Whether Go would write a number otherwise: `1.0` as `1`.
pub(super) fn has_whole_floats(value: &Value) -> bool {
    match value {
        Value::Number(number) => whole(number).is_some(),
        Value::Array(items) => items.iter().any(has_whole_floats),
        Value::Object(members) => members.values().any(has_whole_floats),
        _ => false,
    }
}

/// Numbers as they come back from Go; `-0` is an integer to who reads it.
pub(super) fn write_whole_floats(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(int) = whole(number) {
                *number = int.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole_floats),
        Value::Object(members) => members.values_mut().for_each(write_whole_floats),
        _ => {}
    }
}

fn whole(number: &Number) -> Option<i64> {
    number.is_f64().then(|| text::number(number))?.parse().ok()
}

/// A float as it comes back from Go, which writes `1.0` as `1`.
fn float(literal: &str) -> Option<Number> {
    let number = Number::from_f64(literal.parse().ok()?)?;
    match text::number(&number).as_str() {
        "-0" => Some(number),
        written => written.parse::<i64>().map_or(Some(number), |int| Some(int.into())),
    }
}
