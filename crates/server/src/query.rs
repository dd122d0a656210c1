//! The options of a request, as the query of its URL gives them.

mod delete;
mod list;
mod number;
mod write;

pub use delete::{DeleteOptions, Propagation};
pub use list::{ListOptions, VersionMatch};
pub use write::{FieldValidation, WriteOptions};

use std::borrow::Cow;

use crate::status::Failure;

/// The parameters of a URL, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads what stands after the `?`. Parameters that cannot be decoded count as absent, as in Kubernetes.
    pub fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')).filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        });
        Self { pairs: pairs.collect() }
    }

    /// Every value of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a parameter; the only one that counts where Kubernetes expects one.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Sets a parameter, whatever the client gave.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.pairs.retain(|(other, _)| other != name);
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    /// The text of a parameter; empty where it is absent.
    pub fn text(&self, name: &str) -> String {
        self.first(name).unwrap_or_default().to_owned()
    }

    /// A switch. Only `0` and `false` are off; `?watch` and `?watch=no` are on.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.first(name).map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<Option<i64>, Failure> {
        self.first(name).map(|value| number::parse(value).map_err(Failure::bad_request)).transpose()
    }
}

/// The options of a `get`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetOptions {
    /// At least as new as this.
    pub resource_version: String,
}

impl GetOptions {
    /// Reads the options.
    pub fn from_query(query: &Query) -> Result<Self, Failure> {
        if query.switch("export") == Some(true) {
            return Err(Failure::bad_request("the export parameter, deprecated since v1.14, is no longer supported"));
        }
        Ok(Self { resource_version: query.text("resourceVersion") })
    }
}

/// Undoes the escapes of a URL's query; nothing where one is broken.
fn decoded(text: &str) -> Option<String> {
    if !text.contains(['%', '+']) {
        return Some(text.to_owned());
    }
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => digit(rest.next())? << 4 | digit(rest.next())?,
            byte => byte,
        });
    }
    Some(match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_as_go_reads_them() {
        for (text, pairs) in [
            ("", vec![]),
            ("&a=1&&b=2&", vec![("a", "1"), ("b", "2")]),
            ("a", vec![("a", "")]),
            ("a=1=2", vec![("a", "1=2")]),
            ("a=x+y%20z%2C", vec![("a", "x y z,")]),
            ("%61=1&a=2", vec![("a", "1"), ("a", "2")]),
            ("a=%zz&b=%4&c=1", vec![("c", "1")]),
            ("a=1;b=2&c=3", vec![("c", "3")]),
            ("a=%ff", vec![("a", "\u{fffd}")]),
            ("=1", vec![("", "1")]),
        ] {
            let expected: Vec<_> = pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            assert_eq!(Query::parse(text).pairs, expected, "{text}");
        }
    }

    #[test]
    fn switches_are_on_unless_they_say_no() {
        for (text, value) in [
            ("", None),
            ("a", Some(true)),
            ("a=1", Some(true)),
            ("a=no", Some(true)),
            ("a=0", Some(false)),
            ("a=FALSE", Some(false)),
            ("a=false&a=true", Some(false)),
        ] {
            assert_eq!(Query::parse(text).switch("a"), value, "{text}");
        }
    }

    #[test]
    fn numbers_fail_as_in_go() {
        for (text, value) in [
            ("a=", Err("strconv.ParseInt: parsing \"\": invalid syntax")),
            ("a=x", Err("strconv.ParseInt: parsing \"x\": invalid syntax")),
            ("a=%2B5", Ok(Some(5))),
            ("a=-5", Ok(Some(-5))),
            ("a=9223372036854775808", Err("strconv.ParseInt: parsing \"9223372036854775808\": value out of range")),
            ("a=-9223372036854775808", Ok(Some(i64::MIN))),
            ("b=1", Ok(None)),
        ] {
            let expected = value.map_err(Failure::bad_request);
            assert_eq!(Query::parse(text).number("a"), expected, "{text}");
        }
    }

    #[test]
    fn export_is_gone() {
        let failure = GetOptions::from_query(&Query::parse("export=true")).unwrap_err();
        assert_eq!(failure.code, 400);
        let options = GetOptions::from_query(&Query::parse("export=false&resourceVersion=7")).unwrap();
        assert_eq!(options.resource_version, "7");
    }
}
