//! The pure crates ask nothing of the machine: same input, same bytes.

use super::Finding;
use super::words::words;

const PURE: &[&str] = &["crates/cel/src/", "crates/core/src/", "crates/crd/src/", "crates/plan/src/"];

const MODULES: &[(&str, &str)] = &[
    ("env", "take the value as an argument"),
    ("fs", "let the caller read and hand over the text"),
    ("io", "let the caller read and hand over the text"),
    ("net", "a pure crate has no network"),
    ("process", "a pure crate starts nothing"),
    ("thread", "let the caller decide how to run this"),
];

/// What one file may use all the same, because nothing of it can be seen from outside: deep expressions need a stack of
/// their own, and the work is done when the call returns.
const EXEMPT: (&str, &str) = ("crates/cel/src/room.rs", "thread");

const CLOCKS: &[(&str, &str)] =
    &[("SystemTime", "take the time as an argument"), ("Instant", "take the time as an argument")];

/// Checks code from which comments and literals were blanked.
pub(super) fn check(file: &str, code: &str) -> Vec<Finding> {
    if !PURE.iter().any(|folder| file.starts_with(folder)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let modules = MODULES.iter().filter(|(name, _)| names_module(line, name) && (file, *name) != EXEMPT);
        let clocks = CLOCKS.iter().filter(|(name, _)| words(line, name).next().is_some());
        findings.extend(modules.chain(clocks).map(|(name, fix)| {
            Finding::new(file, index + 1, format!("`{name}` of std in a crate that must stay pure"), *fix)
        }));
    }
    findings
}

/// Whether the line names `std::<name>`, also as part of `std::{..}`.
fn names_module(line: &str, name: &str) -> bool {
    words(line, "std").filter_map(|(_, after)| after.strip_prefix("::")).any(|path| match path.strip_prefix('{') {
        Some(group) => words(group, name).next().is_some(),
        None => words(path, name).next().is_some_and(|(at, _)| at == 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str) -> Vec<Option<usize>> {
        check("crates/core/src/a.rs", source).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn machine_is_out_of_reach_for_pure_crates() {
        for (name, _) in MODULES {
            assert_eq!(lines(&format!("fn f() {{}}\nuse std::{name};\n")), [Some(2)], "{name}");
            assert_eq!(lines(&format!("use std::{{fmt, {name}}};")), [Some(1)], "{name}");
        }
    }

    #[test]
    fn clocks_are_out_of_reach_for_pure_crates() {
        assert_eq!(lines("let now = Instant::now();"), [Some(1)]);
        assert_eq!(lines("use std::time::SystemTime;"), [Some(1)]);
    }

    #[test]
    fn other_crates_and_tests_may() {
        for file in ["crates/server/src/a.rs", "crates/core/tests/laws.rs", "xtask/src/main.rs"] {
            assert_eq!(check(file, "use std::fs;"), []);
        }
    }

    #[test]
    fn longer_names_are_fine() {
        assert_eq!(lines("struct InstantGrant; use std::iter; use std::{fmt, ops}; let x = std::fsx;"), []);
    }
}
