//! Random worlds: definitions, revisions of a few packages with families and publishers, what they own, namespaces.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rolewright_plan::Kind;
use rolewright_plan::crossplane::{
    Boundary, DEFINITION, DEPLOYMENT, FamilyRoles, InactiveRevisions, Manage, REVISION, SERVED_RESOURCE, Settings,
    UserRoles,
};
use rolewright_plan::kind::NAMESPACE;
use serde_json::{Value, json};

use crate::crossplane::cluster::Cluster;
use crate::crossplane::world::{
    bound, claimed, controlled, crd, deployment, family, image, inactive, namespace, owner, people, revision, role, xrd,
};

const DEFINITIONS: [&str; 2] = ["xs.example.org", "ys.example.org"];
const REVISIONS: [&str; 6] = ["p-1", "p-2", "q-1", "q-2", "r-1", "r-2"];
pub(super) const NAMESPACES: [&str; 2] = ["m", "n"];
const LIMIT: &str = "limit";
const HOME: &str = "crossplane-system";

/// One thing that happens in a cluster: an object is now like this, or gone.
#[derive(Clone, Debug)]
pub(super) struct Step {
    kind: &'static Kind,
    namespace: &'static str,
    name: String,
    object: Option<Value>,
    /// Whether all plans are followed before the next one.
    pub(super) settles: bool,
}

impl Step {
    pub(super) fn apply(&self, cluster: &mut Cluster) {
        match &self.object {
            Some(object) => cluster.set(object),
            None => remove(cluster, self.kind, self.namespace, &self.name),
        }
    }
}

fn remove(cluster: &mut Cluster, kind: &'static Kind, namespace: &str, name: &str) {
    let object = rolewright_plan::ObjectRef { kind, namespace: namespace.into(), name: name.into() };
    if cluster.engine.snapshot().get(&object).is_some() {
        cluster.remove(kind, namespace, name);
    }
}

/// What is there in the end.
pub(super) fn objects(steps: &[Step]) -> Vec<Value> {
    let mut last: BTreeMap<(&Kind, &str), Option<Value>> = BTreeMap::new();
    for step in steps {
        last.insert((step.kind, &step.name), step.object.clone());
    }
    last.into_values().flatten().collect()
}

pub(super) fn remove_all(cluster: &mut Cluster) {
    let steps = all_places();
    for (kind, namespace, name) in steps {
        remove(cluster, kind, namespace, &name);
    }
}

fn all_places() -> Vec<(&'static Kind, &'static str, String)> {
    let mut places = Vec::new();
    places.extend(DEFINITIONS.map(|name| (&DEFINITION, "", name.to_owned())));
    places.extend(REVISIONS.map(|name| (&REVISION, "", name.to_owned())));
    places.extend(REVISIONS.map(|name| (&DEPLOYMENT, HOME, name.to_owned())));
    places.extend(NAMESPACES.map(|name| (&NAMESPACE, "", name.to_owned())));
    places.extend(REVISIONS.iter().flat_map(|name| resources(name)).map(|name| (&SERVED_RESOURCE, "", name)));
    places
}

/// Somebody for every role, and what providers may have at most.
pub(super) fn bindings() -> Vec<Value> {
    let mut all = people().to_vec();
    let limit =
        ["V core namespaces", "create,patch core events", "get,list,update p.io *", "* q.io common,common/status"];
    all.push(role(LIMIT, &limit));
    for namespace in NAMESPACES {
        for role in ["edit", "view"] {
            all.push(bound(&format!("{namespace}-{role}"), namespace, &format!("crossplane-ns-{namespace}-{role}")));
        }
    }
    all
}

pub(super) fn accounts() -> impl Iterator<Item = String> {
    REVISIONS.iter().map(|name| format!("system:serviceaccount:{HOME}:{name}"))
}

pub(super) fn settings() -> impl Strategy<Value = Settings> {
    let manage = prop_oneof![2 => Just(Manage::All), 1 => Just(Manage::Basic), 1 => Just(Manage::ServiceAccounts)];
    (manage, any::<[bool; 6]>()).prop_map(|(manage, [materialized, shared, keep, hardened, bounded, all])| Settings {
        manage,
        user_roles: if materialized { UserRoles::Materialized } else { UserRoles::Aggregated },
        family_roles: if shared { FamilyRoles::Shared } else { FamilyRoles::Replicated },
        inactive: if keep { InactiveRevisions::Keep } else { InactiveRevisions::Follow },
        boundary_role: bounded.then(|| LIMIT.into()),
        boundary: if all { Boundary::All } else { Boundary::Requests },
        hardened,
        ..Settings::default()
    })
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        prop_oneof![1 => Just(0_u8), 4 => Just(1), 2 => Just(2), 2 => Just(3), 1 => Just(4)],
        any::<[u8; 4]>(),
        any::<bool>(),
    );
    let step = step.prop_map(|(what, bits, settles)| match what {
        0 => definition(bits, settles),
        1 => of_revision(bits, settles),
        2 => of_deployment(bits, settles),
        3 => served(bits, settles),
        _ => of_namespace(bits, settles),
    });
    prop::collection::vec(step, 1..14)
}

