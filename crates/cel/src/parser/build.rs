//! Making nodes: identities, places, macros, and what is wrong with a well-formed text.
use std::sync::Arc;

use smol_str::SmolStr;

use super::macros::{Expansion, expand};
use super::unescape::unescape;
use crate::ast::{Entry, Expr, Field, Id, Kind, Literal, Places};
use crate::lexer::{T, Token};
use crate::source::{Issues, Source};

/// Macros copy their operands, and copies of copies grow without bound: cel-go expands until memory ends, we refuse.
const MOST_NODES: usize = 400_000;

const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "null",
    "return",
    "true",
    "var",
    "void",
    "while",
];

pub(super) struct Builder {
    pub(super) places: Places,
    pub(super) issues: Issues,
}

impl Builder {
    pub(super) fn new(source: Arc<Source>) -> Self {
        Self { places: Places::new(source), issues: Issues::default() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.places.len() > MOST_NODES
    }

    pub(super) fn node_at(&mut self, offset: Option<u32>) -> Id {
        self.places.next(offset)
    }

    pub(super) fn at(&mut self, token: Token) -> Id {
        self.places.next(u32::try_from(token.start).ok())
    }

    pub(super) fn offset(&self, id: Id) -> Option<u32> {
        self.places.offset(id)
    }

    pub(super) fn report(&mut self, token: Token, message: &str) -> Expr {
        let id = self.at(token);
        self.issues.report(self.places.location(id), message);
        Expr { id, kind: Kind::Unspecified }
    }

    pub(super) fn reserved(&mut self, first: Token, word: &str) -> Option<Expr> {
        RESERVED.contains(&word).then(|| self.report(first, &format!("reserved identifier: {word}")))
    }

    pub(super) fn text(&mut self, token: Token, text: &str) -> Expr {
        Expr { id: self.at(token), kind: Kind::Literal(Literal::String(text.into())) }
    }

    /// A call, or what a macro makes of it.
    pub(super) fn call(&mut self, at: Id, function: &str, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        if self.is_full() {
            return Expr { id: at, kind: Kind::Unspecified };
        }
        match expand(self, at, function, target, args) {
            Expansion::Expr(expr) => expr,
            Expansion::Error(id, message) => {
                self.issues.report(self.places.location(id), message);
                Expr { id: self.places.next(self.offset(id)), kind: Kind::Unspecified }
            }
            Expansion::Call(target, args) => {
                Expr { id: at, kind: Kind::Call { target: target.map(Box::new), function: function.into(), args } }
            }
        }
    }

    /// A tree of binary calls that is as flat as can be.
    pub(super) fn balanced(function: &str, terms: Vec<Expr>, ops: &[Id]) -> Expr {
        let mut terms: Vec<Option<Expr>> = terms.into_iter().map(Some).collect();
        balance(function, &mut terms, ops)
    }

    pub(super) fn literal(&mut self, first: Token, kind: T, sign: bool, text: &str) -> Expr {
        match value(kind, sign, text) {
            Ok(value) => Expr { id: self.at(first), kind: Kind::Literal(value) },
            Err(message) => self.report(first, message),
        }
    }

    /// The same expression with identities of its own.
    pub(super) fn copy(&mut self, expr: &Expr) -> Expr {
        if self.is_full() {
            return Expr { id: expr.id, kind: Kind::Unspecified };
        }
        let id = self.places.next(self.offset(expr.id));
        let kind = match &expr.kind {
            Kind::Select { operand, field, test } => {
                Kind::Select { operand: Box::new(self.copy(operand)), field: field.clone(), test: *test }
            }
            Kind::Call { target, function, args } => Kind::Call {
                args: args.iter().map(|arg| self.copy(arg)).collect(),
                target: target.as_ref().map(|target| Box::new(self.copy(target))),
                function: function.clone(),
            },
            Kind::List { elements, optional } => Kind::List {
                elements: elements.iter().map(|element| self.copy(element)).collect(),
                optional: optional.clone(),
            },
            Kind::Map { entries } => Kind::Map {
                entries: entries
                    .iter()
                    .map(|entry| Entry {
                        key: self.copy(&entry.key),
                        value: self.copy(&entry.value),
                        optional: entry.optional,
                    })
                    .collect(),
            },
            Kind::Struct { name, fields } => Kind::Struct {
                name: name.clone(),
                fields: fields
                    .iter()
                    .map(|field| Field {
                        id: field.id,
                        name: field.name.clone(),
                        value: self.copy(&field.value),
                        optional: field.optional,
                    })
                    .collect(),
            },
            Kind::Comprehension(fold) => {
                let mut fold = fold.clone();
                for part in [&mut fold.range, &mut fold.init, &mut fold.condition, &mut fold.step, &mut fold.result] {
                    *part = self.copy(part);
                }
                Kind::Comprehension(fold)
            }
            plain @ (Kind::Unspecified | Kind::Literal(_) | Kind::Ident(_)) => plain.clone(),
        };
        Expr { id, kind }
    }
}

fn balance(function: &str, terms: &mut [Option<Expr>], ops: &[Id]) -> Expr {
    let middle = ops.len() / 2;
    let Some((op, (before, after))) = ops.get(middle).map(|op| (*op, ops.split_at(middle))) else {
        return terms.first_mut().and_then(Option::take).unwrap_or(Expr { id: 0, kind: Kind::Unspecified });
    };
    let (left, right) = terms.split_at_mut(middle + 1);
    let left = balance(function, left, before);
    let right = balance(function, right, after.get(1..).unwrap_or_default());
    Expr { id: op, kind: Kind::Call { target: None, function: function.into(), args: vec![left, right] } }
}

fn value(kind: T, sign: bool, text: &str) -> Result<Literal, &'static str> {
    let minus = if sign { "-" } else { "" };
    Ok(match kind {
        T::True => Literal::Bool(true),
        T::False => Literal::Bool(false),
        T::Null => Literal::Null,
        T::Int => Literal::Int(
            match text.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(&format!("{minus}{hex}"), 16),
                None => format!("{minus}{text}").parse(),
            }
            .map_err(|_| "invalid int literal")?,
        ),
        T::Uint => {
            let digits = text.trim_end_matches(['u', 'U']);
            let number = match digits.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            Literal::Uint(number.map_err(|_| "invalid uint literal")?)
        }
        T::Float => {
            let number: f64 = format!("{minus}{text}").parse().map_err(|_| "invalid double literal")?;
            if number.is_infinite() {
                return Err("invalid double literal");
            }
            Literal::Double(number)
        }
        T::Bytes => Literal::Bytes(unescape(text.get(1..).unwrap_or_default(), true)?),
        _ => {
            let bytes = unescape(text, false)?;
            Literal::String(SmolStr::from(String::from_utf8_lossy(&bytes)))
        }
    })
}
