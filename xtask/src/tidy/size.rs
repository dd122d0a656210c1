//! A source file that outgrew one reading.

use super::Finding;

const LIMIT: usize = 800;
/// A generated file says so within its first lines.
const MARKER: &str = "@generated";
const MARKER_LINES: usize = 5;

pub(super) fn check(file: &str, contents: &str) -> Option<Finding> {
    let lines = contents.lines().count();
    if lines <= LIMIT || !is_source(file) || is_generated(contents) {
        return None;
    }
    Some(Finding::new(
        file,
        LIMIT + 1,
        format!("{lines} lines; a source file has at most {LIMIT}"),
        "split it by what its parts are about, or mark it `@generated` in its first lines if a program writes it",
    ))
}

fn is_source(file: &str) -> bool {
    [".rs", ".go", ".sh"].iter().any(|ending| file.ends_with(ending))
}

fn is_generated(contents: &str) -> bool {
    contents.lines().take(MARKER_LINES).any(|line| line.contains(MARKER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_source_is_found() {
        assert!(check("a.rs", &"x\n".repeat(801)).is_some());
        assert!(check("a.go", &"x\n".repeat(801)).is_some());
    }

    #[test]
    fn source_at_the_limit_is_fine() {
        assert_eq!(check("a.rs", &"x\n".repeat(800)), None);
    }

    #[test]
    fn only_source_counts() {
        assert_eq!(check("facts/kinds.json", &"x\n".repeat(9000)), None);
    }

    #[test]
    fn generated_marker_counts_only_at_the_top() {
        assert_eq!(check("a.rs", &format!("// @generated\n{}", "x\n".repeat(900))), None);
        assert!(check("a.rs", &format!("{}// @generated\n", "x\n".repeat(900))).is_some());
    }
}
