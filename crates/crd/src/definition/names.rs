//! The names of a kind: in the spec as they are wished, in the status as they were accepted.

use rolewright_core::validate::Path;
pub(super) use rolewright_core::validate::names::dns_1035_label as label;

use super::faults::Faults;
use super::read::{self, Object};

/// As Go has it: one character for one.
pub(super) fn lowercase(text: &str) -> String {
    text.chars().filter_map(|c| c.to_lowercase().next()).collect()
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
        let wrong = label(&lowercase(name));
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
