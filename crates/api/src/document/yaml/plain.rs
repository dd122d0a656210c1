//! Most YAML that programs send is JSON. Where both languages mean the same, JSON's reader is much faster.

use crate::document::node::Node;
use crate::document::tree;

/// YAML does not look further for the colon after a key.
const LONGEST_KEY: usize = 1000;

/// Reads an object that is the same in JSON and in YAML; nothing if it could make a difference which is read.
pub(super) fn parse(bytes: &[u8]) -> Option<Node<'static>> {
    let first = bytes.iter().find(|byte| !matches!(byte, b' ' | b'\n'));
    if first != Some(&b'{') || !is_plain(bytes) {
        return None;
    }
    sorted(tree::parse(bytes).ok()?)
}

/// Printable ASCII, with no escapes but those that both languages have.
fn is_plain(bytes: &[u8]) -> bool {
    let mut escaped = false;
    bytes.iter().all(|&byte| {
        if std::mem::take(&mut escaped) {
            return matches!(byte, b'"' | b'\\' | b'n' | b't' | b'r' | b'b' | b'f');
        }
        escaped = byte == b'\\';
        matches!(byte, b' '..=b'~' | b'\n')
    })
}

/// The same with sorted keys; nothing if a key comes twice or a number is none that both languages read alike.
fn sorted(node: Node<'_>) -> Option<Node<'static>> {
    Some(match node {
        Node::Null => Node::Null,
        Node::Bool(on) => Node::Bool(on),
        Node::Number(literal) if is_integer(&literal) => Node::Number(literal.into_owned().into()),
        Node::Number(_) => return None,
        Node::String(text) => Node::String(text),
        Node::Time(text) => Node::Time(text),
        Node::Array(items) => Node::Array(items.into_iter().map(sorted).collect::<Option<_>>()?),
        Node::Object(mut members) => {
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            let twice = members.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
            if twice || members.iter().any(|(key, _)| key.len() > LONGEST_KEY) {
                return None;
            }
            let members = members.into_iter().map(|(key, value)| Some((key, sorted(value)?)));
            Node::Object(members.collect::<Option<_>>()?)
        }
    })
}

/// Digits that everybody reads as the same integer.
fn is_integer(literal: &str) -> bool {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    digits.len() < 19
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (literal == "0" || !digits.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::yaml;

    #[test]
    fn what_both_languages_read_is_read_alike() {
        let plain = [
            r"{}",
            r#" {"b": 1, "a": [true, null, "yes", "1e3", "<<"], "c": {"x": -17, "0": 0}}"#,
            "{\n  \"a\": \"x\\n\\t\\\"\\\\\",\n  \"b\": []\n}\n",
        ];
        for text in plain {
            let fast = parse(text.as_bytes()).expect("it is plain");
            assert_eq!(fast, yaml::slowly(text.as_bytes()).expect("it is YAML").node, "{text}");
        }
        let different = [
            "a: b",
            "[]",
            "{a: b}",
            r#"{"a": 1.0}"#,
            r#"{"a": 1e3}"#,
            r#"{"a": -0}"#,
            r#"{"a": 12345678901234567890}"#,
            r#"{"a": 1, "a": 2}"#,
            r#"{"a": "\u0041"}"#,
            r#"{"a": "\/"}"#,
            "{\"a\":\t1}",
            "{\"a\": \"é\"}",
            r#"{"a": 1} # comment"#,
            "{\"a\": 1}\n---\n{}",
        ];
        for text in different {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(format!(r#"{{"{}": 1}}"#, "k".repeat(1001)).as_bytes()), None);
    }
}
