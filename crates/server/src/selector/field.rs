//! Field selectors: `metadata.name=a,status.phase!=Running`.

mod kinds;

use std::fmt;

/// A parsed selector: all terms must hold. Without any, everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

/// One term of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The name of the field, a path with dots.
    pub field: String,
    /// The value that it must have.
    pub value: String,
    /// It must not have that value.
    pub negated: bool,
}

impl FieldSelector {
    /// Reads a selector. The error is the text that Kubernetes answers with.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = split(text);
        parts.sort_unstable();
        let mut terms = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let Some((field, negated, value)) = taken_apart(part) else {
                return Err(format!("invalid selector: '{text}'; can't understand '{part}'"));
            };
            let value = unescaped(value)?;
            if !field.is_empty() || !value.is_empty() {
                terms.push(Term { field: field.to_owned(), value, negated });
            }
        }
        Ok(Self { terms })
    }

    /// The selector for one name.
    pub fn name(name: &str) -> Self {
        Self { terms: vec![Term { field: "metadata.name".into(), value: name.to_owned(), negated: false }] }
    }

    /// The same with the names that the server uses within. The error is what Kubernetes answers if the kind does not
    /// have one of the fields.
    pub fn for_kind(&self, group: &str, version: &str, kind: &str) -> Result<Self, String> {
        let converted = |term: &Term| {
            let field = kinds::convert(group, version, kind, &term.field)?.to_owned();
            Ok(Term { field, ..term.clone() })
        };
        Ok(Self { terms: self.terms.iter().map(converted).collect::<Result<_, String>>()? })
    }

    /// The same if all its fields are known. The error is what Kubernetes answers of a custom kind.
    pub fn among(&self, knows: impl Fn(&str) -> bool) -> Result<Self, String> {
        match self.terms.iter().find(|term| !knows(&term.field)) {
            Some(unknown) => Err(format!("field label not supported: {}", unknown.field)),
            None => Ok(self.clone()),
        }
    }

    /// Whether it restricts nothing.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms, sorted.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The only value that a field may have.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.field == field && !term.negated).map(|term| term.value.as_str())
    }

    /// Whether all terms hold for the fields that `lookup` knows; those that it does not know are empty.
    pub fn matches<T: AsRef<str>>(&self, lookup: impl Fn(&str) -> T) -> bool {
        self.terms.iter().all(|term| (lookup(&term.field).as_ref() == term.value) != term.negated)
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, term) in self.terms.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let operator = if term.negated { "!=" } else { "=" };
            write!(f, "{comma}{}{operator}", term.field)?;
            for c in term.value.chars() {
                let escape = if matches!(c, '\\' | ',' | '=') { "\\" } else { "" };
                write!(f, "{escape}{c}")?;
            }
        }
        Ok(())
    }
}

/// The texts between commas that are not escaped.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|c| {
        let separates = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        separates
    })
    .collect()
}

fn taken_apart(part: &str) -> Option<(&str, bool, &str)> {
    let at = part.char_indices().find_map(|(at, c)| match c {
        '=' => Some(at),
        '!' => part.get(at..).is_some_and(|rest| rest.starts_with("!=")).then_some(at),
        _ => None,
    })?;
    let (field, rest) = part.split_at_checked(at)?;
    let value = rest.strip_prefix("!=").or_else(|| rest.strip_prefix("==")).or_else(|| rest.strip_prefix('='))?;
    Some((field, rest.starts_with('!'), value))
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => value.push(c),
                Some(c) => return Err(format!("invalid field selector: invalid escape sequence: \\{c}")),
                None => return Err("invalid field selector: invalid escape sequence: \\".to_owned()),
            },
            // Kubernetes gives the number of the character, not the character.
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {}", u32::from(c)));
            }
            c => value.push(c),
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_print_in_their_canonical_form() {
        for (text, canonical) in [
            ("", Ok("")),
            (",,", Ok("")),
            ("=", Ok("")),
            ("!=", Ok("")),
            ("b=2,a==1,c!=3", Ok("a=1,b=2,c!=3")),
            ("a=", Ok("a=")),
            (r"a=x\,y\=z\\", Ok(r"a=x\,y\=z\\")),
            ("=x", Ok("=x")),
            ("a!b=c", Ok("a!b=c")),
            ("a", Err("invalid selector: 'a'; can't understand 'a'")),
            ("a=1,b", Err("invalid selector: 'a=1,b'; can't understand 'b'")),
            ("a===b", Err("invalid field selector: unescaped character in value: 61")),
            (r"a=\x", Err(r"invalid field selector: invalid escape sequence: \x")),
            (r"a=\", Err(r"invalid field selector: invalid escape sequence: \")),
        ] {
            let printed = FieldSelector::parse(text).map(|selector| selector.to_string());
            assert_eq!(printed, canonical.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn fields_match() {
        let lookup = |field: &str| if field == "metadata.name" { "a" } else { "" };
        for (text, expected) in [
            ("", true),
            ("metadata.name=a", true),
            ("metadata.name!=a", false),
            ("metadata.name=b", false),
            ("spec.x=", true),
            ("spec.x!=y", true),
            ("metadata.name=a,spec.x=y", false),
        ] {
            assert_eq!(FieldSelector::parse(text).unwrap().matches(lookup), expected, "{text}");
        }
    }

    #[test]
    fn kinds_know_their_fields() {
        for (group, version, kind, text, expected) in [
            ("", "v1", "Pod", "spec.host=a", Ok("spec.nodeName=a")),
            ("", "v1", "Pod", "spec.x=a", Err("field label not supported: spec.x")),
            ("", "v1", "Namespace", "metadata.namespace=a", Err("field label not supported: metadata.namespace")),
            ("batch", "v1", "Job", "x=a", Err("field label \"x\" not supported for Job")),
            ("events.k8s.io", "v1", "Event", "regarding.name=a", Ok("involvedObject.name=a")),
            ("", "v1", "ConfigMap", "metadata.name=a", Ok("metadata.name=a")),
            (
                "",
                "v1",
                "ConfigMap",
                "data=a",
                Err("\"data\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""),
            ),
        ] {
            let converted = FieldSelector::parse(text).unwrap().for_kind(group, version, kind);
            let converted = converted.map(|selector| selector.to_string());
            assert_eq!(converted, expected.map(str::to_owned).map_err(str::to_owned), "{kind} {text}");
        }
    }

    #[test]
    fn a_field_may_have_only_one_value() {
        let selector = FieldSelector::parse("a!=1,metadata.name=x").unwrap();
        assert_eq!(selector.exact("metadata.name"), Some("x"));
        assert_eq!(selector.exact("a"), None);
        assert_eq!(FieldSelector::name("x").to_string(), "metadata.name=x");
    }
}
