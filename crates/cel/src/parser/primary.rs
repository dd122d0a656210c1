//! Values that stand for themselves.

use super::recovery::{Next, Stop, only};
use super::{END, Node, PRIMARY, Parse, Parser, SUFFIX};
use crate::ast::{Expr, Kind};
use crate::lexer::T;

impl Parser {
    pub(super) fn primary(&mut self) -> Parse {
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
}
