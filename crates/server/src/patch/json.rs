//! JSON Patch, as Kubernetes applies it: close to RFC 6902, with a few liberties.
//!
//! Why an operation fails is not told to clients, so there are no texts here.

use super::Fault;
use super::node::Node;
use crate::codec::MAX_DEPTH;

/// How many operations a patch may have.
pub(super) const MAX_OPERATIONS: usize = 10_000;

/// By how many bytes all copies of a patch together may make a document larger.
const MAX_COPIED: usize = 3 << 20;

/// Kubernetes has no limit of its own on the depth of a document that operations have built.
const MAX_BUILT: usize = 500;

/// Applies the operations in turn.
pub(super) fn apply(document: Node, operations: &[Node]) -> Result<Node, Fault> {
    let mut patched = Patched { root: document, copied: 0, depth: MAX_DEPTH };
    patched.root.open();
    for operation in operations {
        patched.step(operation)?;
    }
    Ok(patched.root)
}

struct Patched {
    root: Node,
    copied: usize,
    /// No less than the depth of the document.
    depth: usize,
}

impl Patched {
    fn step(&mut self, operation: &Node) -> Result<(), Fault> {
        let text = |name| operation.member(name).and_then(Node::string).ok_or(Fault::Refused);
        let value = operation.member("value").map(|value| match value {
            Node::Null => Node::Nulled,
            other => other.clone(),
        });
        match text("op")?.as_str() {
            "add" => self.add(&text("path")?, value.unwrap_or(Node::Null)),
            "remove" => self.remove(&text("path")?).map(drop),
            "replace" => self.replace(&text("path")?, value),
            "test" => self.test(&text("path")?, value),
            "move" => {
                let moved = self.remove(&text("from")?)?;
                self.add(&text("path")?, moved)
            }
            "copy" => {
                let (from, path) = (text("from")?, text("path")?);
                // Looking for the destination sorts what is on the way, and that is seen in the copy.
                get_at(&mut self.root, &from)?;
                find(&mut self.root, &path)?;
                let copied = get_at(&mut self.root, &from)?.map_or(Node::Null, |node| node.copied());
                if copied != Node::Null {
                    self.copied = self.copied.saturating_add(copied.text().len());
                }
                if self.copied > MAX_COPIED {
                    return Err(Fault::Refused);
                }
                self.add(&path, copied)
            }
            _ => Err(Fault::Refused),
        }
    }

