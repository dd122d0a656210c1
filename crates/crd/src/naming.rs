//! Which names a definition gets, and the conditions in its status: what Kubernetes' controllers of definitions decide.
//!
//! Each step looks at a definition and changes its status, or leaves all as it is. Who calls the steps also keeps [`Names`]
//! up to date: it has the accepted names of all definitions, so that a step costs no more than the names it looks at.

mod condition;

pub use condition::{Termination, approve, check_structure, establish, terminate};

use std::collections::{HashMap, HashSet};

use rolewright_core::quote::Quoted;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use condition::{Condition, find, set};

type Object = Map<String, Value>;

/// The names that are in use, by group.
#[derive(Clone, Debug, Default)]
pub struct Names {
    groups: HashMap<SmolStr, Group>,
}

/// How often a name is in use in a group: definitions may have the same one for several things.
#[derive(Clone, Debug, Default)]
struct Group {
    resources: HashMap<SmolStr, u32>,
    kinds: HashMap<SmolStr, u32>,
}

impl Names {
    /// Takes the accepted names of a definition into account.
    pub fn insert(&mut self, definition: &Object) {
        let accepted = accepted(definition);
        let group = self.groups.entry(group_of(definition).into()).or_default();
        for name in resources(accepted) {
            *group.resources.entry(name.into()).or_default() += 1;
        }
        for kind in kinds(accepted) {
            *group.kinds.entry(kind.into()).or_default() += 1;
        }
    }

    /// Forgets the accepted names of a definition that was inserted as it is.
    pub fn remove(&mut self, definition: &Object) {
        let accepted = accepted(definition);
        let name = group_of(definition);
        let Some(group) = self.groups.get_mut(name) else { return };
        for name in resources(accepted) {
            release(&mut group.resources, name);
        }
        for kind in kinds(accepted) {
            release(&mut group.kinds, kind);
        }
        if group.resources.is_empty() && group.kinds.is_empty() {
            self.groups.remove(name);
        }
    }

    fn has_resource(&self, group: &str, name: &str) -> bool {
        self.groups.get(group).is_some_and(|group| group.resources.contains_key(name))
    }

    fn has_kind(&self, group: &str, kind: &str) -> bool {
        self.groups.get(group).is_some_and(|group| group.kinds.contains_key(kind))
    }
}

fn release(names: &mut HashMap<SmolStr, u32>, name: &str) {
    if let Some(count) = names.get_mut(name) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            names.remove(name);
        }
    }
}

fn text<'a>(object: Option<&'a Object>, key: &str) -> &'a str {
    object.and_then(|object| object.get(key)).and_then(Value::as_str).unwrap_or_default()
}

fn texts<'a>(object: Option<&'a Object>, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let list = object.and_then(|object| object.get(key)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

fn child<'a>(object: Option<&'a Object>, key: &str) -> Option<&'a Object> {
    object.and_then(|object| object.get(key)).and_then(Value::as_object)
}

fn group_of(definition: &Object) -> &str {
    text(child(Some(definition), "spec"), "group")
}

fn accepted(definition: &Object) -> Option<&Object> {
    child(child(Some(definition), "status"), "acceptedNames")
}

/// The names in URLs. Kubernetes counts the empty one, too.
fn resources(names: Option<&Object>) -> impl Iterator<Item = &str> {
    [text(names, "plural"), text(names, "singular")].into_iter().chain(texts(names, "shortNames"))
}

fn kinds(names: Option<&Object>) -> [&str; 2] {
    [text(names, "kind"), text(names, "listKind")]
}

