//! Text into expressions.
mod build;
mod literals;
mod macros;
mod members;
mod operators;
mod primary;
mod recovery;
mod unescape;

use std::sync::Arc;

use self::build::Builder;
use self::recovery::{Next, Stop, Stream, only, or_end, set};
use crate::ast::{Expr, Kind, Places};
use crate::lexer::{T, Token};
use crate::source::{Issues, Location, Source};

/// Longer expressions are not read.
const LONGEST: usize = 100_000;
/// So deep operators and selections may nest.
const DEEPEST: u16 = 250;

const PRIMARY: u64 = set(&[
    T::LBracket,
    T::LBrace,
    T::LParen,
    T::Dot,
    T::Minus,
    T::True,
    T::False,
    T::Null,
    T::Float,
    T::Int,
    T::Uint,
    T::String,
    T::Bytes,
    T::Ident,
]);
const EXPR: u64 = PRIMARY | set(&[T::Exclam]);
const END: Next = or_end(&[]);
const SUFFIX: Next = or_end(&[T::Dot, T::LBracket]);

/// A parsed expression and where its nodes stand.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) expr: Expr,
    pub(crate) places: Places,
}

/// Reads an expression.
pub(crate) fn parse(text: &str) -> Result<Parsed, Issues> {
    let source = Arc::new(Source::new(text));
    let length = source.chars().len();
    if length > LONGEST {
        let mut issues = Issues::default();
        let message = format!("expression code point size exceeds limit: size: {length}, limit {LONGEST}");
        issues.report(Location::NONE, message);
        return Err(issues.told(&source));
    }
    let (stream, builder) = (Stream::new(Arc::clone(&source)), Builder::new(Arc::clone(&source)));
    let mut parser = Parser { stream, builder, partial: None };
    let node = parser.start();
    let mut issues = parser.stream.issues;
    if let Ok(node) = node {
        issues.append(parser.builder.issues);
        if node.depth > DEEPEST {
            issues.report(Location::NONE, "max recursion depth exceeded");
        }
        if issues.is_empty() {
            return Ok(Parsed { expr: node.expr, places: parser.builder.places });
        }
    }
    Err(issues.told(&source))
}

/// An expression and how deep operators and selections nest in it.
struct Node {
    expr: Expr,
    depth: u16,
}

type Parse<R = Node> = Result<R, Stop>;

struct Parser {
    stream: Stream,
    builder: Builder,
    /// What was understood of the rule that failed last.
    partial: Option<Node>,
}

impl Parser {
    fn peek(&self) -> T {
        self.stream.peek(0)
    }

    fn error(&mut self) -> Node {
        Node { expr: Expr { id: self.builder.node_at(None), kind: Kind::Unspecified }, depth: 0 }
    }

    /// Ends a rule: what went wrong in it is told, and an empty node stands for it.
    fn ended(&mut self, result: Parse) -> Parse {
        match self.stream.called(result)? {
            Some(node) => Ok(node),
            None => Ok(self.partial.take().unwrap_or_else(|| self.error())),
        }
    }

    /// Stops a rule of which this much was understood.
    fn failed(&mut self, node: Parse, stop: Stop) -> Parse {
        self.partial = Some(node?);
        Err(stop)
    }

    fn global(&mut self, op: Token, function: &str, args: Vec<Node>, deeper: u16) -> Parse {
        let depth = args.iter().map(|arg| arg.depth).max().unwrap_or(0) + deeper;
        let at = self.builder.at(op);
        let args = args.into_iter().map(|arg| arg.expr).collect();
        let expr = self.builder.call(at, function, None, args);
        self.within(Node { expr, depth })
    }

    /// Macros copy their operands: the copies of copies are bounded here.
    fn within(&mut self, node: Node) -> Parse {
        if self.builder.is_full() {
            self.stream.give_up("expression expands to too many nodes");
            return Err(Stop::Fatal);
        }
        Ok(node)
    }

    fn start(&mut self) -> Parse {
        let node = self.expr(only(&[T::Eof]))?;
        let end = self.stream.expect(1, T::Eof, END);
        self.stream.call(END);
        self.stream.called(end)?;
        Ok(node)
    }
}
