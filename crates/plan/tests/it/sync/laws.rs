//! What holds whatever a sync names, and however that changes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rolewright_core::World;
use rolewright_plan::sync::Settings;

use super::world::{Cluster, ground, root};

const POOL: [&str; 9] = [
    "ClusterRole/one",
    "ClusterRole/two",
    "ClusterRole/one@shop",
    "ClusterRole/two@bank",
    "Role/ci@shop",
    "Role/ci@bank",
    // The same name as that of a Role in the same place.
    "ClusterRole/ci@shop",
    "ClusterRole/none",
    "Role/ci@nowhere",
];

/// What the account of the sync has, as place and role.
fn has(world: &World) -> BTreeSet<(String, String, String)> {
    let its = world.bindings.values().filter(|binding| binding.subjects.iter().any(|s| s.name == "root-reconciler-x"));
    let shown = its.map(|binding| {
        let role = &binding.role_ref;
        (binding.key.namespace().to_owned(), role.kind.to_string(), role.name.to_string())
    });
    shown.filter(|(_, _, role)| !role.contains("reconciler")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// On the way from one list to the next nobody has more than both give, nor less than either keeps; and an entry that
    /// changes costs two writes.
    #[test]
    fn on_the_way_there_is_never_more_than_both_nor_less_than_either(
        lists in proptest::collection::vec(proptest::sample::subsequence(POOL.to_vec(), 0..=POOL.len()), 2..6)
    ) {
        let mut cluster = Cluster::new(Settings::default(), ground().into_iter().chain([root("x", &lists[0])]));
        for list in &lists[1..] {
            let before = has(&cluster.world());
            cluster.set(&root("x", list));
            let mut seen = Vec::new();
            let written = cluster.settle_watched(|_, world| seen.push(has(world)));
            let after = has(&cluster.world());
            let (most, least): (BTreeSet<_>, BTreeSet<_>) = (&before | &after, &before & &after);
            for now in &seen {
                prop_assert!(now.is_subset(&most), "{now:?} is more than {most:?}");
                prop_assert!(now.is_superset(&least), "{now:?} is less than {least:?}");
            }
            let changed = before.symmetric_difference(&after).count();
            let writes = written.iter().filter(|op| op.phase != rolewright_plan::Phase::Report && *op.object.kind != rolewright_plan::sync::ROOT_SYNC).count();
            prop_assert_eq!(writes, changed);
        }
    }
}
