//! Go's regular expressions: whether one is well-formed, in the words of Go's `regexp`, and the same one for the regex
//! crate, whose syntax differs in places: classes such as `\d` mean ASCII in Go, and `{` may stand for itself.

mod class;
mod escape;

use std::fmt::Write as _;

/// The most nodes on the way to a leaf.
const HEIGHT_MAX: usize = 1000;
/// The most instructions of a compiled expression.
const SIZE_MAX: u64 = (128 << 20) / 40;
/// The most that counted repetitions within each other may multiply to.
const REPEATS_MAX: u64 = 1000;

/// The expression in the syntax of the regex crate, or Go's words for what is wrong with it.
pub(crate) fn translate(pattern: &str) -> Result<String, String> {
    Parser::new(pattern).run().map_err(|(what, text)| format!("error parsing regexp: {what}: `{text}`"))
}

/// Go's words for an expression that is well-formed and too large.
pub(crate) fn too_large(pattern: &str) -> String {
    format!("error parsing regexp: {LARGE}: `{pattern}`")
}

type Fault = (&'static str, String);

const NAMED: &str = "invalid named capture";
const PERL: &str = "invalid or unsupported Perl syntax";
const NESTED: &str = "invalid nested repetition operator";
const COUNT: &str = "invalid repeat count";
const ARGUMENT: &str = "missing argument to repetition operator";
const RANGE: &str = "invalid character class range";
const BRACKET: &str = "missing closing ]";
const PAREN: &str = "missing closing )";
const UNEXPECTED: &str = "unexpected )";
const DEPTH: &str = "expression nests too deeply";
const LARGE: &str = "expression too large";
const ESCAPE: &str = "invalid escape sequence";

/// What limits look at in an expression.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    height: usize,
    size: u64,
    repeats: u64,
}

impl Weight {
    const LEAF: Self = Self { height: 1, size: 1, repeats: 1 };

    fn and(self, other: Self) -> Self {
        Self {
            height: self.height.max(other.height),
            size: self.size.saturating_add(other.size),
            repeats: self.repeats.max(other.repeats),
        }
    }

    fn within(self, size: u64) -> Self {
        Self { height: self.height + 1, size: self.size.saturating_add(size), ..self }
    }
}

/// A group that is open, or the whole.
#[derive(Debug, Default)]
struct Group {
    captures: bool,
    /// What comes before the last item, in this branch and in those before it.
    before: Option<Weight>,
    branches: Option<Weight>,
    /// The last item, which can be repeated.
    last: Option<Weight>,
}

impl Group {
    fn push(&mut self, weight: Weight) {
        self.before = join(self.before, self.last.take());
        self.last = Some(weight);
    }

    fn end_branch(&mut self) -> Weight {
        let branch = join(self.before.take(), self.last.take()).unwrap_or(Weight::LEAF);
        let all = self.branches.map_or(branch, |branches| branches.and(branch));
        self.branches = Some(all);
        all
    }
}