fn pick<const N: usize>(from: [&'static str; N], bits: u8) -> &'static str {
    from[usize::from(bits) % N]
}

/// Mostly there, sometimes gone.
fn there(bits: u8, object: Value) -> Option<Value> {
    (!bits.is_multiple_of(4)).then_some(object)
}

fn definition([which, gone, claims, _]: [u8; 4], settles: bool) -> Step {
    let name = pick(DEFINITIONS, which);
    let object = if claims % 2 == 0 { xrd(name) } else { claimed(name, &format!("claims{}", claims % 4)) };
    Step { kind: &DEFINITION, namespace: "", name: name.to_owned(), object: there(gone, object), settles }
}

/// What a revision may bring: its own, and what it shares with the other one of its package.
fn resources(revision: &str) -> [String; 2] {
    let package = revision.split('-').next().unwrap();
    [format!("common.{package}.io"), format!("{}.{package}.io", revision.replace('-', ""))]
}

fn of_revision([which, gone, lists, traits]: [u8; 4], settles: bool) -> Step {
    let name = pick(REVISIONS, which);
    let all = resources(name);
    let listed: Vec<&str> =
        all.iter().enumerate().filter(|(bit, _)| lists & (1 << bit) != 0).map(|(_, crd)| crd.as_str()).collect();
    let mut object = revision(name, &listed);
    if traits & 1 != 0 {
        object = inactive(object);
    }
    if traits & 6 != 0 {
        object = family(object, if traits & 2 != 0 { "f" } else { "g" });
    }
    let publisher = if traits & 0b1_1000 == 0b1_1000 { "evil" } else { "acme" };
    object = image(object, &format!("xpkg.example.org/{publisher}/{name}:v1"));
    if traits & 32 != 0 {
        object["status"]["capabilities"] = json!(["safe-start"]);
    }
    if traits & 0b1100_0000 == 0b1100_0000 {
        object["status"]["permissionRequests"] =
            json!([{ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "delete"] }]);
    }
    Step { kind: &REVISION, namespace: "", name: name.to_owned(), object: there(gone, object), settles }
}

fn of_deployment([which, gone, ..]: [u8; 4], settles: bool) -> Step {
    let name = pick(REVISIONS, which);
    let object = there(gone, controlled(deployment(HOME, name, name), name));
    Step { kind: &DEPLOYMENT, namespace: HOME, name: name.to_owned(), object, settles }
}

fn served([which, gone, whose, both]: [u8; 4], settles: bool) -> Step {
    let revision = pick(REVISIONS, which);
    let [common, own] = resources(revision);
    let name = if whose % 2 == 0 { common } else { own };
    let mut object = crd(&name);
    let other = revision.replace(['1', '2'], if revision.ends_with('1') { "2" } else { "1" });
    let mut owners = vec![owner("ProviderRevision", revision, true)];
    if both % 2 == 0 && whose % 2 == 0 {
        owners.push(owner("ProviderRevision", &other, false));
    }
    object["metadata"]["ownerReferences"] = owners.into();
    Step { kind: &SERVED_RESOURCE, namespace: "", name, object: there(gone, object), settles }
}

fn of_namespace([which, gone, enables, _]: [u8; 4], settles: bool) -> Step {
    let name = pick(NAMESPACES, which);
    let values = ["xrd-enabled", "xrd-claim-accepted", "nonsense"];
    let of = |index: usize| (DEFINITIONS[index], values[usize::from(enables >> (2 * index)) % 3]);
    let annotations: Vec<(&str, &str)> =
        (0..DEFINITIONS.len()).filter(|index| enables & (16 << index) != 0).map(of).collect();
    Step {
        kind: &NAMESPACE,
        namespace: "",
        name: name.to_owned(),
        object: there(gone, namespace(name, &annotations)),
        settles,
    }
}
