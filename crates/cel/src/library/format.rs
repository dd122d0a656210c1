//! Named formats of texts.
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::opaque::Opaque;
use crate::strfmt;
use crate::time::parse_date;
use crate::url::Url;
use crate::value::{Outcome, Value};

/// A format by its name.
#[derive(Debug)]
pub(crate) struct Named {
    /// How expressions name it.
    key: &'static str,
    /// How it names itself.
    pub(crate) name: &'static str,
    /// The size of its pattern, for costs.
    pub(crate) size: u64,
}

const fn named(key: &'static str, name: &'static str, size: u64) -> Named {
    Named { key, name, size }
}

static FORMATS: [Named; 13] = [
    named("dns1123Label", "DNS1123Label", 30),
    named("dns1123Subdomain", "DNS1123Subdomain", 60),
    named("dns1035Label", "DNS1035Label", 30),
    named("qualifiedName", "QualifiedName", 60),
    named("dns1123LabelPrefix", "DNS1123LabelPrefix", 30),
    named("dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60),
    named("dns1035LabelPrefix", "DNS1035LabelPrefix", 30),
    named("labelValue", "LabelValue", 40),
    named("uri", "URI", 1103),
    named("uuid", "uuid", 70),
    named("byte", "byte", 84),
    named("date", "date", 71),
    named("datetime", "datetime", 71),
];

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let find = |key: &str| FORMATS.iter().find(|named| named.key == key);
    let value = |named| Value::Opaque(Arc::new(Opaque::Format(named)));
    Some(Ok(match (id, args) {
        ("format-named", [Value::String(name)]) => {
            find(name).map_or(Value::Optional(None), |named| Value::some(value(named)))
        }
        ("format-validate", [Value::Opaque(format), Value::String(text)]) => {
            let Opaque::Format(named) = &**format else { return None };
            let problems = validate(named.key, text);
            if problems.is_empty() { Value::Optional(None) } else { Value::some(Value::strings(problems)) }
        }
        (id, []) => value(find(id.strip_prefix("format.")?)?),
        _ => return None,
    }))
}

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                     start and end with an alphanumeric character";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                         '.', and must start and end with an alphanumeric character";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                          alphabetic character, and end with an alphanumeric character";
const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
                    an alphanumeric character";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                     and must start and end with an alphanumeric character";

fn too_long(most: usize) -> String {
    format!("must be no more than {most} bytes")
}

fn example(message: &str, examples: &[&str], pattern: &str) -> String {
    let shown: Vec<String> = examples.iter().map(|example| format!("'{example}'")).collect();
    format!("{message} (e.g. {}, regex used for validation is '{pattern}')", shown.join(",  or "))
}

const LABEL_PATTERN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_PATTERN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL_1035_PATTERN: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const NAME_PATTERN: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE_PATTERN: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

fn whole(pattern: &str) -> Regex {
    Regex::new(&format!("^(?:{pattern})\\z")).expect("the patterns are well-formed")
}

static PATTERNS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        whole(LABEL_PATTERN),
        whole(SUBDOMAIN_PATTERN),
        whole(LABEL_1035_PATTERN),
        whole(NAME_PATTERN),
        whole(VALUE_PATTERN),
    ]
});

fn fits(at: usize, text: &str) -> bool {
    PATTERNS.get(at).is_some_and(|pattern| pattern.is_match(text))
}

/// A prefix may end in a dash, which stands for a character to come.
fn prefix(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(stem) if !stem.is_empty() => format!("{stem}a"),
        _ => text.to_owned(),
    }
}

fn checked(text: &str, most: usize, pattern: usize, message: impl Fn() -> String) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > most {
        problems.push(too_long(most));
    }
    if !fits(pattern, text) {
        problems.push(message());
    }
    problems
}

fn validate(key: &str, text: &str) -> Vec<String> {
    let simple = |valid: bool, message: &str| if valid { Vec::new() } else { vec![message.to_owned()] };
    match key {
        "dns1123Label" => label(text),
        "dns1123LabelPrefix" => label(&prefix(text)),
        "dns1123Subdomain" => subdomain(text),
        "dns1123SubdomainPrefix" => subdomain(&prefix(text)),
        "dns1035Label" => label_1035(text),
        "dns1035LabelPrefix" => label_1035(&prefix(text)),
        "qualifiedName" => qualified_name(text),
        "labelValue" => checked(text, 63, 4, || example(VALUE, &["MyValue", "my_value", "12345"], VALUE_PATTERN)),
        "uri" => Url::parse_request(text).err().into_iter().collect(),
        "uuid" => simple(strfmt::is_uuid(text), "does not match the UUID format"),
        "byte" => simple(strfmt::is_base64(text), "invalid base64"),
        "date" => simple(parse_date(text).is_some(), "invalid date"),
        _ => simple(strfmt::is_date_time(text), "invalid datetime"),
    }
}

fn label(text: &str) -> Vec<String> {
    checked(text, 63, 0, || example(LABEL, &["my-name", "123-abc"], LABEL_PATTERN))
}

fn subdomain(text: &str) -> Vec<String> {
    checked(text, 253, 1, || example(SUBDOMAIN, &["example.com"], SUBDOMAIN_PATTERN))
}

fn label_1035(text: &str) -> Vec<String> {
    checked(text, 63, 2, || example(LABEL_1035, &["my-name", "abc-123"], LABEL_1035_PATTERN))
}

fn qualified_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let examples = ["MyName", "my.name", "123-abc"];
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                problems.extend(subdomain(prefix).into_iter().map(|problem| format!("prefix part {problem}")));
            }
            *name
        }
        _ => {
            let message = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start \
                           and end with an alphanumeric character";
            let text = example(message, &examples, NAME_PATTERN);
            return vec![format!("{text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push(format!("name part {}", too_long(63)));
    }
    if !fits(3, name) {
        problems.push(example(NAME, &examples, NAME_PATTERN));
    }
    problems
}
