//! YAML as Kubernetes reads it: version 1.1, where `yes` is true and `0777` is 511, and converted to JSON first.

mod compose;
mod plain;
mod scalar;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use super::node::{MAX_DEPTH, Node};
use super::text;
use compose::{Content, Tree};
use scalar::Scalar;
pub use write::write;

/// A document as JSON.
#[derive(Debug)]
pub struct Yaml {
    /// Keys are sorted, as they are after Kubernetes' conversion.
    pub node: Node<'static>,
    /// What strict decoding says about keys that come twice.
    pub duplicates: Vec<String>,
}

/// Reads the first document.
pub fn parse(bytes: &[u8]) -> Result<Yaml, String> {
    if let Some(node) = plain::parse(bytes) {
        return Ok(Yaml { node, duplicates: Vec::new() });
    }
    slowly(bytes)
}

fn slowly(bytes: &[u8]) -> Result<Yaml, String> {
    let text = text::lossy(bytes);
    let tree = Tree::compose(&text)?;
    let Some(root) = tree.root else { return Ok(Yaml { node: Node::Null, duplicates: Vec::new() }) };
    let mut reader = Reader { tree: &tree, read: 0, by_alias: 0, within: Vec::new(), duplicates: Vec::new() };
    let node = reader.value(root, 0)?;
    Ok(Yaml { node, duplicates: reader.duplicates })
}

/// The line of the value at `path`, from 1, or of the last part of the path that is there. For words to a user: the
/// document is read anew.
pub fn line_of(bytes: &[u8], path: &[&str]) -> Option<usize> {
    let text = text::lossy(bytes);
    let tree = Tree::compose(&text).ok()?;
    let mut at = tree.root?;
    let mut line = tree.line(at);
    for part in path {
        let found = match tree.resolved(at) {
            Content::Map(pairs) => {
                let named = |key: usize| matches!(tree.content(key), Content::Scalar(key) if key.to_key().is_ok_and(|key| key == **part));
                pairs.iter().find(|(key, _)| named(*key)).map(|&(key, value)| (tree.line(key), value))
            }
            Content::List(items) => {
                part.parse::<usize>().ok().and_then(|index| items.get(index)).map(|&item| (tree.line(item), item))
            }
            _ => None,
        };
        let Some((there, next)) = found else { break };
        (line, at) = (there, next);
    }
    Some(line)
}

struct Reader<'t> {
    tree: &'t Tree,
    /// How many nodes were read, and how many of them through an alias.
    read: usize,
    by_alias: usize,
    /// The aliases that are being followed.
    within: Vec<usize>,
    duplicates: Vec<String>,
}

/// An object that is being read, and which keys it had.
#[derive(Default)]
struct Members {
    values: BTreeMap<String, Node<'static>>,
    keys: BTreeSet<Scalar>,
}

