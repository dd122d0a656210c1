//! What Kubernetes holds against the text of a patch before it applies it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rolewright_core::validate::BadValue;

use super::node::Node;

/// Reads the operations of a JSON patch: faults of the text as Kubernetes words them, or what strict checks find.
pub(super) fn operations(patch: &Node) -> Result<Vec<String>, String> {
    let mut check = Check::default();
    match patch {
        Node::Array(operations) => {
            for (position, operation) in operations.iter().enumerate() {
                check.path = format!("[{position}]");
                check.operation(operation);
            }
        }
        Node::Null => {}
        other => check.mismatch(other, "value of type []handlers.jsonPatchOp"),
    }
    Ok(check.done()?.into_iter().map(|fault| format!("json patch {fault}")).collect())
}

/// The same for a patch that is an object.
pub(super) fn object(patch: &Node) -> Result<Vec<String>, String> {
    let mut check = Check::default();
    match patch {
        Node::Object(_) | Node::Null => check.any(patch, "value"),
        other => check.mismatch(other, "value of type map[string]interface {}"),
    }
    check.done()
}

/// Strict decoding stops counting here.
const MAX: usize = 100;

#[derive(Default)]
struct Check {
    faults: Vec<String>,
    error: Option<String>,
    /// Where the text is read.
    path: String,
}

impl Check {
    fn done(self) -> Result<Vec<String>, String> {
        self.error.map_or(Ok(self.faults), Err)
    }

    /// Go reads on after an error of type, and reports the first.
    fn mismatch(&mut self, node: &Node, wanted: &str) {
        let form = node.form();
        self.error.get_or_insert_with(|| format!("json: cannot unmarshal {form} into Go {wanted}"));
    }

    fn found(&mut self, what: &str) {
        if self.faults.len() >= MAX {
            return;
        }
        let fault = format!("{what} field {}", BadValue::from(self.path.as_str()));
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Goes to a member and returns the way back.
    fn enter(&mut self, name: &str) -> usize {
        let back = self.path.len();
        if back > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        back
    }

    fn operation(&mut self, node: &Node) {
        let members = match node {
            Node::Object(members) => members,
            Node::Null => return,
            other => return self.mismatch(other, "value of type handlers.jsonPatchOp"),
        };
        let mut seen = BTreeSet::new();
        for (name, value) in members {
            let back = self.enter(name);
            let known = matches!(name.as_str(), "op" | "path" | "from" | "value");
            if !known {
                self.found("unknown");
            } else if !seen.insert(name) {
                self.found("duplicate");
            }
            if name == "value" {
                self.any(value, "struct field jsonPatchOp.value");
            } else if known && !matches!(value, Node::Null) && value.form() != "string" {
                self.mismatch(value, &format!("struct field jsonPatchOp.{name} of type string"));
            }
            self.path.truncate(back);
        }
    }

    /// A value without a type.
    fn any(&mut self, node: &Node, within: &str) {
        match node {
            Node::Object(members) => {
                let mut seen = BTreeSet::new();
                for (name, value) in members {
                    let back = self.enter(name);
                    if !seen.insert(name) {
                        self.found("duplicate");
                    }
                    self.any(value, within);
                    self.path.truncate(back);
                }
            }
            Node::Array(items) => {
                let back = self.path.len();
                for (position, item) in items.iter().enumerate() {
                    write!(self.path, "[{position}]").expect("a String takes all text");
                    self.any(item, within);
                    self.path.truncate(back);
                }
            }
            Node::Scalar(raw) if node.form() == "number" && !raw.parse::<f64>().is_ok_and(f64::is_finite) => {
                self.error.get_or_insert_with(|| {
                    format!("json: cannot unmarshal number {raw} into Go {within} of type float64")
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tree::parse;

    #[test]
    fn operations_are_checked() {
        for (text, expected) in [
            ("null", Ok(vec![])),
            (r#"[{"op":"add","path":"/a","value":{"b":1}},null]"#, Ok(vec![])),
            ("{}", Err("json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp")),
            ("[1]", Err("json: cannot unmarshal number into Go value of type handlers.jsonPatchOp")),
            (
                r#"[{"path":1}]"#,
                Err("json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string"),
            ),
            (
                r#"[{"value":1e999}]"#,
                Err("json: cannot unmarshal number 1e999 into Go struct field jsonPatchOp.value of type float64"),
            ),
            (
                r#"[{"op":"a","op":"b","x":{"y":1,"y":2},"value":[{"z":1,"z":2}]}]"#,
                Ok(vec![
                    "json patch duplicate field \"[0].op\"",
                    "json patch unknown field \"[0].x\"",
                    "json patch duplicate field \"[0].value[0].z\"",
                ]),
            ),
        ] {
            let found = operations(&parse(text.as_bytes()).unwrap());
            let expected = expected.map(|list| list.into_iter().map(str::to_owned).collect()).map_err(str::to_owned);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn objects_are_checked() {
        for (text, expected) in [
            ("null", Ok(vec![])),
            ("[]", Err("json: cannot unmarshal array into Go value of type map[string]interface {}")),
            (
                r#"{"a":1,"b":{"c":[{"d":1,"d":2}]},"a":2}"#,
                Ok(vec!["duplicate field \"b.c[0].d\"", "duplicate field \"a\""]),
            ),
        ] {
            let found = object(&parse(text.as_bytes()).unwrap());
            let expected = expected.map(|list| list.into_iter().map(str::to_owned).collect()).map_err(str::to_owned);
            assert_eq!(found, expected, "{text}");
        }
    }
}
