//! The result for people.

use super::Fate;

/// A line per mutant and one with the sum.
pub(super) fn render(results: &[(String, Fate)]) -> Vec<String> {
    let width = results.iter().map(|(name, _)| name.chars().count()).chain([4]).max().unwrap_or(4);
    let mut lines = vec![format!("{:<width$}  caught by", "name")];
    lines.extend(results.iter().map(|(name, fate)| format!("{name:<width$}  {}", short(fate))));
    let count = |wanted: fn(&Fate) -> bool| results.iter().filter(|(_, fate)| wanted(fate)).count();
    let invalid = count(|fate| matches!(fate, Fate::Invalid(_)));
    if invalid > 0 {
        lines.push(format!("{invalid} invalid: correct xtask/mutants.json"));
    }
    let caught = count(|fate| matches!(fate, Fate::Caught(_)));
    let survived = count(|fate| *fate == Fate::Survived);
    lines.push(format!("{caught} caught, {survived} survived"));
    lines
}

/// What became of one mutant, in a few words.
pub(super) fn short(fate: &Fate) -> String {
    match fate {
        Fate::Caught(by) => by.clone(),
        Fate::Survived => "SURVIVED".to_owned(),
        Fate::Invalid(why) => format!("INVALID: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_is_counted() {
        let results = [
            ("prefix".to_owned(), Fate::Caught("urls::prefix".to_owned())),
            ("b".to_owned(), Fate::Survived),
            ("c".to_owned(), Fate::Invalid("does not compile".to_owned())),
        ];
        assert_eq!(
            render(&results),
            [
                "name    caught by",
                "prefix  urls::prefix",
                "b       SURVIVED",
                "c       INVALID: does not compile",
                "1 invalid: correct xtask/mutants.json",
                "1 caught, 1 survived",
            ]
        );
    }
}
