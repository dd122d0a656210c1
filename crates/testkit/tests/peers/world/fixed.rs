//! One world with everything that can be told apart.

use super::{Definition, Deployment, ELSEWHERE, HOME, Image, Reference, Revision, Served, World};

fn definition(plural: &str, claim: Option<&str>, scope: Option<&'static str>) -> Definition {
    let claim = claim.map(str::to_owned);
    Definition { plural: plural.to_owned(), group: "fixed.example.org".to_owned(), claim, scope, paused: false }
}

fn served(names: &[&str]) -> Vec<Reference> {
    names.iter().map(|name| Reference::Served(format!("{name}.example.org"))).collect()
}

fn revision(
    package: &str,
    suffix: &str,
    active: bool,
    family: Option<(&str, usize)>,
    refs: Vec<Reference>,
) -> Revision {
    Revision {
        package: package.to_owned(),
        name: format!("{package}-{suffix}"),
        active,
        image: Image(family.map_or(0, |(_, image)| image)),
        family: family.map(|(name, _)| name.to_owned()),
        refs,
        capabilities: Vec::new(),
    }
}

fn deployment(revision: &str, namespace: &'static str, account: &str, controlled: bool) -> Deployment {
    let name = format!("{}-{account}{}", &revision[..revision.len().min(40)], u8::from(controlled));
    Deployment { namespace, name, revision: revision.to_owned(), account: account.to_owned(), controlled }
}

/// A world in which nothing is in dispute, but for what every provider gets.
pub(crate) fn undisputed() -> World {
    // The name is longer than a label may be; its first part, the plural, is not.
    let long = "very-long-".repeat(5);
    let mut safe = revision("safe", "a", true, None, served(&["objects.safe"]));
    safe.capabilities = vec!["Safe_Start"];
    let mut managed =
        revision("managed", "a", true, None, served(&["providerconfigs.managed", "configusages.managed"]));
    managed.refs.push(Reference::Managed("queues.managed.example.org".to_owned()));
    managed.refs.push(Reference::Served("providerconfigs.managed.example.org".to_owned()));
    World {
        definitions: vec![
            definition("xdatabases", Some("databases"), None),
            definition("xnetworks", None, None),
            definition("buckets", None, Some("Namespaced")),
            definition("clusters", None, Some("Cluster")),
            definition("olds", Some("oldclaims"), Some("LegacyCluster")),
            definition(&format!("{long}x"), None, None),
        ],
        revisions: vec![
            revision("helm", "a", true, None, served(&["releases.helm", "providerconfigs.helm"])),
            revision("empty", "a", true, None, vec![Reference::Other("v1", "ConfigMap", "a.b.c")]),
            // The next one is not there yet, or was not approved.
            revision("manual", "a", false, None, served(&["waits.manual"])),
            safe,
            managed,
            revision("cloud", "a", true, Some(("cloud", 0)), served(&["providerconfigs.cloud"])),
            revision(
                "cloud-compute",
                "a",
                true,
                Some(("cloud", 1)),
                served(&["vms.compute.cloud", "disks.compute.cloud"]),
            ),
            revision("cloud-network", "a", true, Some(("cloud", 2)), served(&["vpcs.network.cloud"])),
            revision("cloud-stranger", "a", true, Some(("cloud", 3)), served(&["thefts.stranger"])),
            revision("cloud-unknown", "a", true, Some(("cloud", 10)), served(&["thefts.unknown"])),
        ],
        deployments: vec![
            deployment("helm-a", HOME, "helm", true),
            deployment("empty-a", HOME, "empty", true),
            deployment("safe-a", HOME, "safe", true),
            deployment("managed-a", HOME, "managed", true),
            deployment("cloud-a", HOME, "cloud", true),
            deployment("cloud-compute-a", HOME, "compute", true),
            // Two providers with one account, and one with two.
            deployment("cloud-network-a", HOME, "compute", true),
            deployment("cloud-network-a", HOME, "network", true),
            deployment("cloud-stranger-a", HOME, "stranger", true),
            deployment("cloud-unknown-a", HOME, "unknown", true),
        ],
        accounts: vec![("helm-a".to_owned(), "helm".to_owned())],
        served: vec![
            Served { name: "releases.helm.example.org".to_owned(), revision: "helm-a".to_owned(), managed: false },
            Served { name: "queues.managed.example.org".to_owned(), revision: "managed-a".to_owned(), managed: true },
        ],
    }
}

/// The same with everything that we decided otherwise.
pub(crate) fn disputed() -> World {
    let mut world = undisputed();
    let mut long = revision("long", "a", true, None, served(&["ones.long"]));
    long.name = format!("{}a", "very-long-".repeat(7));
    let mut paused = definition("xpaused", Some("paused"), None);
    paused.paused = true;
    world.definitions.push(paused);
    // What a provider serves.
    let taken = Definition { group: "helm.example.org".to_owned(), ..definition("releases", None, None) };
    world.definitions.push(taken);
    world.revisions.extend([
        revision("upgraded", "a", false, None, served(&["kept.upgraded", "dropped.upgraded"])),
        revision("upgraded", "b", true, None, served(&["kept.upgraded", "new.upgraded"])),
        revision("serving", "a", false, None, served(&["still.serving"])),
        revision("serving", "b", true, None, served(&["new.serving"])),
        revision("unlisted", "a", true, None, served(&["listed.unlisted"])),
        revision("unnamed", "a", true, None, served(&["ones.unnamed"])),
        revision("own", "a", true, None, served(&["ones.own"])),
        // In a family, too, people have what the active one brings.
        revision("cloud-upgraded", "a", false, Some(("cloud", 1)), served(&["dropped.upgraded.cloud"])),
        revision("cloud-upgraded", "b", true, Some(("cloud", 1)), served(&["new.upgraded.cloud"])),
    ]);
    world.deployments.push(deployment(&long.name, HOME, "long", true));
    world.revisions.push(long);
    world.deployments.extend([
        deployment("upgraded-a", HOME, "upgraded", true),
        deployment("upgraded-b", HOME, "upgraded-b", true),
        deployment("helm-a", ELSEWHERE, "foreign", true),
        deployment("helm-a", HOME, "uncontrolled", false),
        deployment("unlisted-a", HOME, "unlisted", true),
        deployment("unnamed-a", HOME, "", true),
        deployment("unnamed-a", HOME, "named", true),
    ]);
    world.accounts.push(("own-a".to_owned(), "own".to_owned()));
    // Crossplane keeps the account of a revision that it deactivates.
    world.accounts.push(("serving-a".to_owned(), "serving".to_owned()));
    for (name, revision) in [("still.serving", "serving-a"), ("hidden.unlisted", "unlisted-a")] {
        let name = format!("{name}.example.org");
        world.served.push(Served { name, revision: revision.to_owned(), managed: false });
    }
    world
}

/// The same later: one more is without resources, one more is inactive, and somebody leaves the family.
pub(crate) fn later() -> World {
    let mut world = disputed();
    world.definitions.remove(1);
    for revision in &mut world.revisions {
        match revision.name.as_str() {
            "safe-a" => revision.refs.clear(),
            "cloud-network-a" => revision.family = None,
            "manual-a" => revision.active = true,
            _ => {}
        }
    }
    world
}
