//! Semantic versions.
use std::cmp::Ordering;
use std::sync::Arc;

use super::opaque::Opaque;
use crate::value::text::quoted;
use crate::value::{Fault, Outcome, Value, fault};

#[derive(Debug)]
pub(crate) struct Version {
    numbers: [u64; 3],
    pre: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Text(String),
}

impl Version {
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.pre.cmp(&other.pre),
        })
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn unsigned(text: &str) -> Result<u64, Fault> {
    text.parse().map_err(|_| {
        let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        Fault::from(format!("strconv.ParseUint: parsing {}: {why}", quoted(text)))
    })
}

fn number(name: &str, text: &str) -> Result<u64, Fault> {
    if !is_number(text) {
        return fault(format!("Invalid character(s) found in {} number {}", name.to_lowercase(), quoted(text)));
    }
    if text.len() > 1 && text.starts_with('0') {
        return fault(format!("{name} number must not contain leading zeroes {}", quoted(text)));
    }
    unsigned(text)
}

fn parse(text: &str) -> Result<Version, Fault> {
    if text.is_empty() {
        return fault("Version string empty");
    }
    let parts: Vec<&str> = text.splitn(3, '.').collect();
    let [major, minor, rest] = parts.as_slice() else { return fault("No Major.Minor.Patch elements found") };
    let (major, minor) = (number("Major", major)?, number("Minor", minor)?);
    let (rest, build) = rest.split_once('+').map_or((*rest, None), |(rest, build)| (rest, Some(build)));
    let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
    let patch = number("Patch", patch)?;
    let pre = pre.into_iter().flat_map(|pre| pre.split('.')).map(part).collect::<Result<_, _>>()?;
    for word in build.into_iter().flat_map(|build| build.split('.')) {
        if word.is_empty() {
            return fault("Build meta data is empty");
        }
        if !is_word(word) {
            return fault(format!("Invalid character(s) found in build meta data {}", quoted(word)));
        }
    }
    Ok(Version { numbers: [major, minor, patch], pre })
}

fn part(text: &str) -> Result<Part, Fault> {
    if text.is_empty() {
        return fault("Prerelease is empty");
    }
    if is_number(text) {
        if text.len() > 1 && text.starts_with('0') {
            return fault(format!("Numeric PreRelease version must not contain leading zeroes {}", quoted(text)));
        }
        return unsigned(text).map(Part::Number);
    }
    if is_word(text) {
        return Ok(Part::Text(text.to_owned()));
    }
    fault(format!("Invalid character(s) found in prerelease {}", quoted(text)))
}

/// A version that leaves out parts, or starts with a `v` or with zeros.
fn normalized(text: &str) -> Result<Version, Fault> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text
        .splitn(3, '.')
        .map(|part| {
            if part.len() <= 1 {
                return part.to_owned();
            }
            let trimmed = part.trim_start_matches('0');
            if trimmed.starts_with(|char: char| char.is_ascii_digit()) {
                trimmed.to_owned()
            } else {
                format!("0{trimmed}")
            }
        })
        .collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return fault("short version cannot contain PreRelease/Build meta data");
        }
        parts.resize(3, "0".to_owned());
    }
    parse(&parts.join("."))
}

fn version<'v>(value: Option<&'v Value<'_>>) -> Option<&'v Version> {
    match value {
        Some(Value::Opaque(opaque)) => match &**opaque {
            Opaque::Semver(version) => Some(version),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    if let Some(Value::String(text)) = args.first() {
        let parsed = || match args.get(1) {
            Some(Value::Bool(true)) => normalized(text),
            _ => parse(text),
        };
        return match id {
            "string_to_semver" | "string_bool_to_semver" => {
                Some(parsed().map(|version| Value::Opaque(Arc::new(Opaque::Semver(version)))))
            }
            "is_semver_string" | "is_semver_string_bool" => Some(Ok(Value::Bool(parsed().is_ok()))),
            _ => None,
        };
    }
    let one = version(args.first())?;
    let int = |at: usize| Value::Int(one.numbers.get(at).copied().unwrap_or(0).cast_signed());
    Some(Ok(match (id, version(args.get(1))) {
        ("semver_major", _) => int(0),
        ("semver_minor", _) => int(1),
        ("semver_patch", _) => int(2),
        ("semver_is_greater_than", Some(two)) => Value::Bool(one.order(two).is_gt()),
        ("semver_is_less_than", Some(two)) => Value::Bool(one.order(two).is_lt()),
        ("semver_compare_to", Some(two)) => Value::Int(one.order(two) as i64),
        _ => return None,
    }))
}
