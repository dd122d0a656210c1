//! Whatever a condition speaks of must be described where values are described.

use rolewright_core::validate::Path;

use super::faults::Faults;
use super::props::Props;

/// Looks at the conditions of the root; those of schemas below are not looked at in Kubernetes either.
pub(super) fn check(faults: &mut Faults, schema: Props<'_>, at: Path<'_>) {
    check_values(faults, schema, schema, at, at);
}

fn check_values(faults: &mut Faults, clause: Props<'_>, schema: Props<'_>, at: Path<'_>, clause_at: Path<'_>) {
    if let Some(not) = clause.schema("not") {
        check_clause(faults, not, schema, at, clause_at.child("not"));
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let clause_at = clause_at.child(key);
        for (i, inner) in clause.schemas(key) {
            check_clause(faults, inner, schema, at, clause_at.index(i));
        }
    }
}

fn check_clause(faults: &mut Faults, clause: Props<'_>, schema: Props<'_>, at: Path<'_>, clause_at: Path<'_>) {
    if faults.is_full() {
        return;
    }
    check_values(faults, clause, schema, at, clause_at);
    if let Some(inner) = clause.item() {
        let (at, clause_at) = (at.child("items"), clause_at.child("items"));
        match schema.item() {
            Some(item) => check_clause(faults, inner, item, at, clause_at),
            None => missing(faults, at, clause_at),
        }
    }
    let (at, clause_at) = (at.child("properties"), clause_at.child("properties"));
    for (name, inner) in clause.entries("properties") {
        let (at, clause_at) = (at.key(name), clause_at.key(name));
        match schema.property(name) {
            Some(property) => check_clause(faults, inner, property, at, clause_at),
            None => missing(faults, at, clause_at),
        }
    }
}

fn missing(faults: &mut Faults, at: Path<'_>, clause_at: Path<'_>) {
    faults.required(at, format!("because it is defined in {clause_at}"));
}
