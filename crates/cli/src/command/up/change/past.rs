//! What was there when the manager last was at rest: what somebody loses is told from it.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::{Labels, Name, Rule};
use rolewright_plan::crossplane::{DEFINITION, REVISION, SERVED_RESOURCE};
use rolewright_plan::kind::{Body, NAMESPACE};
use rolewright_plan::rbac::{CLUSTER_ROLE, RoleBody};
use rolewright_plan::sync::{REPO_SYNC, ROOT_SYNC};
use rolewright_plan::{Kind, ObjectRef, Snapshot};
use rustc_hash::FxHashSet;

use crate::render;

/// Kinds of which a loss may come, those first that cause the others.
static CAUSES: [&Kind; 3] = [&REVISION, &DEFINITION, &SERVED_RESOURCE];

/// What was there.
#[derive(Debug, Default)]
pub(in super::super) struct Past {
    roles: BTreeMap<Name, Then>,
    /// What roles are kept for, with the revision of each.
    objects: BTreeMap<ObjectRef, u64>,
}

/// A ClusterRole as it was.
#[derive(Debug)]
struct Then {
    labels: Labels,
    body: Option<Body>,
}

impl Then {
    fn role(&self) -> Option<&RoleBody> {
        let body: &(dyn Any + Send + Sync) = &**self.body.as_ref()?;
        body.downcast_ref()
    }
}

impl Past {
    pub(in super::super) fn of(snapshot: &Snapshot) -> Self {
        let roles = snapshot.all(&CLUSTER_ROLE).map(|live| {
            let then = Then { labels: live.meta.labels.clone(), body: live.body.as_ref().ok().cloned() };
            (live.meta.name.clone(), then)
        });
        let others: [&'static Kind; 4] = [&NAMESPACE, &ROOT_SYNC, &REPO_SYNC, &CLUSTER_ROLE];
        let objects = CAUSES.into_iter().chain(others).flat_map(|kind| {
            snapshot.all(kind).map(move |live| {
                let object = ObjectRef { kind, namespace: live.meta.namespace.clone(), name: live.meta.name.clone() };
                (object, live.meta.resource_version)
            })
        });
        Self { roles: roles.collect(), objects: objects.collect() }
    }

    /// What became of an object on whose behalf something is written.
    pub(in super::super) fn state(&self, snapshot: &Snapshot, key: &ObjectRef) -> String {
        match (snapshot.get(key), self.objects.get(key)) {
            (None, _) => "it is gone".to_owned(),
            (Some(live), _) if live.meta.deleting => "it is being deleted".to_owned(),
            (Some(live), Some(version)) if live.meta.resource_version == *version => {
                self.gone(snapshot, |_| true).unwrap_or_else(|| "what it depends on changed".to_owned())
            }
            (Some(_), Some(_)) => "it changed".to_owned(),
            (Some(_), None) => "it is new".to_owned(),
        }
    }

    /// The first of what is gone that may be the cause.
    fn gone(&self, snapshot: &Snapshot, may_be: impl Fn(&ObjectRef) -> bool) -> Option<String> {
        let of_kind = |kind: &'static Kind| {
            let mut all = self.objects.keys().filter(move |object| *object.kind == *kind);
            all.find(|object| snapshot.get(object).is_none() && may_be(object))
        };
        CAUSES.into_iter().find_map(of_kind).map(|object| format!("{} is gone", render::object(object)))
    }

    /// Why a role that is made of what others bring has rules no longer: what brought them is gone, or else what they were on.
    pub(super) fn unbrought(&self, snapshot: &Snapshot, lost: &[&Rule], kept: &[Rule]) -> String {
        let kept: FxHashSet<String> = render::rows(kept).into_iter().map(|(on, _)| on).collect();
        let rows = |rule: &&Rule| render::rows(std::slice::from_ref(*rule));
        let lost: Vec<String> = lost.iter().flat_map(rows).map(|(on, _)| on).filter(|on| !kept.contains(on)).collect();
        // Resources are named as their definitions are; a revision may have brought any.
        let may_be = |object: &ObjectRef| *object.kind == REVISION || lost.iter().any(|on| *on == object.name.as_str());
        match (self.gone(snapshot, may_be), lost.as_slice()) {
            (Some(gone), _) => gone,
            (None, []) => "it needs less than before".to_owned(),
            (None, [one]) => format!("it needs nothing of {one} any more"),
            (None, [first, others @ ..]) => format!("it needs nothing of {first} and {} more", others.len()),
        }
    }

    /// Which role an aggregated one no longer has these rules from, and why.
    pub(super) fn ungathered(&self, snapshot: &Snapshot, name: &Name, lost: &[&Rule]) -> Option<String> {
        let mut found = lost.iter().filter_map(|rule| self.source(snapshot, name, rule, &mut BTreeSet::new()));
        let first = found.next()?;
        let others = if found.any(|other| other != first) { ", and others" } else { "" };
        Some(format!("{first}{others}"))
    }

    fn source(&self, snapshot: &Snapshot, name: &Name, lost: &Rule, seen: &mut BTreeSet<Name>) -> Option<String> {
        if !seen.insert(name.clone()) {
            return None;
        }
        let parent = if seen.len() == 1 { "it".to_owned() } else { format!("`{name}`") };
        let then = self.roles.get(name)?.role()?;
        let now = snapshot.body::<RoleBody>(&ObjectRef::cluster(&CLUSTER_ROLE, name.clone()));
        let had = |other: &&Name, then: &RoleBody| *other != name && then.rules.contains(lost);
        for (other, before) in self.roles.iter().filter(|(_, before)| selects(then, &before.labels)) {
            let Some(role) = before.role().filter(|role| had(&other, role)) else { continue };
            let Some(live) = snapshot.get(&ObjectRef::cluster(&CLUSTER_ROLE, other.clone())) else {
                return Some(format!("`{other}` is gone"));
            };
            if !now.is_some_and(|now| selects(now, &live.meta.labels)) {
                let label = before.labels.iter().find(|(key, value)| live.meta.labels.get(key) != Some(*value));
                return Some(match label {
                    Some((key, value)) => format!("`{other}` no longer has the label {key}={value}"),
                    None => format!("{parent} no longer selects `{other}`"),
                });
            }
            let has = live.body::<RoleBody>().is_some_and(|role| role.rules.contains(lost));
            match role.aggregation {
                None if !has => return Some(format!("`{other}` no longer has it")),
                None => {}
                Some(_) => {
                    if let Some(below) = self.source(snapshot, other, lost, seen) {
                        return Some(below);
                    }
                }
            }
        }
        None
    }
}

fn selects(role: &RoleBody, labels: &Labels) -> bool {
    role.aggregation.iter().flatten().any(|selector| selector.compile().is_ok_and(|one| one.matches(labels)))
}
