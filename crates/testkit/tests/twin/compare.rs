//! Two answers side by side.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::path::join;
use crate::text::{Piece, pieces};

/// A place where answers differ.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Difference {
    /// `status`, `header warning`, or a path into the body.
    pub(crate) path: String,
    pub(crate) real: String,
    pub(crate) ours: String,
}

/// Which of their values stands for which of ours: ids, versions, addresses, ports. One to one, over a whole script, so
/// that the same id in two places on one side must be the same in both places on the other.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    forth: BTreeMap<(Class, String), String>,
    back: BTreeMap<(Class, String), String>,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Class {
    Uid,
    Version,
    Address,
    Port,
}

impl Twins {
    fn pair(&mut self, class: Class, real: &str, ours: &str) -> bool {
        let forth = self.forth.entry((class, real.to_owned())).or_insert_with(|| ours.to_owned());
        let back = self.back.entry((class, ours.to_owned())).or_insert_with(|| real.to_owned());
        forth == ours && back == real
    }

    /// Every difference between two documents.
    pub(crate) fn compare(&mut self, real: &Value, ours: &Value) -> Vec<Difference> {
        let mut found = Vec::new();
        self.walk("", "", real, ours, &mut found);
        found
    }

    /// Whether two texts say the same.
    pub(crate) fn texts(&mut self, real: &str, ours: &str) -> bool {
        if real == ours && pieces(real).iter().all(|piece| matches!(piece, Piece::Plain(_))) {
            return true;
        }
        let (real, ours) = (pieces(real), pieces(ours));
        real.len() == ours.len() && real.iter().zip(&ours).all(|pair| self.same_piece(pair))
    }

    fn same_piece(&mut self, pair: (&Piece<'_>, &Piece<'_>)) -> bool {
        match pair {
            (Piece::Uid(real), Piece::Uid(ours)) => self.pair(Class::Uid, real, ours),
            (Piece::Version(real), Piece::Version(ours)) => self.pair(Class::Version, real, ours),
            (Piece::Port(real), Piece::Port(ours)) => self.pair(Class::Port, real, ours),
            (Piece::Address(real), Piece::Address(ours)) => self.pair(Class::Address, real, ours),
            (real, ours) => real == ours,
        }
    }

    fn walk(&mut self, path: &str, key: &str, real: &Value, ours: &Value, found: &mut Vec<Difference>) {
        match (real, ours) {
            (Value::Object(left), Value::Object(right)) => {
                let mut rest: BTreeMap<&String, &Value> = right.iter().collect();
                for (key, left) in left {
                    let path = join(path, key);
                    match rest.remove(&self.twin_of(key)) {
                        Some(right) => self.walk(&path, key, left, right, found),
                        None => found.push(difference(path, Some(left), None)),
                    }
                }
                found.extend(rest.into_iter().map(|(key, right)| difference(join(path, key), None, Some(right))));
            }
            (Value::Array(left), Value::Array(right)) => {
                for index in 0..left.len().max(right.len()) {
                    let path = format!("{path}[{index}]");
                    match (left.get(index), right.get(index)) {
                        (Some(left), Some(right)) => self.walk(&path, key, left, right, found),
                        (left, right) => found.push(difference(path, left, right)),
                    }
                }
            }
            _ if self.same_leaf(key, real, ours) => {}
            _ => found.push(difference(path.to_owned(), Some(real), Some(ours))),
        }
    }

    /// What a key of theirs is called on our side: keys of managed fields name owners by their ids.
    fn twin_of(&self, key: &str) -> String {
        let translate = |piece: Piece<'_>| match piece {
            Piece::Uid(id) => self.forth.get(&(Class::Uid, id.to_owned())).cloned().unwrap_or_else(|| id.to_owned()),
            Piece::Plain(text) => text.to_owned(),
            _ => String::new(),
        };
        if key.contains("\"uid\"") { pieces(key).into_iter().map(translate).collect() } else { key.to_owned() }
    }

    fn same_leaf(&mut self, key: &str, real: &Value, ours: &Value) -> bool {
        let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match (real, ours) {
            (Value::String(left), Value::String(right))
                if key == "resourceVersion" && number(left) && number(right) =>
            {
                self.pair(Class::Version, left, right)
            }
            (Value::String(left), Value::String(right)) => self.texts(left, right),
            (Value::Number(left), Value::Number(right)) if key.ends_with("odePort") => {
                self.pair(Class::Port, &left.to_string(), &right.to_string())
            }
            _ => real == ours,
        }
    }
}

fn difference(path: String, real: Option<&Value>, ours: Option<&Value>) -> Difference {
    let show = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::to_string);
    Difference { path, real: show(real), ours: show(ours) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const A: &str = "aaaaaaaa-0000-4000-8000-000000000000";
    const B: &str = "bbbbbbbb-0000-4000-8000-000000000000";
    const C: &str = "cccccccc-0000-4000-8000-000000000000";

    fn paths(twins: &mut Twins, real: &Value, ours: &Value) -> Vec<String> {
        twins.compare(real, ours).into_iter().map(|difference| difference.path).collect()
    }

    #[test]
    fn every_place_is_named_once() {
        let real = json!({"a": 1, "b": [1, 2], "c": {"d": null}, "t": "2026-01-01T00:00:00Z"});
        let ours = json!({"a": 2, "b": [1], "c": {}, "t": "2026-01-01T00:00:00.000000Z"});
        assert_eq!(paths(&mut Twins::default(), &real, &ours), [".a", ".b[1]", ".c.d", ".t"]);
    }

    #[test]
    fn ids_are_free_but_consistent() {
        let mut twins = Twins::default();
        assert_eq!(paths(&mut twins, &json!([A, A]), &json!([B, B])), [""; 0]);
        assert_eq!(
            paths(&mut twins, &json!({"message": format!("uid {A}")}), &json!({"message": format!("uid {B}")})),
            [""; 0]
        );
        assert_eq!(paths(&mut twins, &json!([A]), &json!([C])), ["[0]"], "A was B before");
        assert_eq!(paths(&mut twins, &json!([C]), &json!([B])), ["[0]"], "B was A before");
    }

    #[test]
    fn ids_in_keys_are_followed() {
        let mut twins = Twins::default();
        let owned = |id: &str| json!({format!("k:{{\"uid\":\"{id}\"}}"): {}});
        assert_eq!(paths(&mut twins, &json!([A]), &json!([B])), [""; 0]);
        assert_eq!(paths(&mut twins, &owned(A), &owned(B)), [""; 0]);
        assert_eq!(paths(&mut twins, &owned(A), &owned(C)).len(), 2);
    }

    #[test]
    fn versions_are_free_but_consistent() {
        let mut twins = Twins::default();
        let version = |text: &str| json!({"resourceVersion": text});
        assert_eq!(paths(&mut twins, &version("5"), &version("900")), [""; 0]);
        assert_eq!(paths(&mut twins, &version("5"), &version("901")), [".resourceVersion"], "a write that was none");
        assert_eq!(paths(&mut twins, &version("6"), &version("")), [".resourceVersion"]);
    }
}
