//! What no text file should contain, in any language.

use super::Finding;

pub(super) fn check(file: &str, contents: &str) -> Vec<Finding> {
    contents.lines().enumerate().filter_map(|(index, line)| check_line(file, index + 1, line)).collect()
}

fn check_line(file: &str, number: usize, line: &str) -> Option<Finding> {
    // The middle marker alone is also an underlined heading; a real conflict always brings the outer two.
    let conflict = ["<<<<<<< ", ">>>>>>> ", "||||||| "].iter().any(|marker| line.starts_with(marker));
    if conflict {
        return Some(Finding::new(file, number, "a merge marker is left", "finish the merge"));
    }
    (line.trim_end() != line).then(|| Finding::new(file, number, "trailing whitespace", "remove it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(contents: &str) -> Vec<usize> {
        check("a.md", contents).into_iter().filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn trailing_whitespace_is_found_with_its_line() {
        assert_eq!(lines("a\nb \nc\n\t\n"), [2, 4]);
    }

    #[test]
    fn windows_line_ends_are_line_ends() {
        assert_eq!(lines("a\r\nb\r\n"), [0; 0]);
    }

    #[test]
    fn merge_markers_are_found() {
        let (ours, theirs) = ("<".repeat(7), ">".repeat(7));
        assert_eq!(lines(&format!("{ours} HEAD\na\n=======\nb\n{theirs} branch\n")), [1, 5]);
    }

    #[test]
    fn underlined_heading_is_no_conflict() {
        assert_eq!(lines("Title\n=======\n"), [0; 0]);
    }
}
