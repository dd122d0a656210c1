//! Everybody may do the same whether Crossplane's own manager works or ours, but for what we decided otherwise.

mod decisions;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use rolewright_core::{Access, Binding, Role, RuleSet, Scope};
use rolewright_plan::crossplane::{FamilyRoles, Settings, UserRoles};
use rolewright_testkit::peers::Crossplane;
use rolewright_testkit::random::seed;
use rolewright_testkit::wire::{BindingObject, RoleObject};
use serde_json::json;

pub(crate) use self::decisions::{DECISIONS, Difference};
use crate::manager::install;
use crate::module::Ours;
use crate::servers::{self, Home, eventually};
use crate::world::{self, Expected, Way, World, apply};
use crate::{RBAC, chart};

/// Random worlds; the first of them on all servers.
const SEEDS: u64 = 20;
const EVERYWHERE: u64 = 5;

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "what was compared")]
async fn both_managers_give_the_same_access() -> Result<()> {
    let Some(crossplane) = Crossplane::find("the peers suite")? else { return Ok(()) };
    let Some(places) = servers::four("access").await? else { return Ok(()) };
    let all @ [theirs, second, embedded, other] = places.homes.each_ref();
    try_join_all(all.map(|home| install(&crossplane, home))).await?;
    chart::install(theirs).await?;
    let log = places.folder.join("theirs.log");
    let mut peer = crossplane.rbac(&theirs.kubeconfig, &log)?;
    // How families share and who gathers for people makes no difference to anybody.
    let (shared, own) = (FamilyRoles::Shared, UserRoles::Materialized);
    let modes = Settings { family_roles: shared, user_roles: own, ..Settings::default() };
    let managers = [(second, Settings::default()), (embedded, Settings::default()), (other, modes)];
    let managers = managers.map(|(home, settings)| Ours::start(home, settings));
    let nothing = World::default();
    let mut history: Vec<World> = Vec::new();
    let mut used = BTreeSet::new();
    for (title, on, world) in worlds(seed()) {
        let before = history.last().unwrap_or(&nothing);
        // All that is random would cost a real server minutes.
        let ours = if on == On::All { &all[1..] } else { &all[2..] };
        try_join_all(ours.iter().chain([&theirs]).map(|home| apply(home, before, &world))).await?;
        if history.is_empty() {
            try_join_all(all.map(chart::bind)).await?;
        }
        peer.alive()?;
        let expected = Expected::new(&history, &world);
        for ours in ours {
            let found = settled(&expected, theirs, ours)
                .await
                .with_context(|| format!("{title}, {}; logs are in {}", ours.name, places.folder.display()))?;
            let Found { subjects, differ, .. } = found;
            println!("{title}: {subjects} subjects, {differ} rights differ on purpose on {}", ours.name);
            used.extend(found.used);
        }
        history.push(world);
    }
    let stale: Vec<_> = DECISIONS.iter().map(|row| row.name).filter(|name| !used.contains(name)).collect();
    ensure!(stale.is_empty(), "decisions that nothing needs: {stale:?}");
    for manager in managers {
        manager.end().await?;
    }
    peer.end()?;
    std::fs::remove_dir_all(&places.folder)?;
    Ok(())
}

/// Where our manager works.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    /// On a real server and on two of ours.
    All,
    /// On two of ours.
    Embedded,
}

fn worlds(seed: u64) -> Vec<(&'static str, On, World)> {
    // Random worlds beside one that is there, and the same changed.
    let drawn = |beside: &World, indices: std::ops::Range<u64>| {
        let (mut random, mut changed) = (beside.clone(), beside.clone());
        for seed in indices.map(|index| seed.wrapping_add(index) % 100_000) {
            let world = world::drawn(seed);
            changed.join(world::changed(&world, seed));
            random.join(world);
        }
        (random, changed)
    };
    let (some, some_changed) = drawn(&world::later(), 0..EVERYWHERE);
    let (more, more_changed) = drawn(&some_changed, EVERYWHERE..SEEDS);
    vec![
        ("a world of everything", On::All, world::disputed()),
        ("the same later", On::All, world::later()),
        ("random worlds", On::All, some),
        ("random changes", On::All, some_changed),
        ("more random worlds", On::Embedded, more),
        ("more random changes", On::Embedded, more_changed),
    ]
}

