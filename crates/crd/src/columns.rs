//! Custom resources as rows of a table: the columns that a definition asks for.

use serde_json::{Map, Value, json};

use crate::go;
use crate::jsonpath::{Found, JsonPath};

const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some \
    resources may allow a client to request the generation of an appropriate name automatically. Name is primarily \
    intended for creation idempotence and configuration definition. Cannot be updated. More info: \
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is \
    not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It \
    is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The columns of a version of a definition.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Those after the name.
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
    path: JsonPath,
}

impl Columns {
    /// The columns of an item of `spec.versions`. After one whose path is malformed there are no more.
    pub fn compile(version: &Value) -> Self {
        let wished = version.get("additionalPrinterColumns").and_then(Value::as_array);
        let age = || {
            vec![json!({"name": "Age", "type": "date", "description": AGE, "jsonPath": ".metadata.creationTimestamp"})]
        };
        let columns = wished.filter(|wished| !wished.is_empty()).cloned().unwrap_or_else(age);
        Self { columns: columns.iter().map_while(Column::read).collect() }
    }

    /// The columns as a table describes them.
    pub fn definitions(&self) -> Value {
        let name = json!({"name": "Name", "type": "string", "format": "name", "description": NAME, "priority": 0});
        let others = self.columns.iter().map(|column| {
            let Column { name, kind, format, description, priority, .. } = column;
            json!({"name": name, "type": kind, "format": format, "description": description, "priority": priority})
        });
        std::iter::once(name).chain(others).collect()
    }

    /// The row of an object. `age` says how long ago a time in RFC 3339 was; none if it is none.
    pub fn cells(&self, object: &Map<String, Value>, age: impl Fn(&str) -> Option<String>) -> Vec<Value> {
        let name = object.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str);
        let cell = |column: &Column| column.path.first(object).map_or(Value::Null, |found| column.cell(&found, &age));
        std::iter::once(name.unwrap_or_default().into()).chain(self.columns.iter().map(cell)).collect()
    }
}

impl Column {
    fn read(column: &Value) -> Option<Self> {
        let text = |key: &str| column.get(key).and_then(Value::as_str).unwrap_or_default();
        let path = text("jsonPath");
        let description = match text("description") {
            "" => format!("Custom resource definition column (in JSONPath format): {path}"),
            own => own.to_owned(),
        };
        Some(Self {
            name: text("name").to_owned(),
            kind: text("type").to_owned(),
            format: text("format").to_owned(),
            description,
            priority: column.get("priority").and_then(Value::as_i64).unwrap_or_default(),
            path: JsonPath::parse(path)?,
        })
    }

    fn cell(&self, found: &Found<'_>, age: impl Fn(&str) -> Option<String>) -> Value {
        match (self.kind.as_str(), found) {
            ("string", found) => printed(found).into(),
            ("integer", Found::Value(Value::Number(number))) => match number.as_i64() {
                Some(int) => int.into(),
                None => number.as_f64().map_or(Value::Null, |float| go::truncated(float).into()),
            },
            ("integer", Found::Float(float)) => go::truncated(*float).into(),
            ("number", Found::Float(float)) => (*float).into(),
            ("number", Found::Value(value @ Value::Number(_))) | ("boolean", Found::Value(value @ Value::Bool(_))) => {
                (*value).clone()
            }
            ("boolean", Found::Bool(flag)) => (*flag).into(),
            ("date", Found::Value(Value::String(time))) => date(time, age),
            ("date", Found::Text(time)) => date(time, age),
            _ => Value::Null,
        }
    }
}

fn date(time: &str, age: impl Fn(&str) -> Option<String>) -> Value {
    if matches!(time, "" | "null" | "0001-01-01T00:00:00Z") {
        return "<unknown>".into();
    }
    age(time).unwrap_or_else(|| "<invalid>".to_owned()).into()
}

/// Anything as a text.
fn printed(found: &Found<'_>) -> String {
    match found {
        Found::Value(Value::Null) => "<no value>".to_owned(),
        Found::Value(Value::String(text)) => text.clone(),
        Found::Value(value @ (Value::Object(_) | Value::Array(_))) => go::json(*value),
        Found::Object(object) => go::json(go::Data::Object(object)),
        Found::Value(value) => go::printed(*value),
        Found::Text(text) => (*text).to_owned(),
        Found::Int(int) => int.to_string(),
        Found::Float(float) => go::float_text(*float),
        Found::Bool(flag) => flag.to_string(),
    }
}