fn join(one: Option<Weight>, other: Option<Weight>) -> Option<Weight> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.or(other),
    }
}

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
                '{' => match counts(at) {
                    None => {
                        self.literal('{')?;
                        self.skip(1);
                    }
                    Some((least, most, after)) => {
                        self.rest = after;
                        let too_many = |count: Option<u64>| count.is_none_or(|count| count > REPEATS_MAX);
                        let is_bad = too_many(least)
                            || most.is_some_and(too_many)
                            || least.zip(most.flatten()).is_some_and(|(least, most)| least > most);
                        if is_bad {
                            return Err((COUNT, taken(at, after)));
                        }
                        let least = least.unwrap_or_default();
                        self.repeat(at, last_repeat, Some((least, most.flatten())))?;
                        repeat = Some(at);
                    }
                },
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

    /// After `*`, `+`, `?` or counts were taken. `before` is where they began.
    fn repeat(
        &mut self,
        before: &'a str,
        last_repeat: Option<&'a str>,
        counts: Option<(u64, Option<u64>)>,
    ) -> Result<(), Fault> {
        let operator = taken(before, self.rest);
        let lazy = self.rest.starts_with('?');
        if lazy {
            self.skip(1);
        }
        if let Some(last) = last_repeat {
            return Err((NESTED, taken(last, self.rest)));
        }
        let Some(weight) = self.group().last.take() else { return Err((ARGUMENT, taken(before, self.rest))) };
        let weight = match (operator.as_str(), counts) {
            ("*", _) | (_, Some((0, None))) => weight.within(2),
            (_, None) => weight.within(1),
            (_, Some((least, None))) => Weight {
                size: weight.size.saturating_mul(least).saturating_add(1),
                repeats: weight.repeats.saturating_mul(least.max(1)),
                height: weight.height + 1,
            },
            (_, Some((least, Some(most)))) => Weight {
                size: weight.size.saturating_mul(most).saturating_add(most.saturating_sub(least)).max(1),
                repeats: if most == 0 { 1 } else { weight.repeats.saturating_mul(most) },
                height: weight.height + 1,
            },
        };
        self.group().last = Some(weight);
        self.check(weight)?;
        let counted = counts.is_some_and(|(least, most)| least >= 2 || most.is_some_and(|most| most >= 2));
        if counted && weight.repeats > REPEATS_MAX {
            return Err((COUNT, taken(before, self.rest)));
        }
        self.put(&operator);
        if lazy {
            self.put("?");
        }
        Ok(())
    }

    /// `(?` with flags, a name, or only a group.
    fn flags(&mut self) -> Result<(), Fault> {
        let at = self.rest;
        let name_at = if at.len() > 4 && at.starts_with("(?P<") {
            Some(4)
        } else {
            (at.len() > 3 && at.starts_with("(?<")).then_some(3)
        };
        if let Some(start) = name_at {
            let Some(end) = at.find('>') else { return Err((NAMED, at.to_owned())) };
            let name = at.get(start..end).unwrap_or_default();
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return Err((NAMED, at.get(..=end).unwrap_or_default().to_owned()));
            }
            // Names mean nothing here, and those of the regex crate may not begin with a digit.
            self.open(true, "(");
            self.skip(end + 1);
            return Ok(());
        }
        let mut flags = String::new();
        let (mut negative, mut saw_flag) = (false, false);
        let mut rest = at.get(2..).unwrap_or_default();
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                'i' | 'm' | 's' | 'U' => {
                    saw_flag = true;
                    flags.push(c);
                }
                '-' if !negative => {
                    negative = true;
                    saw_flag = false;
                    flags.push('-');
                }
                ':' | ')' if !negative || saw_flag => {
                    self.rest = rest;
                    if c == ':' {
                        self.open(false, &format!("(?{}:", distinct(&flags)));
                    } else if !flags.is_empty() {
                        let _ = write!(self.out, "(?{})", distinct(&flags));
                    }
                    return Ok(());
                }
                _ => break,
            }
        }
        Err((PERL, taken(at, rest)))
    }
}

/// Flags, each where it counts: Go takes one twice, the regex crate does not, and the last mention wins.
fn distinct(flags: &str) -> String {
    let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
    let keep = |part: &str, except: &str| -> String {
        "imsU".chars().filter(|flag| part.contains(*flag) && !except.contains(*flag)).collect()
    };
    let (on, off) = (keep(on, off), keep(off, ""));
    if off.is_empty() { on } else { format!("{on}-{off}") }
}

/// What was taken of `before` until `after` was left.
fn taken(before: &str, after: &str) -> String {
    before.get(..before.len().saturating_sub(after.len())).unwrap_or_default().to_owned()
}

type Count = Option<u64>;

/// The counts of a repetition, and what follows; counts that are too large are `None`, and so is no upper one.
fn counts(text: &str) -> Option<(Count, Option<Count>, &str)> {
    let (least, rest) = number(text.strip_prefix('{')?)?;
    let Some(rest) = rest.strip_prefix(',') else {
        return Some((least, Some(least), rest.strip_prefix('}')?));
    };
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((least, None, rest));
    }
    let (most, rest) = number(rest)?;
    Some((least, Some(most), rest.strip_prefix('}')?))
}

fn number(text: &str) -> Option<(Count, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().ok(), rest))
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
            assert!(regex::Regex::new(&found).is_ok(), "{pattern} as {found}");
            assert_eq!(found, translated, "{pattern}");
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
            ("(?P<n-x>a)", "invalid named capture: `(?P<n-x>`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            ("(a{100}){100}", "invalid repeat count: `{100}`"),
            (r"\", "trailing backslash at end of expression: ``"),
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
}
