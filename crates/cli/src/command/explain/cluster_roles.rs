//! The ClusterRoles of a world, and which of them our manager gathers.

use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::{Name, Role, World};
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::rbac::CLUSTER_ROLE;
use rolewright_plan::{Event, Kind, Live, crossplane};

use crate::world::Place;

/// All ClusterRoles, and the names of those that our manager gathers. Those are as if Kubernetes did.
pub(super) fn of(place: &Place) -> (World, BTreeSet<Name>) {
    let namespaces = objects(place, &NAMESPACE);
    let mut gathered = BTreeSet::new();
    let roles: Vec<Role> = objects(place, &CLUSTER_ROLE)
        .values()
        .filter_map(Live::role)
        .map(|role| match crossplane::gathered(&role, |name| Some(&namespaces.get(name)?.meta)) {
            Some(selectors) => {
                gathered.insert(role.key.name().clone());
                Role { aggregation: Some(selectors), ..role }
            }
            None => role,
        })
        .collect();
    (World::new(roles, []), gathered)
}

/// All objects of a kind of the whole cluster: those underneath, with the manifests over them.
fn objects(place: &Place, kind: &'static Kind) -> BTreeMap<Name, Live> {
    let below = place.ground.iter().flat_map(|event| match event {
        Event::All(known, objects) if *known == kind => objects.as_slice(),
        _ => &[],
    });
    let mut all: BTreeMap<Name, Live> = below.map(|live| (live.meta.name.clone(), live.clone())).collect();
    for written in place.replaced.iter().filter(|written| written.object.kind == kind) {
        if !place.files.iter().any(|file| file.object == written.object) {
            all.remove(&written.object.name);
        }
    }
    for written in place.files.iter().filter(|written| written.object.kind == kind) {
        let earlier = place.replaced.iter().find(|earlier| earlier.object == written.object);
        let live = written.over(all.get(&written.object.name), earlier);
        all.insert(written.object.name.clone(), live);
    }
    all
}