/// Accepts the names that a definition wishes as far as they are free. `now` is the time for conditions that change.
/// Whether the status changed; then definitions of the same group may have a chance that they did not have before.
pub fn accept_names(definition: &mut Object, used: &Names, now: &str) -> bool {
    let wished = child(child(Some(definition), "spec"), "names");
    let have = accepted(definition);
    if same_names(wished, have) {
        return false;
    }
    let (names, condition) = judge(group_of(definition), wished, have, used);
    let unchanged =
        same_names(Some(&names), have) && find(definition, "NamesAccepted").is_some_and(|old| condition.is(old));
    if unchanged {
        return false;
    }
    let is_accepted = condition.status == "True";
    let is_established = find(definition, "Established").is_some_and(|old| text(Some(old), "status") == "True");
    let established = if is_accepted && !is_established {
        Some(Condition::new("Established", "False", "Installing", "the initial names have been accepted"))
    } else if find(definition, "Established").is_none() {
        Some(Condition::new("Established", "False", "NotAccepted", "not all names are accepted"))
    } else {
        None
    };
    condition::status_mut(definition).insert("acceptedNames".to_owned(), Value::Object(names));
    set(definition, &condition, now);
    if let Some(established) = established {
        set(definition, &established, now);
    }
    true
}

/// Whether a definition wishes names that others have.
pub fn lacks_names(definition: &Object) -> bool {
    find(definition, "NamesAccepted").is_some_and(|condition| text(Some(condition), "status") == "False")
}

/// The names that are accepted now, and the condition that says so. The last conflict is the one that is told.
fn judge(group: &str, wished: Option<&Object>, have: Option<&Object>, used: &Names) -> (Object, Condition) {
    let mut names = have.cloned().unwrap_or_default();
    for key in ["plural", "kind"] {
        names.entry(key).or_insert_with(|| "".into());
    }
    let mut condition = Condition::new("NamesAccepted", "True", "NoConflicts", "no conflicts found");
    let in_use = |name: &str| format!("{} is already in use", Quoted(name));
    for (key, reason) in [
        ("plural", "PluralConflict"),
        ("singular", "SingularConflict"),
        ("shortNames", "ShortNamesConflict"),
        ("kind", "KindConflict"),
        ("listKind", "ListKindConflict"),
    ] {
        let message = match key {
            "shortNames" => {
                let own: HashSet<&str> = texts(have, key).collect();
                let mut seen = HashSet::new();
                let taken = texts(wished, key).filter(|name| !own.contains(name) && !name.is_empty());
                let taken = taken.filter(|name| used.has_resource(group, name) && seen.insert(*name));
                match taken.map(in_use).collect::<Vec<String>>().as_slice() {
                    [] => None,
                    [one] => Some(one.clone()),
                    several => Some(format!("[{}]", several.join(", "))),
                }
            }
            key => {
                let name = text(wished, key);
                let is_used = match key {
                    "kind" | "listKind" => used.has_kind(group, name),
                    _ => used.has_resource(group, name),
                };
                (name != text(have, key) && is_used).then(|| in_use(name))
            }
        };
        match message {
            Some(message) => condition = Condition { message, ..Condition::new("NamesAccepted", "False", reason, "") },
            None if key == "shortNames" => put_texts(&mut names, key, wished),
            None => put_text(&mut names, key, text(wished, key)),
        }
    }
    put_texts(&mut names, "categories", wished);
    (names, condition)
}

fn put_text(names: &mut Object, key: &str, value: &str) {
    if value.is_empty() && !matches!(key, "plural" | "kind") {
        names.remove(key);
    } else {
        names.insert(key.to_owned(), value.into());
    }
}

fn put_texts(names: &mut Object, key: &str, from: Option<&Object>) {
    let list: Vec<Value> = texts(from, key).map(Value::from).collect();
    if list.is_empty() {
        names.remove(key);
    } else {
        names.insert(key.to_owned(), list.into());
    }
}

fn same_names(one: Option<&Object>, other: Option<&Object>) -> bool {
    ["plural", "singular", "kind", "listKind"].iter().all(|key| text(one, key) == text(other, key))
        && ["shortNames", "categories"].iter().all(|key| texts(one, key).eq(texts(other, key)))
}
