//! From words to requirements, by the grammar and with the complaints of Kubernetes.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, Path, names, summary};

use super::lex::{Lexer, Token};
use super::{Operator, Requirement};

/// The requirements as they stand in the text.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser::new(text);
    let mut found = Vec::new();
    loop {
        match parser.peek() {
            Token::Word(_) | Token::Not => {}
            Token::End => return Ok(found),
            other => return Err(format!("found '{}', expected: !, identifier, or 'end of string'", other.text())),
        }
        found.push(parser.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?);
        match parser.next() {
            Token::End => return Ok(found),
            Token::Comma => {}
            other => return Err(format!("found '{}', expected: ',' or 'end of string'", other.text())),
        }
        match parser.peek() {
            Token::Word(_) | Token::Not => {}
            other => return Err(format!("found '{}', expected: identifier after ','", other.text())),
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    ahead: Token<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let ahead = lexer.next();
        Self { lexer, ahead }
    }

    fn peek(&self) -> Token<'a> {
        self.ahead.as_word()
    }

    fn next(&mut self) -> Token<'a> {
        self.next_operator().as_word()
    }

    /// The only place where `in` and `notin` are more than words.
    fn next_operator(&mut self) -> Token<'a> {
        std::mem::replace(&mut self.ahead, self.lexer.next())
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.next();
        let absent = token == Token::Not;
        if absent {
            token = self.next();
        }
        let Token::Word(key) = token else {
            return Err(format!("found '{}', expected: identifier", token.text()));
        };
        if let Some(fault) = key_fault(key, Path::Root) {
            return Err(fault.to_string());
        }
        let alone = matches!(self.peek(), Token::End | Token::Comma);
        if absent || alone {
            let operator = if absent { Operator::DoesNotExist } else { Operator::Exists };
            return Ok(Requirement { key: key.to_owned(), operator, values: Vec::new() });
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => [self.value()?].into(),
        };
        checked(key, operator, values)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        Ok(match self.next_operator() {
            Token::In => Operator::In,
            Token::NotIn => Operator::NotIn,
            Token::Equals => Operator::Equals,
            Token::DoubleEquals => Operator::DoubleEquals,
            Token::NotEquals => Operator::NotEquals,
            Token::Greater => Operator::GreaterThan,
            Token::Less => Operator::LessThan,
            other => return Err(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", other.text())),
        })
    }

    fn value(&mut self) -> Result<&'a str, String> {
        if matches!(self.peek(), Token::End | Token::Comma) {
            return Ok("");
        }
        match self.next() {
            Token::Word(word) => Ok(word),
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    fn values(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let token = self.next();
        if token != Token::Open {
            return Err(format!("found '{}' expected: '('", token.text()));
        }
        match self.peek() {
            Token::Word(_) | Token::Comma => {}
            Token::Close => {
                self.next();
                return Ok([""].into());
            }
            other => return Err(format!("found '{}', expected: ',', ')' or identifier", other.text())),
        }
        let values = self.listed()?;
        // The list ends only before a closing parenthesis.
        self.next();
        Ok(values)
    }

    /// Values with commas between them, any of which may be empty.
    fn listed(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let mut values = BTreeSet::new();
        loop {
            match self.next() {
                Token::Word(word) => {
                    values.insert(word);
                    match self.peek() {
                        Token::Comma => {}
                        Token::Close => return Ok(values),
                        other => return Err(format!("found '{}', expected: ',' or ')'", other.text())),
                    }
                }
                Token::Comma => {
                    let next = self.peek();
                    if values.is_empty() || matches!(next, Token::Close | Token::Comma) {
                        values.insert("");
                    }
                    if next == Token::Close {
                        return Ok(values);
                    }
                }
                other => return Err(format!("found '{}', expected: ',', or identifier", other.text())),
            }
        }
    }
}

fn checked(key: &str, operator: Operator, values: BTreeSet<&str>) -> Result<Requirement, String> {
    let at = Path::field("values");
    let mut faults = Vec::new();
    if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
        for (position, value) in values.iter().enumerate() {
            if value.parse::<i64>().is_err() {
                let why = "for 'Gt', 'Lt' operators, the value must be an integer";
                faults.push(FieldError::invalid(at.index(position), *value, why));
            }
        }
    }
    for (position, value) in values.iter().enumerate() {
        let why = names::label_value(value);
        if !why.is_empty() {
            faults.push(FieldError::invalid(at.index(position).key(key), *value, why.join("; ")));
        }
    }
    if !faults.is_empty() {
        return Err(summary(&faults));
    }
    Ok(Requirement { key: key.to_owned(), operator, values: values.into_iter().map(str::to_owned).collect() })
}

fn key_fault(key: &str, at: Path<'_>) -> Option<FieldError> {
    let why = names::label_key(key);
    (!why.is_empty()).then(|| FieldError::invalid(at, key, why.join("; ")))
}
