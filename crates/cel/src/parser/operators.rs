//! Operators, from the one that binds least.

use super::build::Builder;
use super::recovery::{Next, Rule, Stop, contains, only, or_end, set};
use super::{END, EXPR, Node, PRIMARY, Parse, Parser};
use crate::lexer::T;

const RELATIONS: u64 = set(&[T::Equals, T::NotEquals, T::In, T::Less, T::LessEquals, T::GreaterEquals, T::Greater]);
const PRODUCTS: u64 = set(&[T::Star, T::Slash, T::Percent]);
const SUMS: u64 = set(&[T::Plus, T::Minus]);

impl Parser {
    pub(super) fn expr(&mut self, next: Next) -> Parse {
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
