//! Label selectors: `app=web,tier in (a,b),!old,size>3`.

mod lex;
mod parse;

use std::fmt;

/// A parsed selector: all requirements must hold. Without any, everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

/// One requirement on labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted, each once.
    values: Vec<String>,
}

/// How a requirement relates a label and its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equals,
    DoubleEquals,
    NotEquals,
    In,
    NotIn,
    Exists,
    DoesNotExist,
    GreaterThan,
    LessThan,
}

impl LabelSelector {
    /// Reads a selector. The error is the text that Kubernetes answers with.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = parse::requirements(text)?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements })
    }

    /// Whether it restricts nothing.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether all requirements hold for the labels that `lookup` knows.
    pub fn matches<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.holds(lookup(&requirement.key)))
    }
}

impl Requirement {
    fn holds(&self, label: Option<&str>) -> bool {
        let listed = |label: &str| self.values.binary_search_by(|value| value.as_str().cmp(label)).is_ok();
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => label.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !label.is_some_and(listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::GreaterThan => self.numbers(label).is_some_and(|(label, bound)| label > bound),
            Operator::LessThan => self.numbers(label).is_some_and(|(label, bound)| label < bound),
        }
    }

    fn numbers(&self, label: Option<&str>) -> Option<(i64, i64)> {
        Some((label?.parse().ok()?, self.values.first()?.parse().ok()?))
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, requirement) in self.requirements.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_print_in_their_canonical_form() {
        for (text, canonical) in [
            ("", ""),
            (" ", ""),
            ("b = c , a", "a,b=c"),
            ("a==b,c!=d", "a==b,c!=d"),
            ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
            ("in in (in,notin)", "in in (in,notin)"),
            ("!a,b > 3,c<1", "!a,b>3,c<1"),
            ("a=,b!=", "a=,b!="),
            ("a in (,)", "a in ()"),
            ("a in (b,b)", "a in (b)"),
            ("example.com/x=1", "example.com/x=1"),
            ("a=\0b", "a=b"),
            ("a \0b", "a"),
        ] {
            let printed = LabelSelector::parse(text).map(|selector| selector.to_string());
            assert_eq!(printed.as_deref(), Ok(canonical), "{text}");
        }
    }

    #[test]
    fn faults_are_told_in_kubernetes_words() {
        let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                     must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', \
                     regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
        for (text, fault) in [
            ("a,", "found '', expected: identifier after ','".to_owned()),
            (",a", "found ',', expected: !, identifier, or 'end of string'".to_owned()),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt".to_owned()),
            ("a\0b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt".to_owned()),
            ("a=b c", "found 'c', expected: ',' or 'end of string'".to_owned()),
            ("!a=b", "found '=', expected: ',' or 'end of string'".to_owned()),
            ("!", "unable to parse requirement: found '', expected: identifier".to_owned()),
            ("a in b", "unable to parse requirement: found 'b' expected: '('".to_owned()),
            ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier".to_owned()),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'".to_owned()),
            ("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier".to_owned()),
            ("a===b", "unable to parse requirement: found '=', expected: identifier".to_owned()),
            (
                "a>x",
                "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must \
                 be an integer"
                    .to_owned(),
            ),
            ("-a", format!("unable to parse requirement: <nil>: Invalid value: \"-a\": {name}")),
            ("a=_", format!("unable to parse requirement: values[0][a]: Invalid value: \"_\": {value}")),
            (
                "a>-",
                format!(
                    "unable to parse requirement: [values[0]: Invalid value: \"-\": for 'Gt', 'Lt' operators, the value \
                     must be an integer, values[0][a]: Invalid value: \"-\": {value}]"
                ),
            ),
        ] {
            assert_eq!(LabelSelector::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn labels_match() {
        let labels = [("app", "web"), ("size", "3"), ("empty", "")];
        let lookup = |key: &str| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        for (text, expected) in [
            ("", true),
            ("app", true),
            ("!app", false),
            ("other", false),
            ("!other", true),
            ("app=web", true),
            ("app==db", false),
            ("app!=web", false),
            ("other!=web", true),
            ("app in (db,web)", true),
            ("app notin (db,web)", false),
            ("other notin (db)", true),
            ("empty=", true),
            ("size>2", true),
            ("size>3", false),
            ("size<4", true),
            ("app>1", false),
            ("other<1", false),
            ("app=web,size>5", false),
        ] {
            assert_eq!(LabelSelector::parse(text).unwrap().matches(lookup), expected, "{text}");
        }
    }
}
