//! What stands behind a value: selections, indexes and calls.

use smol_str::SmolStr;

use super::recovery::{Next, Rule, Stop, only, or_end, set};
use super::{END, EXPR, Node, Parse, Parser, SUFFIX};
use crate::ast::{Expr, Kind};
use crate::lexer::{T, Token};

impl Parser {
    pub(super) fn member(&mut self) -> Parse {
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
    pub(super) fn arguments(&mut self, after: Next) -> Parse<(Token, Vec<Node>, Option<Stop>)> {
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
    pub(super) fn name(&mut self, next: Next) -> Parse<Option<(Token, SmolStr)>> {
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
}
