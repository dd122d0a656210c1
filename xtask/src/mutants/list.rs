//! The planted mistakes, as data.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::Deserialize;

/// The whole list with the command that must catch every entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// A `cargo test` command, word by word.
    pub(super) suite: Vec<String>,
    pub(super) mutants: Vec<Mutant>,
}

/// One mistake: in `file`, the only occurrence of `find` becomes `replace`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mutant {
    pub(super) name: String,
    pub(super) file: String,
    find: String,
    replace: String,
    /// Which rule the mistake breaks; for the reader of the list.
    why: String,
    /// Another suite than the list's, where a mistake is out of its reach.
    #[serde(default)]
    pub(super) suite: Option<Vec<String>>,
}

impl List {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let list: Self = serde_json::from_str(text)?;
        let mut names = BTreeSet::new();
        for mutant in &list.mutants {
            if !names.insert(&mutant.name) {
                bail!("two mutants are called `{}`", mutant.name);
            }
            if mutant.why.trim().is_empty() {
                bail!("mutant `{}` does not say why it is wrong", mutant.name);
            }
            if mutant.find == mutant.replace {
                bail!("mutant `{}` changes nothing", mutant.name);
            }
        }
        Ok(list)
    }

    /// All mutants, or the one that was asked for.
    pub(super) fn choose(&self, only: Option<&str>) -> Result<Vec<&Mutant>> {
        let chosen: Vec<_> = self.mutants.iter().filter(|m| only.is_none_or(|name| name == m.name)).collect();
        if chosen.is_empty() {
            let known: Vec<_> = self.mutants.iter().map(|mutant| mutant.name.as_str()).collect();
            bail!("no mutant is called `{}`; hint: there are {}", only.unwrap_or_default(), known.join(", "));
        }
        Ok(chosen)
    }
}

impl Mutant {
    /// The file's text with the mistake in it, or why it cannot be planted.
    pub(super) fn apply(&self, text: &str) -> Result<String, String> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            0 => Err(format!("`{}` does not occur in {}", self.find, self.file)),
            count => Err(format!("`{}` occurs {count} times in {}; make it longer", self.find, self.file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(mutants: &str) -> Result<List> {
        List::parse(&format!(r#"{{"suite":["cargo","test"],"mutants":[{mutants}]}}"#))
    }

    const A: &str = r#"{"name":"a","file":"f.rs","find":"x == y","replace":"x != y","why":"w"}"#;

    #[test]
    fn mistake_is_planted_at_its_only_place() {
        let list = list(A).unwrap();
        let mutant = list.mutants.first().unwrap();
        assert_eq!(mutant.apply("if x == y {}").unwrap(), "if x != y {}");
        assert_eq!(mutant.apply("if x < y {}").unwrap_err(), "`x == y` does not occur in f.rs");
        assert_eq!(mutant.apply("x == y x == y").unwrap_err(), "`x == y` occurs 2 times in f.rs; make it longer");
    }

    #[test]
    fn names_are_unique_and_reasons_given() {
        assert!(list(&format!("{A},{A}")).is_err());
        assert!(list(&A.replace("\"why\":\"w\"", "\"why\":\" \"")).is_err());
        assert!(list(&A.replace("x != y", "x == y")).is_err());
        assert!(list(&A.replace("\"why\"", "\"wy\"")).is_err());
    }

    #[test]
    fn one_can_be_chosen_by_name() {
        let list = list(&format!("{A},{}", A.replace("\"a\"", "\"b\""))).unwrap();
        assert_eq!(list.choose(None).unwrap().len(), 2);
        assert_eq!(list.choose(Some("b")).unwrap().first().unwrap().name, "b");
        assert_eq!(list.choose(Some("c")).unwrap_err().to_string(), "no mutant is called `c`; hint: there are a, b");
    }
}
