//! File names that say nothing about their contents.

use super::Finding;

/// A name must say what a file is about, and one module style is enough.
pub(super) fn check(file: &str) -> Option<Finding> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    if name == "mod.rs" {
        let module = folder.rsplit('/').next().unwrap_or_default();
        return Some(Finding::new(
            file,
            None,
            "modules are `foo.rs` beside `foo/`, never `mod.rs`",
            format!("move it to `{folder}.rs`, where an editor's tab reads `{module}.rs`"),
        ));
    }
    let vague = file.split('/').find(|part| matches!(stem(part), "utils" | "util"))?;
    Some(Finding::new(
        file,
        None,
        format!("`{vague}` says nothing about what is inside"),
        "name it after the one thing it is about, or move each item beside its user",
    ))
}

fn stem(part: &str) -> &str {
    part.split_once('.').map_or(part, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vague_names_are_found() {
        for bad in ["crates/core/src/rule/mod.rs", "xtask/src/utils.rs", "testbed/internal/utils/a.go", "a/util.go"] {
            assert!(check(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn mod_rs_is_told_its_new_name() {
        let finding = check("crates/core/src/rule/mod.rs").unwrap();
        assert_eq!(finding.fix, "move it to `crates/core/src/rule.rs`, where an editor's tab reads `rule.rs`");
    }

    #[test]
    fn names_that_only_contain_the_word_are_fine() {
        for good in ["crates/core/src/rule.rs", "docs/utilisation.md", "a/model.rs"] {
            assert_eq!(check(good), None, "{good}");
        }
    }
}
