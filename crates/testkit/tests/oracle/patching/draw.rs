//! Patches that lead from one object some way towards another, and now and then astray.

use rolewright_server::patch::PatchType;
use rolewright_server::strategy::Object;
use serde_json::{Map, Value, json};

/// Draws a patch. Without choices left it is the plainest one.
pub(super) fn patch(kind: PatchType, original: &Object, other: &Object, choices: &[u8]) -> String {
    let mut draw = Draw { choices: choices.iter() };
    let patch = match kind {
        PatchType::Json => draw.operations(original, other),
        PatchType::Merge => draw.merge(original, other),
        PatchType::Strategic => draw.strategic(original, other, 0),
    };
    let text = patch.to_string();
    match draw.byte() {
        1 => text.chars().take(text.chars().count() / 2).collect(),
        2 => format!("{text}x"),
        3 => text.replacen(':', ":[", 1),
        4 => "null".to_owned(),
        5 => "[]".to_owned(),
        6 => "{}".to_owned(),
        7 => "5".to_owned(),
        8 => text.replacen("{\"", "{\"a\":1,\"a\":{\"b\":2},\"", 1),
        9 => text.replace(":1", ":1.0"),
        10 => text.replacen(":\"", ":\"\\u0061", 1),
        11 => String::new(),
        12 => text.replacen('}', ",}", 1),
        13 => format!("[{text}]"),
        14 => text.replacen("\"op\"", "\"Op\"", 1),
        15 => text.replacen("\"path\":", "\"path\":7,\"path\":", 1),
        16 => text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"),
        _ => text,
    }
}

struct Draw<'a> {
    choices: std::slice::Iter<'a, u8>,
}

/// Fields that identify items of lists here and there.
const KEYS: &[&str] =
    &["name", "type", "containerPort", "port", "ip", "key", "uid", "mountPath", "devicePath", "topologyKey"];

