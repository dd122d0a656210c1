//! The README shows what the program prints.

use std::path::Path;

use super::{rolewright, text};

#[test]
fn the_example_in_the_readme_is_what_up_prints() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README is there");
    let (_, example) = readme.split_once("```console\n$ rolewright up\n").expect("the README has the example");
    let (example, _) = example.split_once("```").expect("the example ends");
    let output = rolewright(&["up"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout), example, "`up` prints something else than the README shows");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn the_output_fits_a_terminal_of_100_columns() {
    let output = rolewright(&["up"]);
    let widest = text(&output.stdout).lines().max_by_key(|line| line.chars().count()).expect("there is output");
    assert!(widest.chars().count() <= 100, "{widest}");
}
