//! SPDX licence expressions: can one be satisfied by licences of a list?
//!
//! ```text
//! any    = all { "OR" all }
//! all    = one { "AND" one }
//! one    = "(" any ")" | licence [ "WITH" exception ]
//! ```

use std::iter::Peekable;
use std::vec::IntoIter;

/// Whether taking the licence can be limited to `allowed` terms. An entry of `allowed` is one licence, or one licence
/// `WITH` one exception. Licence names are compared without regard to case, as SPDX asks.
///
/// Fails on text that is no expression, with the reason.
pub(super) fn satisfied(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    let mut parser = Parser { tokens: tokens(expression).into_iter().peekable(), allowed };
    let answer = parser.any()?;
    match parser.tokens.next() {
        None => Ok(answer),
        Some(extra) => Err(format!("`{extra}` is unexpected")),
    }
}

/// Words and parentheses. A slash is how cargo wrote "or" before it knew SPDX; crates with it are still around.
fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Parser<'a> {
    tokens: Peekable<IntoIter<String>>,
    allowed: &'a [&'a str],
}

impl Parser<'_> {
    fn any(&mut self) -> Result<bool, String> {
        let mut answer = self.all()?;
        while self.take("OR") {
            // Both sides are always read: a malformed right side is an error also where the left side suffices.
            answer |= self.all()?;
        }
        Ok(answer)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Ok(answer)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let answer = self.any()?;
            return if self.take(")") { Ok(answer) } else { Err("a parenthesis is not closed".to_owned()) };
        }
        let licence = self.word()?;
        if self.take("WITH") {
            let exception = self.word()?;
            return Ok(self.allows(&format!("{licence} WITH {exception}")));
        }
        // `X+` is X or any later version, so X alone is one way to take it.
        Ok(self.allows(licence.strip_suffix('+').unwrap_or(&licence)))
    }

    fn take(&mut self, token: &str) -> bool {
        self.tokens.next_if(|next| next == token).is_some()
    }

    fn word(&mut self) -> Result<String, String> {
        match self.tokens.next() {
            None => Err("a licence is missing at the end".to_owned()),
            Some(token) if matches!(token.as_str(), "OR" | "AND" | "WITH" | "(" | ")") => {
                Err(format!("`{token}` stands where a licence should"))
            }
            Some(token) => Ok(token),
        }
    }

    fn allows(&self, licence: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(licence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: &[&str] = &["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];

    #[test]
    fn one_side_of_an_or_is_enough() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("mit", true),
            ("MIT OR GPL-3.0-only", true),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only OR AGPL-3.0-only", false),
            ("MIT/Apache-2.0", true),
            ("GPL-2.0 / MIT", true),
        ] {
            assert_eq!(satisfied(expression, ALLOWED), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn every_side_of_an_and_is_needed() {
        for (expression, expected) in [
            ("MIT AND Unicode-3.0", true),
            ("MIT AND GPL-3.0-only", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("(MIT OR Apache-2.0) AND NCSA", false),
            ("((MIT) AND (Apache-2.0 OR GPL-3.0-only))", true),
        ] {
            assert_eq!(satisfied(expression, ALLOWED), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn and_binds_tighter_than_or() {
        assert_eq!(satisfied("MIT OR Apache-2.0 AND GPL-3.0-only", ALLOWED), Ok(true));
        assert_eq!(satisfied("GPL-3.0-only AND MIT OR Apache-2.0", ALLOWED), Ok(true));
        assert_eq!(satisfied("(MIT OR Apache-2.0) AND GPL-3.0-only", ALLOWED), Ok(false));
        assert_eq!(satisfied("GPL-3.0-only AND (MIT OR Apache-2.0)", ALLOWED), Ok(false));
    }

    #[test]
    fn exception_belongs_to_its_licence() {
        assert_eq!(satisfied("Apache-2.0 WITH LLVM-exception", ALLOWED), Ok(true));
        assert_eq!(satisfied("Apache-2.0 WITH Other-exception", ALLOWED), Ok(false));
        assert_eq!(satisfied("MIT WITH LLVM-exception", ALLOWED), Ok(false));
        assert_eq!(satisfied("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", ALLOWED), Ok(true));
    }

    #[test]
    fn or_later_includes_the_licence_itself() {
        assert_eq!(satisfied("Apache-2.0+", ALLOWED), Ok(true));
        assert_eq!(satisfied("GPL-2.0+", ALLOWED), Ok(false));
    }

    #[test]
    fn text_that_is_no_expression_is_an_error() {
        for bad in ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT OR OR MIT", "MIT WITH", "()"] {
            assert!(satisfied(bad, ALLOWED).is_err(), "{bad}");
        }
    }
}