    fn add(&mut self, path: &str, node: Node) -> Result<(), Fault> {
        let (place, key) = find(&mut self.root, path)?;
        match place {
            Node::Array(items) if key == "-" => items.push(node),
            Node::Array(items) => {
                let at = index(&key, items.len() + 1)?;
                items.insert(at, node);
            }
            place => {
                place.open().ok_or(Fault::Refused)?.insert(key, node);
            }
        }
        self.depth = self.depth.saturating_add(path.matches('/').count());
        if self.depth > 2 * MAX_BUILT {
            self.depth = self.root.depth();
        }
        if self.depth > 2 * MAX_BUILT || self.depth > MAX_BUILT && self.root.depth() > MAX_BUILT {
            return Err(Fault::Refused);
        }
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<Node, Fault> {
        let (place, key) = find(&mut self.root, path)?;
        match place {
            Node::Array(items) => {
                let at = index(&key, items.len())?;
                Ok(items.remove(at))
            }
            place => place.open().and_then(|members| members.remove(&key)).ok_or(Fault::Refused),
        }
    }

    /// A member that is not there is added, which the RFC forbids.
    fn replace(&mut self, path: &str, value: Option<Node>) -> Result<(), Fault> {
        if path.is_empty() {
            self.root = match value {
                Some(node @ (Node::Array(_) | Node::Object(_))) => node,
                Some(_) => return Err(Fault::Refused),
                None => return Err(Fault::Panic),
            };
            self.root.open();
            return Ok(());
        }
        let value = value.unwrap_or(Node::Null);
        let (place, key) = find(&mut self.root, path)?;
        if let Node::Array(items) = place {
            let at = index(&key, items.len())?;
            if let Some(item) = items.get_mut(at) {
                *item = value;
            }
            return Ok(());
        }
        place.open().ok_or(Fault::Refused)?.insert(key, value);
        Ok(())
    }

    /// Something that is not there equals `null`.
    fn test(&mut self, path: &str, value: Option<Node>) -> Result<(), Fault> {
        if path.is_empty() {
            let value = value.ok_or(Fault::Panic)?;
            return if equal(&mut self.root, &value)? { Ok(()) } else { Err(Fault::Refused) };
        }
        let (place, key) = find(&mut self.root, path)?;
        let same = match (get(place, &key)?, value) {
            (None | Some(Node::Null), None | Some(Node::Nulled)) => true,
            (None | Some(Node::Null), Some(_)) | (Some(_), None) => false,
            (Some(node), Some(value)) => equal(node, &value)?,
        };
        if same { Ok(()) } else { Err(Fault::Refused) }
    }
}

/// The array or object that holds what a path names, and the name there. What stands before the first slash is ignored.
fn find<'a>(root: &'a mut Node, path: &str) -> Result<(&'a mut Node, String), Fault> {
    let (_, path) = path.split_once('/').ok_or(Fault::Refused)?;
    let mut parts: Vec<String> = path.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    let key = parts.pop().ok_or(Fault::Refused)?;
    let mut place = root;
    for part in parts {
        place = get(place, &part)?.ok_or(Fault::Refused)?;
        if !matches!(place, Node::Array(_)) {
            place.open().ok_or(Fault::Refused)?;
        }
    }
    Ok((place, key))
}

fn get_at<'a>(root: &'a mut Node, path: &str) -> Result<Option<&'a mut Node>, Fault> {
    let (place, key) = find(root, path)?;
    get(place, &key)
}

fn get<'a>(place: &'a mut Node, key: &str) -> Result<Option<&'a mut Node>, Fault> {
    match place {
        Node::Array(items) => {
            let at = index(key, items.len())?;
            Ok(items.get_mut(at))
        }
        place => Ok(place.open().ok_or(Fault::Refused)?.get_mut(key)),
    }
}

/// The position that a text means among `len` items; negative numbers count from the end.
fn index(text: &str, len: usize) -> Result<usize, Fault> {
    let at: i64 = text.parse().map_err(|_| Fault::Refused)?;
    let at = if at < 0 { i64::try_from(len).unwrap_or(i64::MAX).checked_add(at) } else { Some(at) };
    at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < len).ok_or(Fault::Refused)
}

/// Compares as Kubernetes does: scalars by their text, and some `null`s not at all.
fn equal(node: &mut Node, other: &Node) -> Result<bool, Fault> {
    match node {
        Node::Null => Err(Fault::Panic),
        Node::Nulled | Node::Scalar(_) => match other {
            Node::Null => Err(Fault::Panic),
            other => Ok(node == other),
        },
        Node::Array(items) => {
            let others = match other {
                Node::Array(others) => others,
                Node::Null => return Err(Fault::Panic),
                _ => return Ok(false),
            };
            if items.len() != others.len() {
                return Ok(false);
            }
            for (item, other) in items.iter_mut().zip(others) {
                if !equal(item, other)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        node => {
            let mut others = match other {
                Node::Object(_) | Node::Opened(_) => other.clone(),
                Node::Null => return Err(Fault::Panic),
                _ => return Ok(false),
            };
            let (Some(members), Some(others)) = (node.open(), others.open()) else { return Ok(false) };
            if members.len() != others.len() {
                return Ok(false);
            }
            for (key, node) in members {
                let Some(other) = others.get(key) else { return Ok(false) };
                let same = match (&*node, other) {
                    (Node::Null, other) => *other == Node::Null,
                    (_, Node::Null) => false,
                    _ => equal(node, other)?,
                };
                if !same {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}