impl Reader<'_> {
    /// Aliases may not make much more of a document than there is.
    fn count(&mut self) -> Result<(), String> {
        self.read += 1;
        if !self.within.is_empty() {
            self.by_alias += 1;
        }
        let allowed = match self.read {
            ..=400_000 => 99,
            4_000_000.. => 10,
            read => 99 - 89 * (read - 400_000) / 3_600_000,
        };
        if self.by_alias > 100 && self.read > 1000 && self.by_alias.saturating_mul(100) > allowed * self.read {
            return Err("yaml: document contains excessive aliasing".to_owned());
        }
        Ok(())
    }

    fn value(&mut self, at: usize, depth: usize) -> Result<Node<'static>, String> {
        self.count()?;
        if depth > MAX_DEPTH {
            return Err(format!("yaml: exceeded max depth of {MAX_DEPTH}"));
        }
        let tree = self.tree;
        match tree.content(at) {
            Content::Scalar(scalar) => scalar.to_node(),
            Content::List(items) => {
                items.iter().map(|item| self.value(*item, depth + 1)).collect::<Result<_, _>>().map(Node::Array)
            }
            Content::Map(_) => {
                let mut members = Members::default();
                self.members(at, &mut members, depth)?;
                Ok(Node::Object(members.values.into_iter().collect()))
            }
            Content::Alias(target) => self.follow(at, |reader| reader.value(*target, depth)),
        }
    }

    fn follow<T>(&mut self, alias: usize, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        if self.within.contains(&alias) {
            return Err("yaml: anchor value contains itself".to_owned());
        }
        self.within.push(alias);
        let out = read(self);
        self.within.pop();
        out
    }

    fn members(&mut self, at: usize, out: &mut Members, depth: usize) -> Result<(), String> {
        let tree = self.tree;
        let Content::Map(pairs) = tree.content(at) else { return Ok(()) };
        for &(key, value) in pairs {
            if let Content::Scalar(Scalar::Merge) = tree.content(key) {
                self.merge(value, out, depth)?;
                continue;
            }
            self.count()?;
            let Content::Scalar(key) = tree.resolved(key) else {
                return Err("yaml: invalid map key".to_owned());
            };
            let name = key.to_key()?;
            let node = self.value(value, depth + 1)?;
            if key.has_equals() && !out.keys.insert(key.clone()) {
                let line = tree.line(value);
                self.duplicates.push(format!("line {line}: key {} already set in map", key.in_go()));
            }
            out.values.insert(name, node);
        }
        Ok(())
    }

    /// `<<` takes over the members of other objects.
    fn merge(&mut self, at: usize, out: &mut Members, depth: usize) -> Result<(), String> {
        const WRONG: &str = "yaml: map merge requires map or sequence of maps as the value";
        if depth > MAX_DEPTH {
            return Err(WRONG.to_owned());
        }
        let tree = self.tree;
        match tree.content(at) {
            Content::Map(_) => {
                self.count()?;
                self.members(at, out, depth)
            }
            Content::Alias(target) if matches!(tree.content(*target), Content::Map(_)) => {
                self.count()?;
                self.follow(at, |reader| {
                    reader.count()?;
                    reader.members(*target, out, depth)
                })
            }
            Content::List(items) => {
                for item in items.iter().rev() {
                    if matches!(tree.content(*item), Content::List(_)) {
                        return Err(WRONG.to_owned());
                    }
                    self.merge(*item, out, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(WRONG.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        parse(text.as_bytes()).unwrap().node.into_value().unwrap().to_string()
    }

    #[test]
    fn scalars_are_those_of_version_1_1() {
        for (text, want) in [
            (
                "a: yes\nb: off\nc: y\nd: 'yes'\ne: ~\nf:",
                r#"{"a":true,"b":false,"c":true,"d":"yes","e":null,"f":null}"#,
            ),
            ("[0777, 08, 0x1f, 0b11, 1_000, +5, -3, 0o17]", "[511,8,31,3,1000,5,-3,15]"),
            ("[1.0, 1e3, .5, 1.5, 1e400, 18446744073709551615]", r#"[1,1000,0.5,1.5,"1e400",18446744073709551615]"#),
            ("[2024-01-01, 2024-01-01T00:00:00Z, '<<']", r#"["2024-01-01","2024-01-01T00:00:00Z","<<"]"#),
            ("yes: 1\n1: 2\n1.5: 3\n", r#"{"1":2,"1.5":3,"true":1}"#),
            ("!!str 5", r#""5""#),
            ("!!float 5", "5"),
            ("!!binary aGk=", r#""hi""#),
            ("", "null"),
            ("a: 1\n---\nb: [", r#"{"a":1}"#),
            ("a: |\n  x\n  y\n", r#"{"a":"x\ny\n"}"#),
        ] {
            assert_eq!(json(text), want, "{text}");
        }
        assert!(parse(b".inf").is_err());
        assert!(parse(b"!!int a").is_err());
    }

    #[test]
    fn anchors_and_merges_are_followed() {
        assert_eq!(json("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}"), r#"{"a":{"b":1,"c":2},"d":{"b":1,"c":3}}"#);
        assert_eq!(json("a: &x [1]\nb: *x"), r#"{"a":[1],"b":[1]}"#);
        assert!(parse(b"a: &x [*x]").is_err());
        assert!(parse(b"a: {<<: 5}").is_err());
    }

    #[test]
    fn duplicate_keys_are_told() {
        let yaml = parse(b"a: 1\nb: {c: 1,\n  c: 2}\na: 3\n").unwrap();
        assert_eq!(yaml.node.into_value().unwrap().to_string(), r#"{"a":3,"b":{"c":2}}"#);
        let want = ["line 3: key \"c\" already set in map", "line 4: key \"a\" already set in map"];
        assert_eq!(yaml.duplicates, want);
    }

    #[test]
    fn a_value_is_found_by_its_path() {
        let text = b"# first\nmetadata:\n  name: a\nrules:\n- verbs:\n  - get\n- verbs: 5\n";
        for (path, line) in [
            (&[][..], 2),
            (&["metadata"], 2),
            (&["metadata", "name"], 3),
            (&["rules", "1", "verbs"], 7),
            (&["rules", "0", "verbs", "0"], 6),
            (&["rules", "1", "resources"], 7),
            (&["spec"], 2),
        ] {
            assert_eq!(line_of(text, path), Some(line), "{path:?}");
        }
    }

    #[test]
    fn aliases_cannot_explode() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        let levels = (1..12).map(|level| {
            let below = vec![format!("*a{}", level - 1); 10].join(",");
            format!(
                "a{level}: &a{level} [{below}]
"
            )
        });
        bomb.extend(levels);
        assert_eq!(parse(bomb.as_bytes()).err().unwrap(), "yaml: document contains excessive aliasing");
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
        assert!(parse(&b"- ".repeat(100_000)).is_err());
    }
}
