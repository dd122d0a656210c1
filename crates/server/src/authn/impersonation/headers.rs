//! The headers that ask for impersonation.

use std::fmt::Write as _;

use hyper::header::{HeaderMap, HeaderName};
use rolewright_core::validate::BadValue;

use super::Impersonation;
use crate::status::Failure;

const USER: &str = "impersonate-user";
const UID: &str = "impersonate-uid";
const GROUP: &str = "impersonate-group";
const EXTRA: &str = "impersonate-extra-";

impl Impersonation {
    /// What the headers ask for, if anything.
    pub fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, Failure> {
        let mut wanted = Self {
            user: first(headers, USER),
            uid: first(headers, UID),
            groups: headers.get_all(GROUP).iter().map(|value| text(value.as_bytes())).collect(),
            ..Self::default()
        };
        for (name, value) in headers {
            if let Some(key) = name.as_str().strip_prefix(EXTRA) {
                wanted.extra.entry(unescaped(key)).or_default().push(text(value.as_bytes()));
            }
        }
        if !wanted.user.is_empty() {
            return Ok(Some(wanted));
        }
        if wanted == Self::default() {
            return Ok(None);
        }
        let message = format!("requested {} without impersonating a user name", wanted.in_go());
        Err(Failure::bad_request(message))
    }

    /// Removes the headers, so that nothing behind sees them.
    pub fn strip(headers: &mut HeaderMap) {
        let ours = |name: &HeaderName| {
            let name = name.as_str();
            matches!(name, USER | UID | GROUP) || name.starts_with(EXTRA)
        };
        let names: Vec<HeaderName> = headers.keys().filter(|name| ours(name)).cloned().collect();
        for name in names {
            headers.remove(name);
        }
    }

    /// As Go prints the value, because Kubernetes puts it into a message.
    fn in_go(&self) -> String {
        let list = |texts: &[String]| {
            let texts: Vec<String> = texts.iter().map(|text| BadValue::from(text.as_str()).to_string()).collect();
            format!("[]string{{{}}}", texts.join(", "))
        };
        let quoted = |text: &str| BadValue::from(text).to_string();
        let groups = if self.groups.is_empty() { "[]string(nil)".to_owned() } else { list(&self.groups) };
        let mut extra = "map[string][]string".to_owned();
        if self.extra.is_empty() {
            extra.push_str("(nil)");
        } else {
            let pairs = self.extra.iter().map(|(key, values)| format!("{}:{}", quoted(key), list(values)));
            let _ = write!(extra, "{{{}}}", pairs.collect::<Vec<_>>().join(", "));
        }
        let (name, uid) = (quoted(&self.user), quoted(&self.uid));
        format!("&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:{groups}, Extra:{extra}}}")
    }
}

fn first(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| text(value.as_bytes())).unwrap_or_default()
}

/// What is not UTF-8 can be nobody's name; it is checked and used in the same, replaced form.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A key without its percent signs; as it is, where one of them is out of place.
fn unescaped(key: &str) -> String {
    let mut out = Vec::with_capacity(key.len());
    let mut rest = key.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else { return key.to_owned() };
        out.extend(u8::try_from(high * 16 + low));
    }
    text(&out)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        map
    }

    #[test]
    fn all_headers_together_say_who() {
        let map = headers(&[
            ("impersonate-user", "alice"),
            ("impersonate-group", "a"),
            ("impersonate-group", "b"),
            ("impersonate-uid", "7"),
            ("impersonate-extra-acme.io%2fscope", "x"),
            ("impersonate-extra-acme.io%2fscope", "y"),
            ("impersonate-extra-%zz", "z"),
            ("accept", "*/*"),
        ]);
        let wanted = Impersonation::from_headers(&map).unwrap().unwrap();
        assert_eq!(wanted.user, "alice");
        assert_eq!(wanted.groups, ["a", "b"]);
        assert_eq!(wanted.uid, "7");
        assert_eq!(wanted.extra["acme.io/scope"], ["x", "y"]);
        assert_eq!(wanted.extra["%zz"], ["z"], "what cannot be decoded stays");
        let mut map = map;
        Impersonation::strip(&mut map);
        assert_eq!(map.len(), 1);
    }

    #[test]
    fn nothing_is_asked_for_without_a_user() {
        assert_eq!(Impersonation::from_headers(&headers(&[])).unwrap(), None);
        assert_eq!(Impersonation::from_headers(&headers(&[("impersonate-user", "")])).unwrap(), None);
        let nil = "Extra:map[string][]string(nil)";
        for (name, value, shown) in [
            ("impersonate-group", "g", format!("UID:\"\", Groups:[]string{{\"g\"}}, {nil}")),
            ("impersonate-group", "", format!("UID:\"\", Groups:[]string{{\"\"}}, {nil}")),
            ("impersonate-uid", "g", format!("UID:\"g\", Groups:[]string(nil), {nil}")),
            (
                "impersonate-extra-foo%2fbar",
                "v2\"",
                "UID:\"\", Groups:[]string(nil), Extra:map[string][]string{\"foo/bar\":[]string{\"v2\\\"\"}}".into(),
            ),
        ] {
            let failure = Impersonation::from_headers(&headers(&[(name, value)])).unwrap_err();
            let expected =
                format!("requested &user.DefaultInfo{{Name:\"\", {shown}}} without impersonating a user name");
            assert_eq!((failure.code, failure.message), (400, expected));
        }
    }
}
