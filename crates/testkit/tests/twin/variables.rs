//! What is filled into a request: `{{name}}` of an earlier capture, `{{decode name}}` where that is base64, and
//! `{{repeat TEXT COUNT}}` for large bodies.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::path::look;

/// Values by name, for one server.
#[derive(Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Keeps a part of an answer. What is missing is kept as that, so that the next request shows it.
    pub(crate) fn capture(&mut self, name: &str, path: &str, body: &Value) {
        self.set(name, &format!("missing-{name}"));
        self.capture_if_there(name, path, body);
    }

    /// Keeps a part of an answer, if it has that.
    pub(crate) fn capture_if_there(&mut self, name: &str, path: &str, body: &Value) {
        match look(body, path) {
            Some(Value::String(text)) => self.set(name, text),
            Some(other) => self.set(name, &other.to_string()),
            None => {}
        }
    }

    /// Fills a text. What is unknown stays as it is written.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            filled.push_str(before);
            let Some((name, after)) = after.split_once("}}") else {
                filled.push_str("{{");
                rest = after;
                continue;
            };
            filled.push_str(&self.value(name).unwrap_or_else(|| format!("{{{{{name}}}}}")));
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    fn value(&self, name: &str) -> Option<String> {
        if let Some(repeat) = name.strip_prefix("repeat ") {
            let (text, count) = repeat.rsplit_once(' ')?;
            return Some(text.repeat(count.parse().ok()?));
        }
        if let Some(encoded) = name.strip_prefix("decode ") {
            return String::from_utf8(BASE64_STANDARD.decode(self.0.get(encoded)?).ok()?).ok();
        }
        self.0.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_filled_in() {
        let mut variables = Variables::default();
        variables.set("ns", "a");
        variables.capture("rv", ".metadata.rv", &json!({"metadata": {"rv": "5"}}));
        variables.capture("count", ".n", &json!({"n": 5}));
        variables.capture("gone", ".x", &json!({}));
        variables.capture_if_there("rv", ".x", &json!({}));
        for (text, expected) in [
            ("/{{ns}}/{{rv}}?n={{count}}", "/a/5?n=5"),
            ("{{gone}}", "missing-gone"),
            ("{{repeat ab 3}}!", "ababab!"),
            ("{{other}} {{", "{{other}} {{"),
            ("{\"a\":{\"b\":{}}}", "{\"a\":{\"b\":{}}}"),
        ] {
            assert_eq!(variables.fill(text), expected);
        }
    }
}
