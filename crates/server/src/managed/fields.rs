//! Sets of fields as the JSON of a managedFields entry.

use serde_json::{Map, Value};

use super::element::{Element, write_text};
use super::set::{Node, Set};

impl Set {
    /// Reads FieldsV1.
    pub fn from_fields(fields: &Value) -> Result<Self, String> {
        match fields {
            Value::Null => Ok(Self::default()),
            Value::Object(map) => Self::read(map).map(|(set, _)| set),
            other => Err(format!("expected an object of fields, got `{other}`")),
        }
    }

    /// The set below an element, and whether the element itself is a member.
    fn read(map: &Map<String, Value>) -> Result<(Self, bool), String> {
        let mut set = Self { nodes: Vec::with_capacity(map.len()) };
        let (mut itself, mut sorted) = (false, true);
        for (key, below) in map {
            if key == "." {
                itself = true;
                continue;
            }
            let Some(element) = Element::parse(key)? else { continue };
            let (children, member) = match below {
                Value::Null => (Self::default(), true),
                Value::Object(map) => Self::read(map)?,
                other => return Err(format!("expected an object of fields, got `{other}`")),
            };
            sorted &= set.nodes.last().is_none_or(|last| last.element < element);
            set.nodes.push(Node { element, member, children });
        }
        if !sorted {
            // Stable: of two spellings of one element, the later one says what lies below.
            set.nodes.sort_by(|a, b| a.element.cmp(&b.element));
            set.nodes.dedup_by(|later, kept| {
                let same = later.element == kept.element;
                if same {
                    kept.member |= later.member;
                    if !later.children.is_empty() {
                        kept.children = std::mem::take(&mut later.children);
                    }
                }
                same
            });
        }
        itself |= set.is_empty();
        Ok((set, itself))
    }

    /// As FieldsV1. The order of keys is that of the map; see [`Set::to_text`].
    pub fn to_fields(&self) -> Value {
        Value::Object(self.write_map(false))
    }

    fn write_map(&self, itself: bool) -> Map<String, Value> {
        let dot = (itself && !self.is_empty()).then(|| (".".to_owned(), Value::Object(Map::new())));
        let nodes =
            self.nodes.iter().map(|node| (node.element.to_text(), Value::Object(node.children.write_map(node.member))));
        dot.into_iter().chain(nodes).collect()
    }

    /// As the text of FieldsV1, with the keys in Kubernetes' order: numbers in keys count as numbers.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write_text(false, &mut out);
        out
    }

    fn write_text(&self, itself: bool, out: &mut String) {
        out.push('{');
        if itself && !self.is_empty() {
            out.push_str(r#"".":{}"#);
        }
        for node in &self.nodes {
            if !out.ends_with('{') {
                out.push(',');
            }
            write_text(&node.element.to_text(), false, out);
            out.push(':');
            node.children.write_text(node.member, out);
        }
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_read_and_written() {
        let fields = json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:ports": {"k:{\"port\":443}": {}, "k:{\"port\":80}": {".": {}, "f:port": {}}},
            "f:finalizers": {"v:\"a\"": {}},
        });
        let set = Set::from_fields(&fields).unwrap();
        assert_eq!(set.to_fields(), fields);
        let text = r#"{"f:finalizers":{"v:\"a\"":{}},"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}},"k:{\"port\":443}":{}}}"#;
        assert_eq!(set.to_text(), text);
    }

    #[test]
    fn what_later_versions_write_is_dropped_and_nonsense_refused() {
        let set = Set::from_fields(&json!({"x:new": {}, "f:a": {"x:new": {}}, "f:b": null})).unwrap();
        assert_eq!(set.to_fields(), json!({"f:a": {}, "f:b": {}}));
        for bad in [json!([]), json!("x"), json!({"f:a": 1}), json!({"a": {}}), json!({"f:a": {"k:1": {}}})] {
            Set::from_fields(&bad).unwrap_err();
        }
    }
}
