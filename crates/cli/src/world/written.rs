//! Manifests as objects of the kinds that we look at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rolewright_api::manifest::{MOST_PROBLEMS, Manifest, Problem};
use rolewright_core::validate;
use rolewright_plan::rbac::{BindingBody, RoleBody};
use rolewright_plan::{Kind, Live, Name, ObjectRef};

/// An object that somebody wrote.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// Which one.
    pub(crate) object: ObjectRef,
    /// What it says.
    pub(crate) live: Live,
    /// Where it says so.
    pub(crate) manifest: Manifest,
}

impl Written {
    /// Whether it says something about this field.
    fn says(&self, field: &str) -> bool {
        self.manifest.object.get(field).is_some_and(|value| !value.is_null())
    }

    /// Whether it is a role that says which rules are stored in it. An empty list is how people leave them out.
    pub(crate) fn states_rules(&self) -> bool {
        self.live.body::<RoleBody>().is_some_and(|role| !role.rules.is_empty())
    }

    /// The object as it is once this was applied to what is there: what a manifest does not mention stays, but for what
    /// an earlier version of it mentioned.
    pub(crate) fn over(&self, there: Option<&Live>, earlier: Option<&Self>) -> Live {
        let mut live = self.live.clone();
        let Some(there) = there else { return live };
        live.meta.uid = there.meta.uid.clone();
        live.meta.owners.clone_from(&there.meta.owners);
        live.meta.finalizers.clone_from(&there.meta.finalizers);
        live.meta.generation = there.meta.generation;
        live.meta.ours.clone_from(&there.meta.ours);
        for (mine, theirs, before) in [
            (&mut live.meta.labels, &there.meta.labels, earlier.map(|earlier| &earlier.live.meta.labels)),
            (
                &mut live.meta.annotations,
                &there.meta.annotations,
                earlier.map(|earlier| &earlier.live.meta.annotations),
            ),
        ] {
            for (key, value) in theirs {
                if !mine.contains_key(key) && !before.is_some_and(|before| before.contains_key(key)) {
                    mine.insert(key.clone(), value.clone());
                }
            }
        }
        if let (Some(role), Some(stored)) = (self.live.body::<RoleBody>(), there.body::<RoleBody>())
            && !self.says("rules")
        {
            live.body = Ok(Arc::new(RoleBody { rules: stored.rules.clone(), ..role.clone() }));
        }
        live
    }
}

/// What the API server would say against an object, as an object of its own or in the place of another.
pub(crate) fn faults(over: &Live, there: Option<&Live>) -> Vec<String> {
    let roles = (over.role(), there.and_then(Live::role));
    let bindings = (over.binding(), there.and_then(Live::binding));
    let errors = match (roles, bindings) {
        ((Some(role), Some(old)), _) => validate::role_update(&role, &old),
        ((Some(role), None), _) => validate::role(&role),
        (_, (Some(binding), Some(old))) => validate::binding_update(&binding, &old),
        (_, (Some(binding), None)) => validate::binding(&binding),
        _ => Vec::new(),
    };
    let mut words: Vec<String> = errors.iter().map(ToString::to_string).collect();
    words.dedup();
    words
}

/// The manifests of these kinds as objects; the names of other kinds are noted.
pub(super) fn sort(
    manifests: Vec<Manifest>,
    kinds: &BTreeSet<&'static Kind>,
    namespace: &str,
    ignored: &mut BTreeSet<String>,
) -> Result<Vec<Written>, Vec<Problem>> {
    let mut written: Vec<Written> = Vec::new();
    let mut problems = Vec::new();
    let mut places = BTreeMap::new();
    for manifest in manifests {
        let known = kinds.iter().find(|kind| kind.kind == manifest.kind() && kind.group == manifest.group());
        let Some(&kind) = known else {
            ignored.insert(manifest.kind().to_owned());
            continue;
        };
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
        let Some(found) = read(kind, manifest, namespace, &mut problems) else { continue };
        if let Some(first) = places.insert(found.object.clone(), written.len()).and_then(|index| written.get(index)) {
            let place = format!("{}:{}", first.manifest.file(), first.manifest.line());
            let message = format!("{} is already written at {place}", found.object);
            problems.push(found.manifest.problem("metadata.name", message).hint("keep one of them"));
        }
        written.push(found);
    }
    if problems.is_empty() { Ok(written) } else { Err(problems) }
}

fn read(kind: &'static Kind, manifest: Manifest, namespace: &str, problems: &mut Vec<Problem>) -> Option<Written> {
    let mut live = match Live::read(kind, &manifest.object) {
        Ok(live) => live,
        Err(error) => {
            problems.push(manifest.problem("metadata", error.to_string()));
            return None;
        }
    };
    if let Err(why) = &live.body {
        problems.push(manifest.problem("", why.clone()));
        return None;
    }
    match (kind.namespaced, live.meta.namespace.is_empty()) {
        (true, true) => live.meta.namespace = Name::from(namespace),
        (false, false) => {
            let message = format!("a {kind} belongs to the whole cluster");
            problems.push(manifest.problem("metadata.namespace", message).hint("leave it out"));
            return None;
        }
        _ => {}
    }
    if let Some(binding) = live.body::<BindingBody>() {
        let mut binding = binding.clone();
        validate::default_role_ref(&mut binding.role_ref);
        binding.subjects.iter_mut().for_each(validate::default_subject);
        live.body = Ok(Arc::new(binding));
    }
    let object = ObjectRef { kind, namespace: live.meta.namespace.clone(), name: live.meta.name.clone() };
    Some(Written { object, live, manifest })
}
