//! The names of a kind: in the spec as they are wished, in the status as they were accepted.

use rolewright_core::validate::Path;

use super::faults::Faults;
use super::read::{self, Object};

const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// What keeps a text from being a label in DNS as RFC 1035 has it.
pub(super) fn label(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.len() > 63 {
        faults.push("must be no more than 63 characters".to_owned());
    }
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !text.bytes().all(inner) || !text.starts_with(|c: char| c.is_ascii_lowercase()) || text.ends_with('-') {
        faults.push(LABEL.to_owned());
    }
    faults
}

/// Names that are there must have the form of names.
pub(super) fn check(faults: &mut Faults, names: &Object, at: Path<'_>) {
    for key in ["plural", "singular"] {
        let name = read::text(names, key);
        let wrong = label(name);
        if !name.is_empty() && !wrong.is_empty() {
            faults.invalid(at.child(key), name, wrong.join(","));
        }
    }
    for key in ["kind", "listKind"] {
        let name = read::text(names, key);
        let wrong = label(&name.to_lowercase());
        if !name.is_empty() && !wrong.is_empty() {
            let why = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
            faults.invalid(at.child(key), name, why);
        }
    }
    check_each(faults, names, "shortNames", at);
    let (kind, list_kind) = (read::text(names, "kind"), read::text(names, "listKind"));
    if !kind.is_empty() && kind == list_kind {
        faults.invalid(at.child("listKind"), list_kind, "kind and listKind may not be the same");
    }
    check_each(faults, names, "categories", at);
}

fn check_each(faults: &mut Faults, names: &Object, key: &str, at: Path<'_>) {
    let at = at.child(key);
    for (i, name) in read::texts(names, key).enumerate() {
        let wrong = label(name);
        if !wrong.is_empty() && !faults.is_full() {
            faults.invalid(at.index(i), name, wrong.join(","));
        }
    }
}
