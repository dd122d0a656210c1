//! Go's regular expressions: whether one is well-formed, in the words of Go's `regexp`, and the same one for the regex
//! crate, whose syntax differs in places: classes such as `\d` mean ASCII in Go, and `{` may stand for itself.

mod class;
mod escape;
mod flags;
mod repeat;
mod weight;

use regex::{Regex, RegexBuilder};
use weight::{Group, HEIGHT_MAX, SIZE_MAX, Weight};

/// As much memory a compiled expression may take. Go allows programs of about the same size.
const MEMORY_MAX: usize = 16 << 20;

/// The expression in the syntax of the regex crate, or Go's words for what is wrong with it.
pub fn translate(pattern: &str) -> Result<String, String> {
    Parser::new(pattern).run().map_err(said)
}

/// The expression, compiled, or Go's words for why it cannot be.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    let compiled = RegexBuilder::new(&translate(pattern)?).size_limit(MEMORY_MAX).build();
    // What Go takes and cannot be compiled here is too large; the one text for that will do.
    compiled.map_err(|_| said((LARGE, pattern.to_owned())))
}

fn said((what, text): Fault) -> String {
    format!("error parsing regexp: {what}: `{text}`")
}

type Fault = (&'static str, String);

const RANGE: &str = "invalid character class range";
const BRACKET: &str = "missing closing ]";
const PAREN: &str = "missing closing )";
const UNEXPECTED: &str = "unexpected )";
const DEPTH: &str = "expression nests too deeply";
const LARGE: &str = "expression too large";
const ESCAPE: &str = "invalid escape sequence";

struct Parser<'a> {
    whole: &'a str,
    rest: &'a str,
    groups: Vec<Group>,
    out: String,
}

impl<'a> Parser<'a> {
    fn new(whole: &'a str) -> Self {
        Self { whole, rest: whole, groups: vec![Group::default()], out: String::with_capacity(whole.len() + 8) }
    }