impl Draw<'_> {
    fn byte(&mut self) -> u8 {
        self.choices.next().copied().unwrap_or(0)
    }

    fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { usize::from(self.byte()) % bound }
    }

    /// True for `share` of 256 choices.
    fn chance(&mut self, share: u8) -> bool {
        let byte = self.byte();
        byte != 0 && byte <= share
    }

    fn odd(&mut self) -> Value {
        const VALUES: &[&str] =
            &["null", "{}", "[]", "1", "1.5", "\"x\"", "true", "[null]", "[[1]]", "[{}]", "[1,\"a\"]", "{\"a\":null}"];
        serde_json::from_str(VALUES[self.below(VALUES.len())]).expect("the values are JSON")
    }

    fn operations(&mut self, original: &Object, other: &Object) -> Value {
        let original = Value::Object(original.clone());
        let other = Value::Object(other.clone());
        let (here, there) = (pointers(&original), pointers(&other));
        let count = 1 + self.below(4);
        (0..count).map(|_| self.operation(&original, &here, &other, &there)).collect()
    }

    fn operation(&mut self, original: &Value, here: &[String], other: &Value, there: &[String]) -> Value {
        let from = here[self.below(here.len())].clone();
        let path = self.path(here);
        let value = match self.below(4) {
            0 => self.odd(),
            1 => original.pointer(&from).cloned().unwrap_or_default(),
            _ => other.pointer(&there[self.below(there.len())]).cloned().unwrap_or_default(),
        };
        let mut operation = match self.below(16) {
            0..=3 => json!({"op": "replace", "path": path, "value": value}),
            4..=7 => json!({"op": "add", "path": path, "value": value}),
            8 => json!({"op": "remove", "path": path}),
            9..=11 => json!({"op": "test", "path": from, "value": original.pointer(&from)}),
            12 => json!({"op": "test", "path": path, "value": value}),
            13 | 14 => json!({"op": "copy", "from": from, "path": path}),
            _ => json!({"op": "move", "from": from, "path": path}),
        };
        match self.byte() {
            1 => operation["op"] = self.odd(),
            2 => operation["path"] = self.odd(),
            3 => operation["extra"] = self.odd(),
            4 => drop(operation.as_object_mut().expect("it is an object").remove("value")),
            5 => drop(operation.as_object_mut().expect("it is an object").remove("path")),
            6 => operation = self.odd(),
            _ => {}
        }
        operation
    }

    fn path(&mut self, here: &[String]) -> String {
        let path = here[self.below(here.len())].clone();
        match self.below(40) {
            0 => format!("{path}/-"),
            1 => format!("{path}/0"),
            2 => format!("{path}/-1"),
            3 => format!("{path}/new"),
            4 => format!("{path}/1"),
            5 => format!("{path}/x/y"),
            6 => path.trim_start_matches('/').to_owned(),
            _ => path,
        }
    }

    fn merge(&mut self, original: &Object, other: &Object) -> Value {
        let mut patch = Map::new();
        for key in original.keys().chain(other.keys().filter(|key| !original.contains_key(*key))) {
            let (old, new) = (original.get(key), other.get(key));
            let value = match self.below(8) {
                0 | 1 => continue,
                2 => self.odd(),
                3 => Value::Null,
                4 => old.or(new).cloned().unwrap_or_default(),
                _ => match (old, new) {
                    (Some(Value::Object(old)), Some(Value::Object(new))) => self.merge(old, new),
                    (old, new) => new.or(old).cloned().unwrap_or_default(),
                },
            };
            patch.insert(key.clone(), value);
        }
        Value::Object(patch)
    }

    fn strategic(&mut self, original: &Object, other: &Object, depth: usize) -> Value {
        let mut patch = Map::new();
        for key in original.keys().chain(other.keys().filter(|key| !original.contains_key(*key))) {
            let (old, new) = (original.get(key), other.get(key));
            match (old, new) {
                _ if self.chance(50) => {}
                _ if self.chance(6) => drop(patch.insert(key.clone(), self.odd())),
                _ if self.chance(15) => drop(patch.insert(key.clone(), Value::Null)),
                (Some(Value::Object(old)), Some(Value::Object(new))) => {
                    let value = self.strategic(old, new, depth + 1);
                    patch.insert(key.clone(), value);
                }
                (Some(Value::Array(old)), Some(Value::Array(new))) => self.list(key, old, new, &mut patch),
                (Some(Value::Array(old)), None) => self.list(key, old, &[], &mut patch),
                (old, new) => drop(patch.insert(key.clone(), new.or(old).cloned().unwrap_or_default())),
            }
        }
        if self.chance(if depth == 0 { 2 } else { 12 }) {
            let directive = [json!("replace"), json!("delete"), json!("merge"), json!(5), json!(null), json!(["a"])];
            patch.insert("$patch".to_owned(), directive[self.below(directive.len())].clone());
        }
        if self.chance(16) {
            let mut kept: Vec<Value> = patch.keys().cloned().map(Value::String).collect();
            if self.chance(40) {
                kept.pop();
            }
            let kept = if self.chance(20) { self.odd() } else { Value::Array(kept) };
            patch.insert("$retainKeys".to_owned(), kept);
        }
        if self.chance(4) {
            let directive =
                ["$setElementOrder", "$deleteFromPrimitiveList", "$setElementOrderx/a", "$setElementOrder/x"];
            let directive = directive[self.below(directive.len())];
            let value = self.odd();
            patch.insert(directive.to_owned(), value);
        }
        Value::Object(patch)
    }

    fn list(&mut self, key: &str, old: &[Value], new: &[Value], patch: &mut Map<String, Value>) {
        let objects = old.iter().chain(new).any(Value::is_object);
        let mut items: Vec<Value> = Vec::new();
        let mut order: Vec<Value> = Vec::new();
        let merge_key = old
            .iter()
            .chain(new)
            .find_map(|item| KEYS.iter().find(|key| item.get(**key).is_some()).copied())
            .unwrap_or("name");
        for item in new.iter().chain(old) {
            let name = item.get(merge_key).cloned();
            let short = || Value::Object(name.clone().map(|name| (merge_key.to_owned(), name)).into_iter().collect());
            match self.below(6) {
                0 => continue,
                1 if objects => {
                    let mut item = short();
                    item["$patch"] = if self.chance(30) { self.odd() } else { json!("delete") };
                    items.push(item);
                    continue;
                }
                2 => {}
                3 if self.chance(60) => items.push(self.odd()),
                _ => items.push(match (item, old.iter().find(|old| old.get(merge_key) == name.as_ref())) {
                    (Value::Object(new), Some(Value::Object(old))) if name.is_some() => {
                        let mut merged = self.strategic(old, new, 1);
                        if !self.chance(20) {
                            merged[merge_key] = name.clone().unwrap_or_default();
                        }
                        merged
                    }
                    (item, _) => item.clone(),
                }),
            }
            order.push(if objects { short() } else { item.clone() });
        }
        if objects && self.chance(12) {
            items.push(json!({"$patch": "replace"}));
        }
        let ordered = self.chance(80);
        if ordered {
            if self.chance(30) {
                order.reverse();
            }
            let order = if self.chance(8) { self.odd() } else { Value::Array(order) };
            patch.insert(format!("$setElementOrder/{key}"), order);
        }
        if !objects && self.chance(60) {
            patch
                .insert(format!("$deleteFromPrimitiveList/{key}"), Value::Array(old.iter().take(2).cloned().collect()));
            // Without an order, Kubernetes deletes before or after it adds, as it happens.
            if !ordered {
                return;
            }
        }
        if !self.chance(30) {
            patch.insert(key.to_owned(), Value::Array(items));
        }
    }
}

/// Every place in a document.
fn pointers(value: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, out: &mut Vec<String>) {
        out.push(at.to_owned());
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    walk(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
                }
            }
            Value::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    walk(item, &format!("{at}/{position}"), out);
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(value, "", &mut out);
    out
}
