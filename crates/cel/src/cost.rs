//! What an expression may cost at most, by its types and the sizes its schema allows.
mod calls;
mod estimate;
pub(crate) mod factors;
mod paths;

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

pub(crate) use self::estimate::{Cost, Size};

use self::paths::Path;
use crate::ast::{ACCUMULATOR, Comprehension, Expr, Id, Kind, Literal};
use crate::checker::Checked;
use crate::schema::{Schema, Shape};
use crate::types::Type;

/// Estimates an expression.
pub(crate) fn estimate(expr: &Expr, checked: &Checked, root: Option<&Arc<Schema>>) -> Cost {
    let mut coster = Coster {
        checked,
        root: root.map(|root| &**root),
        paths: HashMap::new(),
        locals: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
    };
    coster.cost(expr)
}

/// The sizes of the keys and values of a collection.
#[derive(Clone, Copy, Debug)]
struct Entries {
    is_list: bool,
    keys: Size,
    values: Size,
}

impl Entries {
    fn union(one: Option<Self>, two: Option<Self>) -> Option<Self> {
        let (one, two) = (one?, two?);
        Some(Self { is_list: one.is_list, keys: one.keys.union(two.keys), values: one.values.union(two.values) })
    }
}

/// A variable of a loop.
#[derive(Clone, Debug)]
struct Local {
    path: Path,
    size: Option<Size>,
    entries: Option<Entries>,
}

struct Coster<'c> {
    checked: &'c Checked,
    root: Option<&'c Schema>,
    paths: HashMap<Id, Path>,
    locals: HashMap<SmolStr, Vec<Local>>,
    sizes: HashMap<Id, Size>,
    entries: HashMap<Id, Entries>,
}

/// An argument of a call.
struct Node<'e> {
    expr: &'e Expr,
    path: Path,
    t: Type,
    size: Option<Size>,
}

