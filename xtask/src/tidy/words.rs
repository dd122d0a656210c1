//! Whole words in code.

/// Every place where `word` stands as a whole word, with the text after it.
pub(super) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    text.match_indices(word).filter_map(move |(at, _)| {
        let after = text.get(at + word.len()..)?;
        let free_before = !text.get(..at)?.ends_with(in_word);
        (free_before && !after.starts_with(in_word)).then_some((at, after))
    })
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
