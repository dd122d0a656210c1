//! A world without a cluster: what every cluster starts with, and what somebody wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rolewright_core::aggregate::Aggregation;
use rolewright_core::{Binding, Role, bootstrap};
use rolewright_plan::kind::Body;
use rolewright_plan::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, RoleBody};
use rolewright_plan::{Event, Kind, Live, Meta, Name, ObjectRef};

use super::Written;

/// All objects of these kinds: the roles and bindings of a fresh cluster, and what was written over them. Of whose kinds
/// neither that nor `above` has any, they are not installed.
pub(super) fn closed(kinds: &BTreeSet<&'static Kind>, written: Vec<Written>, above: &[Written]) -> Vec<Event> {
    let world = bootstrap::world();
    let installed: BTreeSet<&str> =
        written.iter().chain(above).filter_map(|written| domain(written.object.kind)).collect();
    let roles = world.roles.into_values().map(role);
    let bindings = world.bindings.into_values().map(binding);
    let mut objects: BTreeMap<ObjectRef, Live> = roles.chain(bindings).collect();
    let stated: BTreeSet<ObjectRef> =
        written.iter().filter(|written| written.states_rules()).map(|written| written.object.clone()).collect();
    objects.extend(written.into_iter().map(|written| (written.object, written.live)));
    settle(&mut objects, &stated);
    let mut by_kind: BTreeMap<&'static Kind, Vec<Live>> = kinds.iter().map(|&kind| (kind, Vec::new())).collect();
    for (version, (object, mut live)) in (1..).zip(objects) {
        live.meta.resource_version = version;
        if live.meta.uid.is_empty() {
            live.meta.uid = Name::from(format!("base-{version}"));
        }
        by_kind.entry(object.kind).or_default().push(live);
    }
    let is_served = |kind: &Kind| domain(kind).is_none_or(|domain| installed.contains(domain));
    let event = |(kind, objects)| if is_served(kind) { Event::All(kind, objects) } else { Event::Unserved(kind) };
    by_kind.into_iter().map(event).collect()
}

/// Whose kind it is: the last two parts of its group, as `crossplane.io`; `None` for Kubernetes' own.
fn domain(kind: &Kind) -> Option<&'static str> {
    if !kind.group.contains('.') || kind.group.ends_with(".k8s.io") {
        return None;
    }
    let start = kind.group.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
    kind.group.get(start..)
}

/// Puts into aggregated roles what a cluster would have put there, but where somebody says what is stored.
fn settle(objects: &mut BTreeMap<ObjectRef, Live>, stated: &BTreeSet<ObjectRef>) {
    let roles: Vec<Role> =
        objects.iter().filter(|(object, _)| *object.kind == CLUSTER_ROLE).filter_map(|(_, live)| live.role()).collect();
    let aggregation = Aggregation::from_roles(&roles);
    for name in aggregation.aggregated() {
        let object = ObjectRef::cluster(&CLUSTER_ROLE, name.clone());
        let Some(live) = objects.get_mut(&object).filter(|_| !stated.contains(&object)) else { continue };
        let selectors = live.body::<RoleBody>().and_then(|role| role.aggregation.clone());
        let rules = aggregation.rules(name).into_iter().flatten().cloned().collect();
        live.body = Ok(Arc::new(RoleBody { rules, aggregation: selectors }));
    }
}

fn role(role: Role) -> (ObjectRef, Live) {
    let Role { key, labels, rules, aggregation } = role;
    let kind = if key.namespace().is_empty() { &CLUSTER_ROLE } else { &ROLE };
    let meta = Meta { labels, ..meta(key.namespace(), key.name()) };
    object(kind, meta, Arc::new(RoleBody { rules, aggregation }))
}

fn binding(binding: Binding) -> (ObjectRef, Live) {
    let Binding { key, role_ref, subjects } = binding;
    let kind = if key.namespace().is_empty() { &CLUSTER_ROLE_BINDING } else { &ROLE_BINDING };
    object(kind, meta(key.namespace(), key.name()), Arc::new(BindingBody { role_ref, subjects }))
}

fn meta(namespace: &str, name: &Name) -> Meta {
    Meta { name: name.clone(), namespace: namespace.into(), ..Meta::default() }
}

fn object(kind: &'static Kind, meta: Meta, body: Body) -> (ObjectRef, Live) {
    let object = ObjectRef { kind, namespace: meta.namespace.clone(), name: meta.name.clone() };
    (object, Live { meta, body: Ok(body), conditions: Vec::new() })
}