struct Found {
    subjects: usize,
    differ: usize,
    used: BTreeSet<&'static str>,
}

/// Waits until both have done their work and nothing differs but what was decided.
async fn settled(expected: &Expected<'_>, theirs: &Home, ours: &Home) -> Result<Found> {
    eventually("both managers to be done", || async {
        let (there, here) = tokio::try_join!(access(theirs), access(ours))?;
        let mut faults = unmet(expected, &there, Way::Theirs);
        faults.extend(unmet(expected, &here, Way::Ours));
        let mut explained = BTreeMap::new();
        // What is only on its way makes no difference.
        if faults.is_empty() {
            (explained, faults) = differences(expected, &there, &here);
        }
        if faults.is_empty() {
            let used = explained.keys().copied().collect();
            return Ok(Ok(Found { subjects: subjects(&here), differ: explained.values().sum(), used }));
        }
        let count = faults.len();
        faults.truncate(60);
        Ok(Err(format!("{count} faults:\n{}", faults.join("\n"))))
    })
    .await
}

fn subjects(access: &Access) -> usize {
    access.iter().map(|(who, _, _)| who).collect::<BTreeSet<_>>().len()
}

/// What everybody may do, as the roles and bindings of a server say.
pub(crate) async fn access(home: &Home) -> Result<Access> {
    let mut roles = Vec::new();
    for (plural, kind) in [("clusterroles", "ClusterRole"), ("roles", "Role")] {
        roles.extend(list::<RoleObject>(home, plural, kind).await?.into_iter().map(Role::from));
    }
    let mut bindings = Vec::new();
    for (plural, kind) in [("clusterrolebindings", "ClusterRoleBinding"), ("rolebindings", "RoleBinding")] {
        bindings.extend(list::<BindingObject>(home, plural, kind).await?.into_iter().map(Binding::from));
    }
    Ok(Access::of(&rolewright_core::World::new(roles, bindings)))
}

async fn list<T: serde::de::DeserializeOwned>(home: &Home, plural: &str, kind: &str) -> Result<Vec<T>> {
    let mut items = home.get(&format!("{RBAC}/{plural}")).await?.body["items"].take();
    // List items carry no kind of their own.
    for item in items.as_array_mut().into_iter().flatten() {
        item["kind"] = json!(kind);
    }
    Ok(serde_json::from_value(items)?)
}

/// What should be so by now and is not.
pub(crate) fn unmet(expected: &Expected<'_>, access: &Access, way: Way) -> Vec<String> {
    let facts = expected.facts.iter().filter(|fact| way == Way::Ours || fact.theirs);
    let mut held: BTreeMap<_, RuleSet> = BTreeMap::new();
    let unmet = facts.filter(|fact| {
        let held = held.entry(fact.who.clone()).or_insert_with(|| access.effective(&fact.who, &Scope::Cluster));
        held.covers(&fact.rule) != fact.holds
    });
    let told = unmet.map(|fact| format!("{way:?}: {} has not `{:?}`: {}", fact.who, fact.rule, fact.holds));
    told.collect()
}

/// How many rights each decision explains, and what none does.
pub(crate) fn differences(
    expected: &Expected<'_>,
    there: &Access,
    here: &Access,
) -> (BTreeMap<&'static str, usize>, Vec<String>) {
    let (mut explained, mut unexplained) = (BTreeMap::new(), Vec::new());
    for change in there.changes(here) {
        let sides = [(true, &change.lost), (false, &change.gained)];
        for (lost, rule) in sides.into_iter().flat_map(|(lost, rules)| rules.iter().map(move |rule| (lost, rule))) {
            for ((group, resource), verb) in rule
                .api_groups
                .iter()
                .flat_map(|group| rule.resources.iter().map(move |resource| (group, resource)))
                .flat_map(|at| rule.verbs.iter().map(move |verb| (at, verb)))
            {
                let difference = Difference::new(&change.principal, &change.scope, lost, group, resource, verb);
                match DECISIONS.iter().find(|row| (row.explains)(expected, &difference)) {
                    Some(row) => *explained.entry(row.name).or_default() += 1,
                    None => unexplained.push(difference.to_string()),
                }
            }
        }
    }
    (explained, unexplained)
}