    fn run(mut self) -> Result<String, Fault> {
        // Where the last repetition began, as long as nothing came after it.
        let mut last_repeat = None;
        while let Some(first) = self.rest.chars().next() {
            let at = self.rest;
            let mut repeat = None;
            match first {
                '(' if at.starts_with("(?") => self.flags()?,
                '(' => {
                    self.open(true, "(");
                    self.skip(1);
                }
                '|' => {
                    self.end_branch()?;
                    self.put("|");
                    self.skip(1);
                }
                ')' => self.close()?,
                '^' | '$' | '.' => {
                    self.leaf(&first.to_string())?;
                    self.skip(1);
                }
                '[' => self.class()?,
                '*' | '+' | '?' => {
                    self.skip(1);
                    self.repeat(at, last_repeat, None)?;
                    repeat = Some(at);
                }
                '{' => repeat = self.counted(last_repeat)?.then_some(at),
                '\\' => self.escaped()?,
                c => {
                    self.literal(c)?;
                    self.skip(c.len_utf8());
                }
            }
            last_repeat = repeat;
        }
        self.end_branch()?;
        if self.groups.len() == 1 { Ok(self.out) } else { Err((PAREN, self.whole.to_owned())) }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn group(&mut self) -> &mut Group {
        self.groups.last_mut().expect("the whole is never closed")
    }

    fn end_branch(&mut self) -> Result<(), Fault> {
        let weight = self.group().end_branch();
        self.check(weight)
    }

    fn open(&mut self, captures: bool, text: &str) {
        self.groups.push(Group { captures, ..Group::default() });
        self.put(text);
    }

    fn leaf(&mut self, text: &str) -> Result<(), Fault> {
        self.group().push(Weight::LEAF);
        self.put(text);
        self.check(Weight::LEAF)
    }

    fn literal(&mut self, c: char) -> Result<(), Fault> {
        let text = escape::literal(c);
        self.leaf(&text)
    }

    fn check(&self, weight: Weight) -> Result<(), Fault> {
        let whole = || self.whole.to_owned();
        if weight.size > SIZE_MAX {
            return Err((LARGE, whole()));
        }
        if weight.height > HEIGHT_MAX || self.groups.len() > HEIGHT_MAX { Err((DEPTH, whole())) } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.groups.len() < 2 {
            return Err((UNEXPECTED, self.whole.to_owned()));
        }
        self.end_branch()?;
        let group = self.groups.pop().unwrap_or_default();
        let mut weight = group.branches.unwrap_or(Weight::LEAF);
        if group.captures {
            weight = weight.within(2);
        }
        self.group().push(weight);
        self.put(")");
        self.skip(1);
        self.check(weight)
    }
}

/// What was taken of `before` until `after` was left.
fn taken(before: &str, after: &str) -> String {
    before.get(..before.len().saturating_sub(after.len())).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_read_as_in_go() {
        for (pattern, translated) in [
            ("^[a-z]+$", "^[a-z]+$"),
            (r"\d+\s\w", r"[0-9]+[\t\n\x0C\r ][0-9A-Za-z_]"),
            (r"[\d\-&&x]", r"[0-9\-\&\&x]"),
            ("a{2}b{,3}c{1,}?", r"a{2}b\{,3\}c{1,}?"),
            (r"\Qa.b\E*", r"a\.b*"),
            ("(?P<1a>x)(?i:y)(?-s)", "(x)(?i:y)(?-s)"),
            (r"\012\x41\x{1F600}", "\nA\u{1f600}"),
            ("[^]a]", r"[^\]a]"),
            ("[[:alpha:]_]", "[[:alpha:]_]"),
            (r"\p{Greek}\PN", r"\p{Greek}\PN"),
        ] {
            let found = translate(pattern).unwrap();
            assert!(Regex::new(&found).is_ok(), "{pattern} as {found}");
            assert_eq!(found, translated, "{pattern}");
        }
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
            assert_eq!(compile(pattern).unwrap().is_match(text), matches, "{pattern} on {text}");
        }
    }

    #[test]
    fn faults_read_as_gos() {
        for (pattern, fault) in [
            ("[a", "missing closing ]: `[a`"),
            ("(a", "missing closing ): `(a`"),
            ("a)", "unexpected ): `a)`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("(|+)", "missing argument to repetition operator: `+`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?<n", "invalid named capture: `(?<n`"),
            ("(?P<a", "invalid named capture: `(?P<a`"),
            ("(?P<n-x>a)", "invalid named capture: `(?P<n-x>`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            ("(a{100}){11}", "invalid repeat count: `{11}`"),
            ("(a{100}){100}", "invalid repeat count: `{100}`"),
            (r"\", "trailing backslash at end of expression: ``"),
            (r"\1", r"invalid escape sequence: `\1`"),
            (r"\q", r"invalid escape sequence: `\q`"),
            (r"\8", r"invalid escape sequence: `\8`"),
            (r"[\Z]", r"invalid escape sequence: `\Z`"),
            ("[b-a]", "invalid character class range: `b-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            (r"\p{Foo}", r"invalid character class range: `\p{Foo}`"),
        ] {
            assert_eq!(translate(pattern).unwrap_err(), format!("error parsing regexp: {fault}"), "{pattern}");
        }
    }

    #[test]
    fn deep_and_large_ones_are_refused() {
        assert!(translate(&"(".repeat(100_000)).is_err());
        assert!(translate(&format!("{}a{}", "(".repeat(2000), ")".repeat(2000))).is_err());
        assert!(translate(&"(?:a{1000}){1}".repeat(10_000)).is_err());
    }

    #[test]
    fn memory_is_bounded() {
        let huge = r"(\p{L}{30}|\p{Han}{30}){33}".repeat(20);
        let said = compile(&huge).unwrap_err();
        assert!(said.starts_with("error parsing regexp: expression too large"), "{said}");
    }
}
