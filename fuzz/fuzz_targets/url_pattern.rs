//! `url_matches` against a reading that goes character by character.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_core::rule::url_matches;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    pattern: &'a str,
    /// How many characters of the pattern the path repeats; without any, the two would rarely meet.
    shared: u8,
    rest: &'a str,
    more: &'a str,
}

fuzz_target!(|input: Input<'_>| {
    let pattern = input.pattern;
    let path: String = pattern.chars().take(input.shared.into()).chain(input.rest.chars()).collect();

    let matches = url_matches(pattern, &path);
    assert_eq!(matches, by_character(pattern, &path), "{pattern:?} {path:?}");
    assert!(url_matches(pattern, pattern), "{pattern:?} does not match itself");

    // Only a pattern with a star matches by prefix; without one, a longer path is another path.
    if matches && pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')) {
        let longer = path + input.more;
        assert!(url_matches(pattern, &longer), "{pattern:?} {longer:?}");
    }
});

fn by_character(pattern: &str, path: &str) -> bool {
    let path: Vec<char> = path.chars().collect();
    let mut wanted: Vec<char> = pattern.chars().collect();
    if wanted == path {
        return true;
    }
    if wanted.last() != Some(&'*') {
        return false;
    }
    while wanted.last() == Some(&'*') {
        wanted.pop();
    }
    wanted.len() <= path.len() && wanted.iter().zip(&path).all(|(a, b)| a == b)
}
