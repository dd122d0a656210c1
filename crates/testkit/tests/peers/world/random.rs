//! Random worlds, and what random things happen to them. Each seed has its own names, so that worlds can live side by side.

use rolewright_testkit::random::Random;

use super::{Definition, Deployment, ELSEWHERE, HOME, IMAGES, Image, Reference, Revision, Served, World};

const ACCOUNTS: usize = 3;
const OTHERS: [Reference; 5] = [
    Reference::Other("v1", "ConfigMap", "settings.example.org"),
    Reference::Other("apps/v1", "CustomResourceDefinition", "wrong.group.example.org"),
    Reference::Other("apiextensions.k8s.io/v1", "Other", "wrong.kind.example.org"),
    Reference::Other("apiextensions.k8s.io/v1/v1", "CustomResourceDefinition", "wrong.version.example.org"),
    Reference::Other("apiextensions.k8s.io/v1", "CustomResourceDefinition", "nodot"),
];

/// The world of a seed.
pub(crate) fn drawn(seed: u64) -> World {
    let mut random = Random::new(seed);
    let mut world = World::default();
    for index in 0..random.below(4) {
        world.definitions.push(definition(&mut random, seed, index));
    }
    for package in 0..=random.below(4) {
        let active = random.below(4);
        for index in 0..=random.below(3) {
            revision(&mut random, &mut world, seed, package, index, index == active);
        }
    }
    world
}

fn definition(random: &mut Random, seed: u64, index: usize) -> Definition {
    let plural = format!("xs{index}");
    let claim = random.one_in(2).then(|| format!("claims{index}"));
    let scope = match (&claim, random.below(3)) {
        (_, 0) => None,
        (Some(_), _) => Some("LegacyCluster"),
        (None, 1) => Some("Namespaced"),
        (None, _) => Some("Cluster"),
    };
    Definition { plural, group: format!("x{seed}.example.org"), claim, scope, paused: random.one_in(10) }
}

fn name(random: &mut Random, seed: u64) -> String {
    let group = random.of(&["p", "q.p", "r"]);
    let plural = random.of(&["as", "bs", "cs", "ds", "configs", "configusages"]);
    format!("{plural}.{group}{seed}.example.org")
}

fn reference(random: &mut Random, seed: u64) -> Reference {
    match random.below(8) {
        0 => random.of(&OTHERS).clone(),
        1 | 2 => Reference::Managed(name(random, seed)),
        _ => Reference::Served(name(random, seed)),
    }
}

fn revision(random: &mut Random, world: &mut World, seed: u64, package: usize, index: usize, active: bool) {
    let package = format!("s{seed}-p{package}");
    let name = format!("{package}-{index}");
    let count = random.below(5);
    world.revisions.push(Revision {
        name: name.clone(),
        active,
        image: Image(if random.one_in(2) { 0 } else { random.below(IMAGES.len()) }),
        family: (!random.one_in(3)).then(|| format!("s{seed}-family-{}", random.below(2))),
        refs: (0..count).map(|_| reference(random, seed)).collect(),
        capabilities: random.of(&[&[][..], &[], &["safe-start"], &["Safe_Start", "x"], &["safe", "start"]]).to_vec(),
        package,
    });
    for number in 0..random.below(3) {
        world.deployments.push(Deployment {
            namespace: if random.one_in(4) { ELSEWHERE } else { HOME },
            name: format!("{name}-{number}"),
            revision: name.clone(),
            account: format!("s{seed}-account-{}", random.below(ACCOUNTS)),
            controlled: !random.one_in(4),
        });
    }
    if random.one_in(5) {
        world.accounts.push((name.clone(), format!("{name}-own")));
    }
    if random.one_in(6) {
        let served = format!("served{}.s{seed}.example.org", world.served.len());
        if let Some(revision) = world.revisions.last_mut().filter(|_| random.one_in(2)) {
            revision.refs.push(Reference::Served(served.clone()));
        }
        world.served.push(Served { name: served, revision: name, managed: random.one_in(2) });
    }
}

/// The same world after something happened.
pub(crate) fn changed(world: &World, seed: u64) -> World {
    let mut random = Random::new(seed ^ 0xc4a9);
    let mut world = world.clone();
    for _ in 0..=random.below(4) {
        change(&mut random, &mut world, seed);
    }
    world
}

fn change(random: &mut Random, world: &mut World, seed: u64) {
    let revision = random.below(world.revisions.len().max(1));
    match random.below(9) {
        0 => {
            let package = world.revisions.get(revision).map(|revision| revision.package.clone());
            for (index, other) in world.revisions.iter_mut().enumerate() {
                if Some(&other.package) == package.as_ref() {
                    other.active = index == revision;
                }
            }
        }
        1 => world.revisions.get_mut(revision).into_iter().for_each(|revision| revision.active = false),
        2 if world.revisions.len() > 1 => {
            let gone = world.revisions.remove(revision).name;
            world.deployments.retain(|deployment| deployment.revision != gone);
            world.accounts.retain(|(owner, _)| *owner != gone);
            world.served.retain(|served| served.revision != gone);
        }
        3 => {
            let reference = reference(random, seed);
            world.revisions.get_mut(revision).into_iter().for_each(|revision| revision.refs.push(reference.clone()));
        }
        4 => world.revisions.get_mut(revision).into_iter().for_each(|revision| revision.family = None),
        5 if !world.definitions.is_empty() => {
            world.definitions.remove(random.below(world.definitions.len()));
        }
        6 => {
            let without = world.definitions.iter_mut().find(|one| one.claim.is_none() && one.scope.is_none());
            if let Some(definition) = without {
                definition.claim = Some("laterclaims".to_owned());
            }
        }
        7 if !world.deployments.is_empty() => {
            world.deployments.remove(random.below(world.deployments.len()));
        }
        _ => {
            let account = format!("s{seed}-account-{}", random.below(ACCOUNTS));
            world.deployments.last_mut().into_iter().for_each(|last| last.account.clone_from(&account));
        }
    }
}
