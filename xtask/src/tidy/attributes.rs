//! Silenced lints and unfinished code.

use super::Finding;
use super::words::words;

const UNFINISHED: &[(&str, &str)] = &[
    ("todo", "finish it, or return an error that says what is missing"),
    ("unimplemented", "finish it, or return an error that says what is missing"),
    ("dbg", "remove it"),
];

/// Checks code from which comments and literals were blanked.
pub(super) fn check(file: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, fix) in UNFINISHED {
        let places = words(code, name).filter(|(_, after)| after.trim_start().starts_with('!'));
        findings.extend(
            places
                .filter(|(_, after)| !after.trim_start().starts_with("!="))
                .map(|(at, _)| Finding::new(file, line_of(code, at), format!("`{name}!` is left in the code"), *fix)),
        );
    }
    for (at, body) in attributes(code) {
        findings.extend(check_attribute(file, line_of(code, at), body));
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

fn check_attribute(file: &str, line: usize, body: &str) -> Option<Finding> {
    let calls = |name: &'static str| words(body, name).find(|(_, after)| after.trim_start().starts_with('('));
    if calls("allow").is_some() {
        return Some(Finding::new(
            file,
            line,
            "`#[allow(..)]` outlives its reason unseen",
            "write `#[expect(lint, reason = \"..\")]`: it warns when it is no longer needed",
        ));
    }
    let (_, after) = calls("expect")?;
    (!words(after, "reason").any(|(_, rest)| rest.trim_start().starts_with('='))).then(|| {
        Finding::new(file, line, "`#[expect(..)]` without a reason", "add `reason = \"..\"` that says why it is right")
    })
}

/// Every attribute: where it starts and what is between its brackets.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let after = code.get(at + 1..)?;
        let body = after.strip_prefix('!').unwrap_or(after).trim_start().strip_prefix('[')?;
        let mut depth = 1_usize;
        let end = body.find(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        Some((at, body.get(..end)?))
    })
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::super::mask::code_only;
    use super::*;

    fn messages(source: &str) -> Vec<(usize, String)> {
        check("a.rs", &code_only(source)).into_iter().map(|f| (f.line.unwrap(), f.message)).collect()
    }

    #[test]
    fn unfinished_code_is_found() {
        assert_eq!(messages("fn f() {\n    todo!()\n}"), [(2, "`todo!` is left in the code".to_owned())]);
        assert_eq!(messages("unimplemented! {}").len(), 1);
        assert_eq!(messages("dbg !(x)").len(), 1);
    }

    #[test]
    fn prose_and_longer_words_are_fine() {
        assert_eq!(messages("// todo!()\nlet s = \"dbg!(1)\"; my_todo!(); todo(); if todo != 3 {}"), []);
    }

    #[test]
    fn allow_is_found_in_every_form() {
        for source in [
            "#[allow(dead_code)]",
            "#![allow(dead_code)]",
            "#[cfg_attr(test, allow(dead_code))]",
            "# [ allow (dead_code) ]",
            "#[derive(Debug)]\n#[allow(\n  dead_code\n)]",
        ] {
            assert_eq!(messages(source).len(), 1, "{source}");
        }
    }

    #[test]
    fn calls_named_allow_are_fine() {
        assert_eq!(messages("#[test]\nfn f() { rule.allow(x); expect(y); z.expect(\"\") }"), []);
    }

    #[test]
    fn expect_needs_a_reason() {
        assert_eq!(messages("#[expect(dead_code)]").len(), 1);
        assert_eq!(messages("#[expect(dead_code, reason = \"used on windows\")]"), []);
    }
}
