//! What differs between two objects of a type.

use std::iter::Peekable;

use serde_json::map::Iter;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::element::Element;
use super::schema::{Form, Items, Members, Place, as_list, as_map};
use super::set::Set;

/// The fields that one object has and the other has not, or has differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) removed: Set,
    pub(super) modified: Set,
    pub(super) added: Set,
}

/// What happened to a field itself, beside what happened below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Same,
    Removed,
    Modified,
    Added,
}

/// An object that its type does not describe; Kubernetes then gives up on managedFields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Compares two objects.
pub(super) fn compare(
    place: Place<'_>,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Result<Comparison, Malformed> {
    let mut out = Comparison::default();
    // Nobody owns an object as a whole.
    if let Form::Map(members) = place.form(None)
        && !members.atomic
    {
        compare_members(members, Some(old), Some(new), &mut out)?;
    }
    Ok(out)
}

impl Comparison {
    /// Takes fields out, with everything below them.
    pub(super) fn exclude(&mut self, fields: &Set) {
        for set in [&mut self.removed, &mut self.modified, &mut self.added] {
            set.subtract_trees(fields);
        }
    }

    fn push(&mut self, element: &Element, mark: Mark, below: Self) {
        self.removed.push(element, mark == Mark::Removed, below.removed);
        self.modified.push(element, mark == Mark::Modified, below.modified);
        self.added.push(element, mark == Mark::Added, below.added);
    }
}

fn compare_at(
    place: Place<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    out: &mut Comparison,
) -> Result<Mark, Malformed> {
    // A value may be of another form than before, and is then seen in both ways.
    if let (true, Some(old), Some(new)) = (place.takes_any(), old, new)
        && std::mem::discriminant(old) != std::mem::discriminant(new)
    {
        let (mut as_old, mut as_new) = (Comparison::default(), Comparison::default());
        let first = compare_as(place.form(Some(old)), Some(old), Some(new), &mut as_old)?;
        let second = compare_as(place.form(Some(new)), Some(old), Some(new), &mut as_new)?;
        out.removed = as_old.removed.union(as_new.removed);
        out.modified = as_old.modified.union(as_new.modified);
        out.added = as_old.added.union(as_new.added);
        return Ok(if first == Mark::Same { second } else { first });
    }
    compare_as(place.form(new.or(old)), old, new, out)
}

fn compare_as(
    form: Form<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    out: &mut Comparison,
) -> Result<Mark, Malformed> {
    match form {
        Form::Scalar(_) => return Ok(leaf(old, new)),
        Form::List(items) => {
            let (before, after) = (as_list(old), as_list(new));
            if items.atomic() || before.is_empty() && after.is_empty() {
                return Ok(leaf(old, new));
            }
            compare_items(items, before, after, out)?;
        }
        Form::Map(members) => {
            let (before, after) = (as_map(old), as_map(new));
            let empty = |map: Option<&Map<String, Value>>| map.is_none_or(Map::is_empty);
            if members.atomic || empty(before) && empty(after) {
                return Ok(leaf(old, new));
            }
            compare_members(members, before, after, out)?;
        }
    }
    Ok(match (old, new) {
        (None, _) => Mark::Added,
        (_, None) => Mark::Removed,
        _ => Mark::Same,
    })
}

fn leaf(old: Option<&Value>, new: Option<&Value>) -> Mark {
    match (old, new) {
        (None, _) => Mark::Added,
        (_, None) => Mark::Removed,
        (Some(old), Some(new)) if !same(old, new) => Mark::Modified,
        _ => Mark::Same,
    }
}

/// Whether two values are the same; numbers are by value.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((key, a), (other, b))| key == other && same(a, b))
        }
        _ => a == b,
    }
}

fn compare_members(
    members: Members<'_>,
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
    out: &mut Comparison,
) -> Result<(), Malformed> {
    for (name, old, new) in Zip::of(old, new) {
        let (place, _) = members.get(name).ok_or(Malformed)?;
        let mut below = Comparison::default();
        let mark = compare_at(place, old, new, &mut below)?;
        if mark != Mark::Same || below != Comparison::default() {
            out.push(&Element::Field(SmolStr::new(name)), mark, below);
        }
    }
    Ok(())
}

/// The members of two maps side by side, in the order of their names.
pub(super) struct Zip<'a> {
    left: Option<Peekable<Iter<'a>>>,
    right: Option<Peekable<Iter<'a>>>,
}

impl<'a> Zip<'a> {
    pub(super) fn of(left: Option<&'a Map<String, Value>>, right: Option<&'a Map<String, Value>>) -> Self {
        Self { left: left.map(|map| map.iter().peekable()), right: right.map(|map| map.iter().peekable()) }
    }
}

impl<'a> Iterator for Zip<'a> {
    type Item = (&'a String, Option<&'a Value>, Option<&'a Value>);

    fn next(&mut self) -> Option<Self::Item> {
        let next = |iter: &mut Option<Peekable<Iter<'a>>>, name: &str| {
            iter.as_mut()?.next_if(|(other, _)| *other == name).map(|(_, value)| value)
        };
        let a = self.left.as_mut().and_then(|iter| iter.peek().map(|(name, _)| *name));
        let b = self.right.as_mut().and_then(|iter| iter.peek().map(|(name, _)| *name));
        let name = match (a, b) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b)?,
        };
        Some((name, next(&mut self.left, name), next(&mut self.right, name)))
    }
}

fn compare_items(items: Items<'_>, old: &[Value], new: &[Value], out: &mut Comparison) -> Result<(), Malformed> {
    let mut all: Vec<(Element, bool, &Value)> = Vec::with_capacity(old.len() + new.len());
    for (list, is_new) in [(old, false), (new, true)] {
        for item in list {
            all.push((items.element(item).map_err(|_| Malformed)?, is_new, item));
        }
    }
    // Stable: items with one element stay in their order, old ones first.
    all.sort_by(|a, b| a.0.cmp(&b.0));
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let (old, new) = group.split_at(group.partition_point(|(_, is_new, _)| !is_new));
        if let Some((element, ..)) = group.first() {
            let (first, second) = (old.first().map(|item| item.2), new.first().map(|item| item.2));
            let mut below = Comparison::default();
            match (old.len(), new.len()) {
                (0 | 1, 0 | 1) => {
                    let mark = compare_at(items.place, first, second, &mut below)?;
                    out.push(element, mark, below);
                }
                // An element that occurs several times is owned as a whole.
                (2.., 2..) => {
                    let equal = old.len() == new.len() && old.iter().zip(new).all(|(a, b)| same(a.2, b.2));
                    out.push(element, if equal { Mark::Same } else { Mark::Modified }, below);
                }
                (2.., count) => {
                    let mark = match count {
                        0 => Mark::Same,
                        _ => compare_at(items.place, None, second, &mut below)?,
                    };
                    out.removed.push(element, true, below.removed);
                    out.modified.push(element, false, below.modified);
                    out.added.push(element, mark == Mark::Added, below.added);
                }
                (count, 2..) => {
                    let mark = match count {
                        0 => Mark::Same,
                        _ => compare_at(items.place, first, None, &mut below)?,
                    };
                    out.removed.push(element, mark == Mark::Removed, below.removed);
                    out.modified.push(element, false, below.modified);
                    out.added.push(element, true, below.added);
                }
            }
        }
    }
    Ok(())
}
