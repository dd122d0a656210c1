//! Text into expressions.
mod build;
mod macros;
mod recovery;
mod unescape;

use std::sync::Arc;

use smol_str::SmolStr;

use self::build::Builder;
use self::recovery::{Next, Rule, Stop, Stream, contains, only, or_end, set};
use crate::ast::{Entry, Expr, Field, Kind, Places};
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
const RELATIONS: u64 = set(&[T::Equals, T::NotEquals, T::In, T::Less, T::LessEquals, T::GreaterEquals, T::Greater]);
const PRODUCTS: u64 = set(&[T::Star, T::Slash, T::Percent]);
const SUMS: u64 = set(&[T::Plus, T::Minus]);
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

    fn expr(&mut self, next: Next) -> Parse {
        self.stream.call(next);
        self.stream.enter(Rule::Expr)?;
        let result = self.conditional();
        self.stream.leave(Rule::Expr);
        self.ended(result)
    }

    fn conditional(&mut self) -> Parse {
        let condition = self.logic(or_end(&[T::Question]))?;
        if self.peek() != T::Question {
            return Ok(condition);
        }
        let op = self.stream.take();
        let truthy = self.logic(only(&[T::Colon]))?;
        if let Err(stop) = self.stream.expect(2, T::Colon, Next { set: EXPR, end: false }) {
            let falsy = self.error();
            let node = self.global(op, "_?_:_", vec![condition, truthy, falsy], 1);
            return self.failed(node, stop);
        }
        let falsy = self.expr(END)?;
        self.global(op, "_?_:_", vec![condition, truthy, falsy], 1)
    }

    /// Disjunctions of conjunctions.
    fn logic(&mut self, next: Next) -> Parse {
        self.stream.call(next);
        let result = self.disjunction();
        self.ended(result)
    }

    fn disjunction(&mut self) -> Parse {
        let mut terms = vec![self.conjunction()?];
        let mut ops = Vec::new();
        while self.peek() == T::Or {
            let op = self.stream.take();
            terms.push(self.conjunction()?);
            ops.push(self.builder.at(op));
        }
        Ok(Self::balanced("_||_", terms, &ops))
    }

    fn conjunction(&mut self) -> Parse {
        let mut terms = vec![self.relation()?];
        let mut ops = Vec::new();
        while self.peek() == T::And {
            let op = self.stream.take();
            terms.push(self.relation()?);
            ops.push(self.builder.at(op));
        }
        Ok(Self::balanced("_&&_", terms, &ops))
    }

    fn balanced(function: &str, terms: Vec<Node>, ops: &[u32]) -> Node {
        let depth = terms.iter().map(|term| term.depth).max().unwrap_or(0);
        let terms = terms.into_iter().map(|term| term.expr).collect();
        Node { expr: Builder::balanced(function, terms, ops), depth }
    }

    fn relation(&mut self) -> Parse {
        self.stream.enter(Rule::Relation)?;
        let mut left = self.calc()?;
        while self.stream.is_in(RELATIONS) {
            let op = self.stream.take();
            self.stream.enter(Rule::Relation)?;
            let right = self.calc()?;
            self.stream.leave(Rule::Relation);
            left = self.global(op, operator(op.kind), vec![left, right], 1)?;
        }
        self.stream.leave(Rule::Relation);
        Ok(left)
    }

    /// Sums of products.
    fn calc(&mut self) -> Parse {
        self.stream.enter(Rule::Calc)?;
        let mut left = self.unary()?;
        while self.stream.is_in(PRODUCTS | SUMS) {
            let op = self.stream.take();
            self.stream.enter(Rule::Calc)?;
            let mut right = self.unary()?;
            while contains(SUMS, op.kind) && self.stream.is_in(PRODUCTS) {
                let op = self.stream.take();
                self.stream.enter(Rule::Calc)?;
                let factor = self.unary()?;
                self.stream.leave(Rule::Calc);
                right = self.global(op, operator(op.kind), vec![right, factor], 1)?;
            }
            self.stream.leave(Rule::Calc);
            left = self.global(op, operator(op.kind), vec![left, right], 1)?;
        }
        self.stream.leave(Rule::Calc);
        Ok(left)
    }

    fn unary(&mut self) -> Parse {
        self.stream.call(Next { set: RELATIONS | PRODUCTS | SUMS | set(&[T::And, T::Or]), end: true });
        let start = self.stream.token(0);
        let result = self.signed();
        if result.is_err() {
            self.partial = Some(Node { expr: self.builder.text(start, "<<error>>"), depth: 0 });
        }
        self.ended(result)
    }

    fn signed(&mut self) -> Parse {
        let start = self.stream.position();
        let none = |end: usize| Stop::NoViable { site: 3, start, end };
        self.stream.sync(3, Next { set: EXPR, end: false })?;
        let start = self.stream.position();
        match self.peek() {
            T::Exclam => {
                let first = self.stream.token(0);
                let mut count = 0;
                while self.peek() == T::Exclam {
                    self.stream.take();
                    count += 1;
                    self.stream.sync_loop(Next { set: EXPR, end: false })?;
                }
                let operand = self.member()?;
                if count % 2 == 0 { Ok(operand) } else { self.global(first, "!_", vec![operand], 0) }
            }
            T::Minus if !matches!(self.stream.peek(1), T::Int | T::Float) => {
                if !contains(PRIMARY, self.stream.peek(1)) {
                    return Err(none(start + 1));
                }
                let first = self.stream.take();
                let mut count = 1;
                while self.peek() == T::Minus {
                    if !contains(PRIMARY, self.stream.peek(1)) {
                        let start = self.stream.position();
                        return Err(Stop::NoViable { site: 4, start, end: start + 1 });
                    }
                    self.stream.take();
                    count += 1;
                    self.stream.sync_loop(Next { set: PRIMARY, end: false })?;
                }
                let operand = self.member()?;
                if count % 2 == 0 { Ok(operand) } else { self.global(first, "-_", vec![operand], 0) }
            }
            _ if self.stream.is_in(PRIMARY) => self.member(),
            _ => Err(none(start)),
        }
    }

    fn member(&mut self) -> Parse {
        self.stream.call(END);
        self.stream.enter(Rule::Member)?;
        let result = self.suffixed();
        self.stream.leave(Rule::Member);
        self.ended(result)
    }

    fn suffixed(&mut self) -> Parse {
        let mut operand = self.primary()?;
        loop {
            if !matches!(self.peek(), T::Dot | T::LBracket) {
                return Ok(operand);
            }
            operand = match (self.peek(), self.stream.peek(1), self.stream.peek(2)) {
                (T::LBracket, ..) => self.index(operand)?,
                (_, T::Ident, T::LParen) => self.member_call(operand)?,
                (_, T::Question | T::Ident | T::EscIdent, _) => self.select(operand)?,
                _ => {
                    let start = self.stream.position();
                    return self.failed(Ok(operand), Stop::NoViable { site: 5, start, end: start + 1 });
                }
            };
        }
    }

    fn index(&mut self, operand: Node) -> Parse {
        let op = self.stream.take();
        self.stream.sync(6, Next { set: EXPR | set(&[T::Question]), end: false })?;
        let optional = self.peek() == T::Question;
        if optional {
            self.stream.take();
        }
        let index = self.expr(only(&[T::RBracket]))?;
        let closed = self.stream.expect(7, T::RBracket, SUFFIX);
        let node = self.global(op, if optional { "_[?_]" } else { "_[_]" }, vec![operand, index], 1);
        match closed {
            Ok(_) => node,
            Err(stop) => self.failed(node, stop),
        }
    }

    fn member_call(&mut self, operand: Node) -> Parse {
        self.stream.take();
        let name = self.stream.take();
        let name = self.stream.text(name);
        let (open, args, stop) = self.arguments(SUFFIX)?;
        let depth = 1 + args.iter().map(|arg| arg.depth).max().unwrap_or(0).max(operand.depth);
        let at = self.builder.at(open);
        let args = args.into_iter().map(|arg| arg.expr).collect();
        let expr = self.builder.call(at, &name, Some(operand.expr), args);
        let node = self.within(Node { expr, depth });
        match stop {
            None => node,
            Some(stop) => self.failed(node, stop),
        }
    }

    /// `( ... )` after a name, and why it ended early.
    fn arguments(&mut self, after: Next) -> Parse<(Token, Vec<Node>, Option<Stop>)> {
        let open = self.stream.take();
        if let Err(stop) = self.stream.sync(8, Next { set: EXPR | set(&[T::RParen]), end: false }) {
            return Ok((open, Vec::new(), Some(stop)));
        }
        let mut args = Vec::new();
        if self.stream.is_in(EXPR) {
            self.stream.call(only(&[T::RParen]));
            self.stream.enter(Rule::ExprList)?;
            args.push(self.expr(or_end(&[T::Comma]))?);
            while self.peek() == T::Comma {
                self.stream.take();
                args.push(self.expr(or_end(&[T::Comma]))?);
            }
            self.stream.leave(Rule::ExprList);
            self.stream.called(Ok(()))?;
        }
        let stop = self.stream.expect(9, T::RParen, after).err();
        Ok((open, args, stop))
    }

    fn select(&mut self, operand: Node) -> Parse {
        let op = self.stream.take();
        let optional = self.peek() == T::Question;
        if optional {
            self.stream.take();
        }
        let start = self.stream.token(0);
        let Some((at, name)) = self.name(SUFFIX)? else {
            self.builder.report(start, "unsupported ident kind");
            return Ok(self.error());
        };
        let depth = operand.depth + 1;
        let expr = if optional {
            let field = self.builder.text(at, &name);
            let id = self.builder.at(op);
            let args = vec![operand.expr, field];
            Expr { id, kind: Kind::Call { target: None, function: SmolStr::new_static("_?._"), args } }
        } else {
            let kind = Kind::Select { operand: Box::new(operand.expr), field: name, test: false };
            Expr { id: self.builder.at(op), kind }
        };
        Ok(Node { expr, depth })
    }

    /// A field's name; backticks are not for this dialect.
    fn name(&mut self, next: Next) -> Parse<Option<(Token, SmolStr)>> {
        self.stream.call(next);
        let result = self.stream.sync(10, only(&[T::Ident, T::EscIdent])).and_then(|()| {
            let start = self.stream.position();
            if self.stream.is_in(set(&[T::Ident, T::EscIdent])) {
                Ok(self.stream.take())
            } else {
                Err(Stop::NoViable { site: 11, start, end: start })
            }
        });
        let Some(token) = self.stream.called(result)? else { return Ok(None) };
        if token.kind == T::EscIdent {
            self.builder.report(token, "unsupported syntax: '`'");
        }
        Ok(Some((token, self.stream.text(token).into())))
    }

    fn primary(&mut self) -> Parse {
        self.stream.call(SUFFIX);
        let result = match self.stream.sync(12, Next { set: PRIMARY, end: false }) {
            Ok(()) => self.primary_body(),
            Err(stop) => Err(stop),
        };
        self.ended(result)
    }

    fn primary_body(&mut self) -> Parse {
        let start = self.stream.position();
        match self.peek() {
            T::LParen => {
                self.stream.take();
                let inner = self.expr(only(&[T::RParen]))?;
                self.stream.expect(13, T::RParen, END)?;
                Ok(inner)
            }
            T::LBracket => self.list(),
            T::LBrace => self.map(),
            T::Dot if self.stream.peek(1) != T::Ident => Err(Stop::NoViable { site: 14, start, end: start + 1 }),
            T::Dot | T::Ident => self.named(),
            T::Minus if !matches!(self.stream.peek(1), T::Int | T::Float) => {
                Err(Stop::NoViable { site: 15, start, end: start + 1 })
            }
            _ if self.stream.is_in(PRIMARY) => Ok(self.literal()),
            _ => Err(Stop::NoViable { site: 16, start, end: start }),
        }
    }

    fn literal(&mut self) -> Node {
        let first = self.stream.take();
        let sign = first.kind == T::Minus;
        let token = if sign { self.stream.take() } else { first };
        let text = self.stream.text(token);
        Node { expr: self.builder.literal(first, token.kind, sign, &text), depth: 0 }
    }

    /// A name, a call of a function, or the making of a message.
    fn named(&mut self) -> Parse {
        let first = self.stream.token(0);
        let dot = usize::from(first.kind == T::Dot);
        let mut end = dot + 1;
        while self.stream.peek(end) == T::Dot && self.stream.peek(end + 1) == T::Ident {
            end += 2;
        }
        if self.stream.peek(end) == T::LBrace {
            return self.message();
        }
        let mut name = String::new();
        if dot == 1 {
            self.stream.take();
            name.push('.');
        }
        let token = self.stream.take();
        let word = self.stream.text(token);
        name.push_str(&word);
        if self.peek() == T::LParen {
            let (open, args, stop) = self.arguments(END)?;
            let node = match self.builder.reserved(first, &word) {
                Some(error) => Ok(Node { expr: error, depth: 0 }),
                None => self.global(open, &name, args, 0),
            };
            return match stop {
                None => node,
                Some(stop) => self.failed(node, stop),
            };
        }
        let expr = match self.builder.reserved(first, &word) {
            Some(error) => error,
            None => Expr { id: self.builder.at(token), kind: Kind::Ident(name.into()) },
        };
        Ok(Node { expr, depth: 0 })
    }

    fn message(&mut self) -> Parse {
        let mut name = String::new();
        while self.peek() != T::LBrace {
            let token = self.stream.take();
            name.push_str(&self.stream.text(token));
        }
        let op = self.stream.take();
        let first = set(&[T::Question, T::Ident, T::EscIdent]);
        self.stream.sync(17, Next { set: first | set(&[T::Comma, T::RBrace]), end: false })?;
        let mut fields = Vec::new();
        let mut depth = 0;
        if self.stream.is_in(first) {
            self.stream.call(only(&[T::Comma, T::RBrace]));
            let result = self.fields(first, &mut fields, &mut depth);
            self.stream.called(result)?;
        }
        self.closed(T::RBrace)?;
        let kind = Kind::Struct { name: name.into(), fields };
        Ok(Node { expr: Expr { id: self.builder.at(op), kind }, depth })
    }

    fn fields(&mut self, first: u64, fields: &mut Vec<Field>, depth: &mut u16) -> Parse<()> {
        loop {
            self.stream.call(only(&[T::Colon]));
            let optional = self.peek() == T::Question;
            if optional {
                self.stream.take();
            }
            let name = self.name(END)?;
            self.stream.called(Ok(()))?;
            let colon = self.stream.expect(18, T::Colon, Next { set: EXPR, end: false })?;
            let value = self.expr(or_end(&[T::Comma]))?;
            *depth = (*depth).max(value.depth);
            if let (Some((_, name)), Some(colon)) = (name, colon) {
                fields.push(Field { id: self.builder.at(colon), name, value: value.expr, optional });
            }
            if self.peek() != T::Comma || !contains(first, self.stream.peek(1)) {
                return Ok(());
            }
            self.stream.take();
        }
    }

    /// The end of a literal, after a comma or not.
    fn closed(&mut self, close: T) -> Parse<()> {
        self.stream.sync(19, only(&[T::Comma, close]))?;
        if self.peek() == T::Comma {
            self.stream.take();
        }
        self.stream.expect(20, close, END)?;
        Ok(())
    }

    /// An element of a list or a key of a map.
    fn optional_expr(&mut self, next: Next) -> Parse<(Node, bool)> {
        self.stream.call(next);
        let result = self.stream.sync(21, Next { set: EXPR | set(&[T::Question]), end: false }).and_then(|()| {
            let optional = self.peek() == T::Question;
            if optional {
                self.stream.take();
            }
            Ok((self.expr(END)?, optional))
        });
        match self.stream.called(result)? {
            Some(found) => Ok(found),
            None => Ok((self.error(), false)),
        }
    }

    fn list(&mut self) -> Parse {
        let op = self.stream.take();
        let first = EXPR | set(&[T::Question]);
        self.stream.sync(22, Next { set: first | set(&[T::Comma, T::RBracket]), end: false })?;
        let (mut elements, mut optional, mut depth) = (Vec::new(), Vec::new(), 0);
        if self.stream.is_in(first) {
            self.stream.call(only(&[T::Comma, T::RBracket]));
            loop {
                let (element, is_optional) = self.optional_expr(or_end(&[T::Comma]))?;
                depth = element.depth.max(depth);
                elements.push(element.expr);
                optional.push(is_optional);
                if self.peek() != T::Comma || !contains(first, self.stream.peek(1)) {
                    break;
                }
                self.stream.take();
            }
            self.stream.called(Ok(()))?;
        }
        self.closed(T::RBracket)?;
        Ok(Node { expr: Expr { id: self.builder.at(op), kind: Kind::List { elements, optional } }, depth })
    }

    fn map(&mut self) -> Parse {
        let op = self.stream.take();
        let first = EXPR | set(&[T::Question]);
        self.stream.sync(23, Next { set: first | set(&[T::Comma, T::RBrace]), end: false })?;
        let (mut entries, mut depth) = (Vec::new(), 0);
        if self.stream.is_in(first) {
            self.stream.call(only(&[T::Comma, T::RBrace]));
            let result = self.entries(first, &mut entries, &mut depth);
            self.stream.called(result)?;
        }
        self.closed(T::RBrace)?;
        Ok(Node { expr: Expr { id: self.builder.at(op), kind: Kind::Map { entries } }, depth })
    }

    fn entries(&mut self, first: u64, entries: &mut Vec<Entry>, depth: &mut u16) -> Parse<()> {
        loop {
            let (key, optional) = self.optional_expr(only(&[T::Colon]))?;
            self.stream.expect(24, T::Colon, Next { set: EXPR, end: false })?;
            let value = self.expr(or_end(&[T::Comma]))?;
            *depth = (*depth).max(key.depth).max(value.depth);
            entries.push(Entry { key: key.expr, value: value.expr, optional });
            if self.peek() != T::Comma || !contains(first, self.stream.peek(1)) {
                return Ok(());
            }
            self.stream.take();
        }
    }
}

fn operator(kind: T) -> &'static str {
    match kind {
        T::Equals => "_==_",
        T::NotEquals => "_!=_",
        T::In => "@in",
        T::Less => "_<_",
        T::LessEquals => "_<=_",
        T::GreaterEquals => "_>=_",
        T::Greater => "_>_",
        T::Plus => "_+_",
        T::Minus => "_-_",
        T::Star => "_*_",
        T::Slash => "_/_",
        _ => "_%_",
    }
}
