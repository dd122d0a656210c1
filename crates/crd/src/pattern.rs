//! Patterns in Go's syntax, matched by the regex crate.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::regexp;

/// As much memory a compiled pattern may take. Go allows programs of about the same size.
const SIZE_MAX: usize = 16 << 20;

/// A pattern of a schema. It is compiled when it is first needed: most schemas of a cluster never see an object.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Result<Regex, Box<str>>>,
}

impl Pattern {
    /// The pattern as the schema has it.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), compiled: OnceLock::new() }
    }

    /// The pattern as the schema has it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches somewhere in `text`. What cannot be compiled matches nothing.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled().as_ref().is_ok_and(|compiled| compiled.is_match(text.as_bytes()))
    }

    /// Why it cannot be compiled, in Go's words.
    pub fn fault(&self) -> Option<&str> {
        self.compiled().as_ref().err().map(|fault| &**fault)
    }

    fn compiled(&self) -> &Result<Regex, Box<str>> {
        self.compiled.get_or_init(|| {
            let translated = regexp::translate(&self.text).map_err(String::into_boxed_str)?;
            let compiled = RegexBuilder::new(&translated).size_limit(SIZE_MAX).build();
            // What Go takes and cannot be compiled here is too large; the one text for that will do.
            compiled.map_err(|_| regexp::too_large(&self.text).into_boxed_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(pattern: &str) -> Option<String> {
        Pattern::new(pattern).fault().map(str::to_owned)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        for (pattern, text, matches) in [
            (r"^\d$", "\u{661}", false),
            (r"^\w$", "\u{e9}", false),
            (r"^\s$", "\u{a0}", false),
            (r"^\s$", "\u{b}", false),
            (r"^[[:space:]]$", "\u{b}", true),
            (r"\bfoo\b", "\u{e9}foo\u{e9}", true),
            (r"o\Bo", "foo", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^[a&&b]$", "&", true),
            (r"^[[a]$", "[", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^(?P<x>a)(?P<x>b)$", "ab", true),
            (r"^\101\x{41}\x41$", "AAA", true),
            (r"^\/\_\<$", "/_<", true),
        ] {
            assert_eq!(Pattern::new(pattern).is_match(text), matches, "{pattern} on {text}");
        }
    }

    #[test]
    fn faults_are_told_in_gos_words() {
        for (pattern, said) in [
            ("a**", "invalid nested repetition operator: `**`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(a{100}){11}", "invalid repeat count: `{11}`"),
            ("a(b", "missing closing ): `a(b`"),
            ("a)b", "unexpected ): `a)b`"),
            ("[a", "missing closing ]: `[a`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            (r"\1", r"invalid escape sequence: `\1`"),
            (r"\q", r"invalid escape sequence: `\q`"),
            ("\\", "trailing backslash at end of expression: ``"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?P<a", "invalid named capture: `(?P<a`"),
        ] {
            assert_eq!(fault(pattern), Some(format!("error parsing regexp: {said}")));
        }
    }

    #[test]
    fn size_is_bounded() {
        let huge = r"(\p{L}{30}|\p{Han}{30}){33}".repeat(20);
        let said = fault(&huge).expect("too large for anybody");
        assert!(said.starts_with("error parsing regexp: expression too large"));
        assert!(fault(&"(".repeat(100_000)).is_some());
    }
}
