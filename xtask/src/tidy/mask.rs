//! Rust source with everything blanked that is not code.

/// The source with comments, strings and characters turned into spaces, so that a rule may look for text without
/// meeting it in prose. Lines stay where they are.
pub(super) fn code_only(source: &str) -> String {
    let mut masker = Masker { rest: source, out: String::with_capacity(source.len()), in_word: false };
    while masker.step() {}
    masker.out
}

struct Masker<'a> {
    rest: &'a str,
    out: String,
    /// Whether the last character belongs to a word: the `r` of `for"` begins no raw string.
    in_word: bool,
}

impl Masker<'_> {
    /// Consumes one token or one character; false at the end.
    fn step(&mut self) -> bool {
        let Some(next) = self.rest.chars().next() else { return false };
        let literal = self.literal_length();
        if let Some(length) = literal {
            self.blank(length);
            self.in_word = false;
        } else {
            self.out.push(next);
            self.advance(next.len_utf8());
            self.in_word = next.is_alphanumeric() || next == '_';
        }
        true
    }

    /// The length in bytes of the comment, string or character that starts here.
    fn literal_length(&self) -> Option<usize> {
        let rest = self.rest;
        if rest.starts_with("//") {
            return Some(rest.find('\n').unwrap_or(rest.len()));
        }
        if rest.starts_with("/*") {
            return Some(block_comment(rest));
        }
        if rest.starts_with('"') {
            return Some(1 + quoted(rest.get(1..)?, '"'));
        }
        if let Some(after) = rest.strip_prefix('\'') {
            return character(after).map(|length| length + 1);
        }
        if self.in_word {
            return None;
        }
        let prefix = ["br", "cr", "r"].into_iter().find(|prefix| rest.starts_with(prefix))?;
        raw_string(rest.get(prefix.len()..)?).map(|length| length + prefix.len())
    }

    fn blank(&mut self, length: usize) {
        let blanked = self.rest.get(..length).unwrap_or(self.rest);
        self.out.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.advance(length);
    }

    fn advance(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            let Some(next) = rest.chars().next() else { break };
            at += next.len_utf8();
        }
    }
    text.len()
}

/// The length up to and with the closing quote, of text that starts after the opening one.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The length of a character literal after its opening quote; `None` for a lifetime.
fn character(after: &str) -> Option<usize> {
    let mut chars = after.chars();
    let first = chars.next()?;
    (first == '\\' || chars.next() == Some('\'')).then(|| quoted(after, '\''))
}

/// The length of a raw string after its prefix; `None` when no quote follows, as in `r#type`.
fn raw_string(after: &str) -> Option<usize> {
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    let body = after.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(hashes + 1 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_not_code_is_blanked() {
        for (source, code) in [
            ("a // todo!()\nb", "a           \nb"),
            ("a /* x /* y */ z */ b", "a                   b"),
            (r#"f("a \" b", c)"#, "f(        , c)"),
            (r##"f(r#"a " b"#, c)"##, "f(          , c)"),
            (r#"f(br"a\", c)"#, "f(      , c)"),
            ("f('\"', '\\'', 'x')", "f(   ,     ,    )"),
        ] {
            assert_eq!(code_only(source), code, "{source}");
        }
    }

    #[test]
    fn lifetimes_and_raw_names_stay() {
        for source in ["fn f<'a>(x: &'a str) -> &'a str", "let r#type = for_r;", "impl Iterator<Item = &'static T>"] {
            assert_eq!(code_only(source), source);
        }
    }

    #[test]
    fn lines_stay_where_they_are() {
        let source = "a\n\"x\ny\"\n/*\n*/ b";
        assert_eq!(code_only(source).lines().count(), source.lines().count());
        assert!(code_only(source).ends_with('b'));
    }

    #[test]
    fn unterminated_source_does_not_hang() {
        for source in ["\"abc", "/* abc", "r#\"abc", "'\\", "'"] {
            assert_eq!(code_only(source).chars().count(), source.chars().count(), "{source}");
        }
    }

    #[test]
    fn word_that_ends_in_a_prefix_letter_begins_no_raw_string() {
        assert_eq!(code_only("bar\"x\" + y"), "bar    + y");
    }
}
