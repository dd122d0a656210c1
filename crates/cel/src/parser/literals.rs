//! Lists, maps and messages.

use super::recovery::{Next, contains, only, or_end, set};
use super::{END, EXPR, Node, Parse, Parser};
use crate::ast::{Entry, Expr, Field, Kind};
use crate::lexer::T;

impl Parser {
    pub(super) fn message(&mut self) -> Parse {
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

    pub(super) fn list(&mut self) -> Parse {
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

    pub(super) fn map(&mut self) -> Parse {
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
