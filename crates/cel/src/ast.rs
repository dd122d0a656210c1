//! Expressions as parsed: macros are already expanded.
use std::sync::Arc;

use smol_str::SmolStr;

use crate::source::{Location, Source};

/// Names a node; places, types and costs hang on it.
pub(crate) type Id = u32;

/// The variable in which macros collect their result.
pub(crate) const ACCUMULATOR: &str = "@result";
/// What that variable was called before; loops may not use the name.
pub(crate) const OLD_ACCUMULATOR: &str = "__result__";

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) id: Id,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// What could not be parsed.
    Unspecified,
    Literal(Literal),
    Ident(SmolStr),
    Select {
        operand: Box<Expr>,
        field: SmolStr,
        test: bool,
    },
    Call {
        target: Option<Box<Expr>>,
        function: SmolStr,
        args: Vec<Expr>,
    },
    List {
        elements: Vec<Expr>,
        optional: Vec<bool>,
    },
    Map {
        entries: Vec<Entry>,
    },
    Struct {
        name: SmolStr,
        fields: Vec<Field>,
    },
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(SmolStr),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) id: Id,
    pub(crate) name: SmolStr,
    pub(crate) value: Expr,
    pub(crate) optional: bool,
}

/// A loop: `accu` starts as `init`, becomes `step` while `condition` holds, and `result` is the answer.
#[derive(Clone, Debug)]
pub(crate) struct Comprehension {
    pub(crate) range: Expr,
    pub(crate) var: SmolStr,
    /// The second variable of two-variable macros; empty otherwise.
    pub(crate) var2: SmolStr,
    pub(crate) accu: SmolStr,
    pub(crate) init: Expr,
    pub(crate) condition: Expr,
    pub(crate) step: Expr,
    pub(crate) result: Expr,
}

/// Where the nodes stand in the text.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) source: Arc<Source>,
    offsets: Vec<Option<u32>>,
}

impl Places {
    pub(crate) fn new(source: Arc<Source>) -> Self {
        // Nodes count from 1: 0 is no node.
        Self { source, offsets: vec![None] }
    }

    pub(crate) fn next(&mut self, offset: Option<u32>) -> Id {
        self.offsets.push(offset);
        Id::try_from(self.offsets.len() - 1).unwrap_or(Id::MAX)
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    pub(crate) fn offset(&self, id: Id) -> Option<u32> {
        self.offsets.get(usize::try_from(id).ok()?).copied().flatten()
    }

    pub(crate) fn location(&self, id: Id) -> Location {
        self.offset(id).map_or(Location::NONE, |offset| self.source.location(offset))
    }
}

impl Expr {
    pub(crate) fn as_ident(&self) -> Option<&SmolStr> {
        if let Kind::Ident(name) = &self.kind { Some(name) } else { None }
    }

    /// `a.b.c` as a name, when the expression is a chain of plain selections.
    pub(crate) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Select { operand, field, test: false } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }

    /// Calls `visit` on every node directly below.
    pub(crate) fn for_children<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match &self.kind {
            Kind::Unspecified | Kind::Literal(_) | Kind::Ident(_) => {}
            Kind::Select { operand, .. } => visit(operand),
            Kind::Call { target, args, .. } => {
                if let Some(target) = target {
                    visit(target);
                }
                args.iter().for_each(visit);
            }
            Kind::List { elements, .. } => elements.iter().for_each(visit),
            Kind::Map { entries } => {
                for entry in entries {
                    visit(&entry.key);
                    visit(&entry.value);
                }
            }
            Kind::Struct { fields, .. } => fields.iter().for_each(|field| visit(&field.value)),
            Kind::Comprehension(fold) => {
                for part in [&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result] {
                    visit(part);
                }
            }
        }
    }
}