impl Coster<'_> {
    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.get(name).and_then(|stack| stack.last())
    }

    fn push(&mut self, name: &SmolStr, local: Local) {
        self.locals.entry(name.clone()).or_default().push(local);
    }

    fn pop(&mut self, name: &SmolStr) {
        if let Some(stack) = self.locals.get_mut(name) {
            stack.pop();
        }
    }

    fn type_of(&self, expr: &Expr) -> &Type {
        self.checked.type_of(expr.id)
    }

    fn path(&self, expr: &Expr) -> Path {
        if let Kind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn cost(&mut self, expr: &Expr) -> Cost {
        match &expr.kind {
            Kind::Unspecified | Kind::Literal(_) => Cost::ZERO,
            Kind::Ident(name) => {
                let path = self.local(name).map_or_else(|| Path::of(name.clone()), |local| local.path.clone());
                self.paths.insert(expr.id, path);
                Cost::fixed(1)
            }
            Kind::Select { operand, field, test } => {
                let mut sum = self.cost(operand);
                if *test {
                    return sum;
                }
                if matches!(self.type_of(operand), Type::Map(_) | Type::Object(_)) {
                    sum = sum.add(Cost::fixed(1));
                }
                let path = self.path(operand).append(field.clone());
                self.paths.insert(expr.id, path);
                sum
            }
            Kind::Call { .. } => self.call(expr),
            Kind::List { elements, .. } => {
                let mut sum = Cost::fixed(10);
                let mut items = if elements.is_empty() { Size::fixed(0) } else { Size { min: u64::MAX, max: 0 } };
                for element in elements {
                    sum = sum.add(self.cost(element));
                    items = items.union(self.size_or_unknown(element));
                }
                self.entries.insert(expr.id, Entries { is_list: true, keys: Size::fixed(1), values: items });
                sum
            }
            Kind::Map { entries } => {
                let mut sum = Cost::fixed(30);
                let none = if entries.is_empty() { Size::fixed(0) } else { Size { min: u64::MAX, max: 0 } };
                let (mut keys, mut values) = (none, none);
                for entry in entries {
                    sum = sum.add(self.cost(&entry.key));
                    sum = sum.add(self.cost(&entry.value));
                    keys = keys.union(self.size_or_unknown(&entry.key));
                    values = values.union(self.size_or_unknown(&entry.value));
                }
                self.entries.insert(expr.id, Entries { is_list: false, keys, values });
                sum
            }
            Kind::Struct { fields, .. } => {
                fields.iter().fold(Cost::fixed(40), |sum, field| sum.add(self.cost(&field.value)))
            }
            Kind::Comprehension(fold) if is_named_value(fold) => self.named(expr, fold),
            Kind::Comprehension(fold) => self.fold(expr, fold),
        }
    }

    fn named(&mut self, expr: &Expr, fold: &Comprehension) -> Cost {
        let sum = self.cost(&fold.range).add(self.cost(&fold.init));
        self.push_local(&fold.accu, &fold.init);
        let sum = sum.add(self.cost(&fold.result));
        self.pop(&fold.accu);
        self.copy_sizes(expr, &fold.result);
        sum
    }

    fn push_local(&mut self, name: &SmolStr, expr: &Expr) {
        let (path, entries) = (self.path(expr), self.entry_sizes(expr));
        let size = self.size(expr);
        self.push(name, Local { path, size, entries });
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        if let Some(size) = self.size(from) {
            self.sizes.insert(to.id, size);
        }
        if let Some(entries) = self.entry_sizes(from) {
            self.entries.insert(to.id, entries);
        }
    }

    fn fold(&mut self, expr: &Expr, fold: &Comprehension) -> Cost {
        let mut sum = self.cost(&fold.range).add(self.cost(&fold.init));
        self.push_local(&fold.accu, &fold.init);
        let entries = self.entry_sizes(&fold.range);
        let is_list = entries.map_or_else(|| matches!(self.type_of(&fold.range), Type::List(_)), |it| it.is_list);
        let variable = |keys: bool, path: Path| {
            let (segment, size) = match (keys, is_list) {
                (true, true) => ("@indices", entries.map(|entries| entries.keys)),
                (true, false) => ("@keys", entries.map(|entries| entries.keys)),
                (false, true) => ("@items", entries.map(|entries| entries.values)),
                (false, false) => ("@values", entries.map(|entries| entries.values)),
            };
            Local { path: path.append(SmolStr::new_static(segment)), size, entries: None }
        };
        let two = !fold.var2.is_empty();
        let first = variable(two || !is_list, self.path(&fold.range));
        self.push(&fold.var, first);
        if two {
            let second = variable(false, self.path(&fold.range));
            self.push(&fold.var2, second);
        }
        let turn = self.cost(&fold.condition);
        let turn = self.cost(&fold.step).add(turn);
        self.pop(&fold.var);
        if two {
            self.pop(&fold.var2);
        }
        sum = sum.add(self.cost(&fold.result));
        self.pop(&fold.accu);
        let count = self.size_or_unknown(&fold.range);
        sum = sum.add(count.times_cost(turn));
        match &fold.init.kind {
            Kind::Literal(_) => {
                if let Some(size) = self.size(&fold.init) {
                    self.sizes.insert(expr.id, size);
                }
            }
            Kind::List { .. } | Kind::Map { .. } => {
                self.sizes.insert(expr.id, count);
                if let Some(entries) = self.entry_sizes(&fold.step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        sum
    }

    fn node<'e>(&mut self, expr: &'e Expr) -> Node<'e> {
        let path = self.path(expr);
        let path = if path.starts_with(ACCUMULATOR) { Path::default() } else { path };
        Node { expr, path, t: self.type_of(expr).clone(), size: self.size(expr) }
    }

    /// The size the schema allows at a path.
    fn schema_size(&self, path: &Path) -> Option<Size> {
        let segments = path.segments();
        let (_, rest) = segments.split_first()?;
        let mut schema = self.root?;
        let mut rest = rest.iter();
        while let Some(segment) = rest.next() {
            schema = match (&schema.shape, segment.as_str()) {
                (Shape::List(list), "@items" | "@values") => list.items.as_deref()?,
                (Shape::Map(values), "@items" | "@values") => values,
                // Keys have no further parts, and no size is known of them.
                (Shape::Map(_), "@keys") => return rest.next().is_none().then_some(Size { min: 0, max: 0 }),
                (Shape::Object(object), field) => object.fields.get(field)?,
                _ => return None,
            };
        }
        Some(Size { min: 0, max: u64::try_from(schema.max_elements).unwrap_or(0) })
    }

    fn size(&mut self, expr: &Expr) -> Option<Size> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(expr) {
            return Some(size);
        }
        if let Some(size) = self.schema_size(&self.path(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if self.type_of(expr).is_scalar() {
            return Some(Size::fixed(1));
        }
        let Kind::Ident(name) = &expr.kind else { return None };
        self.local(name).and_then(|local| local.size)
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Size {
        self.size(expr).unwrap_or(Size::UNKNOWN)
    }

    fn entry_sizes(&self, expr: &Expr) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        let Kind::Ident(name) = &expr.kind else { return None };
        self.local(name).and_then(|local| local.entries)
    }
}

/// Whether a loop has no turns and only names a value.
fn is_named_value(fold: &Comprehension) -> bool {
    matches!(&fold.range.kind, Kind::List { elements, .. } if elements.is_empty())
        && matches!(fold.condition.kind, Kind::Literal(Literal::Bool(false)))
        && fold.accu != ACCUMULATOR
}

fn literal_size(expr: &Expr) -> Option<Size> {
    let length = match &expr.kind {
        Kind::Literal(Literal::String(text)) => text.chars().count(),
        Kind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Kind::Literal(_) => 1,
        Kind::List { elements, .. } => elements.len(),
        Kind::Map { entries } => entries.len(),
        _ => return None,
    };
    u64::try_from(length).ok().map(Size::fixed)
}
