//! The words and signs of a label selector.

/// A word or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    End,
    Word(&'a str),
    In,
    NotIn,
    Open,
    Close,
    Comma,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
}

impl<'a> Token<'a> {
    /// As it was written.
    pub(super) fn text(self) -> &'a str {
        match self {
            Self::End => "",
            Self::Word(word) => word,
            Self::In => "in",
            Self::NotIn => "notin",
            Self::Open => "(",
            Self::Close => ")",
            Self::Comma => ",",
            Self::Not => "!",
            Self::Equals => "=",
            Self::DoubleEquals => "==",
            Self::NotEquals => "!=",
            Self::Greater => ">",
            Self::Less => "<",
        }
    }

    /// The same where only a word can stand: `in` and `notin` are good names.
    pub(super) fn as_word(self) -> Self {
        match self {
            Self::In | Self::NotIn => Self::Word(self.text()),
            other => other,
        }
    }
}

/// Takes text apart. At the end it says so, as often as it is asked.
pub(super) struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = self.rest.chars().next().filter(|first| *first != '\0') else {
            // Kubernetes takes a NUL for the end.
            self.rest = "";
            return Token::End;
        };
        let token = if is_sign(first) { self.sign(first) } else { self.word() };
        // The same NUL after a word or sign is skipped, because there it ends no more than that.
        self.rest = self.rest.strip_prefix('\0').unwrap_or(self.rest);
        token
    }

    fn word(&mut self) -> Token<'a> {
        let ends = |c: char| is_sign(c) || matches!(c, ' ' | '\t' | '\r' | '\n' | '\0');
        let (word, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest;
        match word {
            "in" => Token::In,
            "notin" => Token::NotIn,
            word => Token::Word(word),
        }
    }

    fn sign(&mut self, first: char) -> Token<'a> {
        let (token, length) = match first {
            '=' if self.rest.starts_with("==") => (Token::DoubleEquals, 2),
            '!' if self.rest.starts_with("!=") => (Token::NotEquals, 2),
            '=' => (Token::Equals, 1),
            '!' => (Token::Not, 1),
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '>' => (Token::Greater, 1),
            '<' => (Token::Less, 1),
            _ => (Token::Comma, 1),
        };
        self.rest = self.rest.get(length..).unwrap_or_default();
        token
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}
