//! The whole hunt, on a workspace of one tiny crate and with the real cargo.

use std::fs;
use std::process::Command;

use super::*;
use crate::scratch::Scratch;

const SOURCE_TEXT: &str = "pub fn is_prefix(a: &str, b: &str) -> bool {
    b.starts_with(a)
}

pub fn unused_by_tests() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    #[test]
    fn prefix_matches() {
        assert!(super::is_prefix(\"/a\", \"/ab\"));
    }

    #[test]
    fn longer_does_not_match() {
        // Under a mutant this test leaves a file behind, as a property test does with what it found.
        if !std::env::var(\"ROLEWRIGHT_MUTANT\").unwrap().is_empty() {
            std::fs::write(\"left-behind\", \"\").unwrap();
        }
        assert!(!super::is_prefix(\"/ab\", \"/a\"));
    }
}
";

fn workspace(mutants: &str) -> Scratch {
    let scratch = Scratch::new("hunt").unwrap();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Cargo.toml", "[package]\nname = \"tiny\"\nedition = \"2024\"\n[workspace]\n");
    write("src/lib.rs", SOURCE_TEXT);
    write(".gitignore", "/target\nCargo.lock\n");
    write(LIST, &format!(r#"{{"suite":["cargo","test","--offline","--lib","--","--quiet"],"mutants":[{mutants}]}}"#));
    let init = Command::new("git").args(["init", "--quiet"]).current_dir(scratch.path()).status().unwrap();
    assert!(init.success());
    scratch
}

fn mutant(name: &str, find: &str, replace: &str) -> String {
    format!(r#"{{"name":"{name}","file":"src/lib.rs","find":"{find}","replace":"{replace}","why":"w"}}"#)
}

#[test]
fn caught_survived_and_invalid_are_told_apart() {
    let scratch = workspace(
        &[
            mutant("suffix", "b.starts_with(a)", "b.ends_with(a)"),
            mutant("always", "b.starts_with(a)", "b.starts_with(a) || true"),
            mutant("unseen", "    1\\n", "    2\\n"),
            mutant("type-error", "b.starts_with(a)", "b.len()"),
            mutant("gone", "no such text", "x"),
            mutant("twice", "fn ", "fn  "),
            mutant("endless", "b.starts_with(a)", "loop { if b.is_empty() { return false; } }"),
        ]
        .join(","),
    );
    let repository = Repository::at(scratch.path());
    let list = List::parse(&repository.read(LIST).unwrap()).unwrap();
    let hunt = Hunt { repository: &repository, list: &list, floor: Duration::from_secs(3) };
    let fates: Vec<_> = hunt.run(&list.choose(None).unwrap()).unwrap();
    let shown: Vec<_> = fates.iter().map(|(name, fate)| format!("{name}: {}", report::short(fate))).collect();
    assert_eq!(
        shown[..6],
        [
            "suffix: tests::prefix_matches",
            "always: tests::longer_does_not_match",
            "unseen: SURVIVED",
            "type-error: INVALID: does not compile",
            "gone: INVALID: `no such text` does not occur in src/lib.rs",
            "twice: INVALID: `fn ` occurs 4 times in src/lib.rs; make it longer",
        ]
    );
    assert!(shown[6].starts_with("endless: no end after"), "{}", shown[6]);
    assert_eq!(repository.read("src/lib.rs").unwrap(), SOURCE_TEXT, "the original is never touched");
    let copied = fs::read_to_string(repository.path(SOURCE).join("src/lib.rs")).unwrap();
    assert_eq!(copied, SOURCE_TEXT, "the copy is restored");
    assert!(!repository.path(SOURCE).join("left-behind").exists(), "what a run leaves is removed");
}

#[test]
fn unsound_tree_is_refused() {
    let scratch = workspace(&mutant("a", "b.starts_with(a)", "true"));
    let broken = SOURCE_TEXT.replace("b.starts_with(a)", "false");
    fs::write(scratch.path().join("src/lib.rs"), broken).unwrap();
    let error = run(&Repository::at(scratch.path()), None).unwrap_err().to_string();
    assert_eq!(error, "the suite fails on the sound tree, at `tests::prefix_matches`; a mutant would prove nothing");
}

#[test]
fn copy_keeps_time_stamps_of_equal_files() {
    let scratch = workspace(&mutant("a", "b.starts_with(a)", "true"));
    let repository = Repository::at(scratch.path());
    let copy = Copy::new(&repository, repository.path(SOURCE));
    copy.sync().unwrap();
    let file = repository.path(SOURCE).join("src/lib.rs");
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    copy.sync().unwrap();
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
    fs::remove_file(repository.path("src/lib.rs")).unwrap();
    copy.sync().unwrap();
    assert!(!file.exists(), "deleted files leave the copy");
}
