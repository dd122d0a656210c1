//! Objects that belong together, in one row: `ClusterRole a:b:aggregate-to-{edit,view}`.

use rolewright_plan::ObjectRef;

use crate::command::plan::review::Sign;
use crate::render;

/// An object, what becomes of it, and what is said of it.
type Row<'a> = (Sign, &'a ObjectRef, &'a str);

/// Objects that are shown together.
pub(super) struct Group<'a> {
    pub(super) sign: Sign,
    /// What they are called up to where their names differ.
    pub(super) name: String,
    /// How their names end, if they are several.
    pub(super) ends: String,
    /// What is said of them.
    pub(super) word: &'a str,
}

/// Objects by what comes before the last `:` of their names, in the order in which each group begins.
pub(super) fn groups<'a>(rows: &[Row<'a>]) -> Vec<Group<'a>> {
    let mut groups: Vec<Vec<&Row<'_>>> = Vec::new();
    for row in rows {
        let is_same = |group: &&mut Vec<&Row<'_>>| {
            let (sign, object, _) = row;
            group.first().is_some_and(|(other_sign, other, _)| {
                sign == other_sign
                    && object.kind == other.kind
                    && start(object).is_some()
                    && start(object) == start(other)
            })
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.iter().filter_map(|group| Some(shown(group.first()?, group))).collect()
}

fn shown<'a>(first: &Row<'a>, all: &[&Row<'a>]) -> Group<'a> {
    let (sign, object, word) = *first;
    match start(object) {
        Some(start) if all.len() > 1 => {
            let mut ends: Vec<&str> = all.iter().filter_map(|(_, object, _)| object.name.strip_prefix(start)).collect();
            ends.sort_unstable();
            Group { sign, name: format!("{} {start}", object.kind), ends: braced(&ends), word: "" }
        }
        _ => Group { sign, name: render::object(object), ends: String::new(), word },
    }
}

/// `a:b:` of `a:b:c`. A single `:` is part of many a name.
fn start(object: &ObjectRef) -> Option<&str> {
    let (start, _) = object.name.rsplit_once(':')?;
    (start.contains(':') && object.namespace.is_empty()).then(|| object.name.get(..=start.len()))?
}

/// `to-{edit,view}` of `to-edit` and `to-view`.
fn braced(ends: &[&str]) -> String {
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let first = ends.first().copied().unwrap_or_default();
    let same = ends.iter().map(|end| common(first, end)).min().unwrap_or(0);
    let word = first.get(..same).and_then(|same| same.rfind('-')).map_or(0, |dash| dash + 1);
    let rest: Vec<&str> = ends.iter().filter_map(|end| end.get(word..)).collect();
    format!("{}{{{}}}", first.get(..word).unwrap_or_default(), rest.join(","))
}

#[cfg(test)]
mod tests {
    use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING};

    use super::*;

    #[test]
    fn names_that_begin_alike_are_one_row() {
        let role = |name: &str| ObjectRef::cluster(&CLUSTER_ROLE, name);
        let objects = [
            role("a:b:to-edit"),
            role("a:c:to-view"),
            role("a:b:to-view"),
            ObjectRef::cluster(&CLUSTER_ROLE_BINDING, "a:b:system"),
            role("a:d:to-edit"),
            role("a:d:system"),
            role("system:a"),
            role("system:b"),
        ];
        let rows: Vec<_> = objects.iter().map(|object| (Sign::Add, object, "why")).collect();
        let shown = groups(&rows)
            .iter()
            .map(|group| format!("{}{} {}", group.name, group.ends, group.word))
            .collect::<Vec<_>>();
        assert_eq!(
            shown,
            [
                "ClusterRole a:b:to-{edit,view} ",
                "ClusterRole a:c:to-view why",
                "ClusterRoleBinding a:b:system why",
                "ClusterRole a:d:{system,to-edit} ",
                "ClusterRole system:a why",
                "ClusterRole system:b why",
            ]
        );
    }
}
