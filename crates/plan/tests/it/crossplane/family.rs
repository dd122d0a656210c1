//! Providers that use each other's resources (spec 1.4).

mod leaning;

use std::collections::BTreeSet;

use rolewright_core::Principal;
use rolewright_plan::crossplane::{Boundary, FamilyRoles, REVISION, Settings};
use rolewright_plan::engine::News;
use rolewright_plan::object::Status;
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING};
use rolewright_plan::simulation::Simulation;
use rolewright_plan::{Live, Op, Time};
use serde_json::{Value, json};

use super::cluster::{Cluster, words};
use super::world::{bound, controlled, crd, deleting, family, image, inactive, people, revision, role, rule, running};

fn member(name: &str, crds: &[&str]) -> Value {
    family(revision(name, crds), "aws")
}

fn shared() -> Settings {
    Settings { family_roles: FamilyRoles::Shared, ..Settings::default() }
}

fn account(revision: &str) -> Principal {
    Principal::User(format!("system:serviceaccount:crossplane-system:{revision}").into())
}

fn holds(cluster: &Cluster, role: &str, text: &str) -> bool {
    rolewright_core::RuleSet::new(&cluster.rules_of(role)).covers(&rule(text))
}

#[test]
fn each_member_holds_what_all_bring() {
    let outsider = revision("gcp-1", &["d.gcp.io"]);
    let objects = [
        member("s3-1", &["a.s3.io"]),
        member("ec2-1", &["b.ec2.io"]),
        family(revision("azure-1", &["c.az.io"]), "azure"),
        outsider,
    ];
    let cluster = Cluster::new(Settings::default(), objects);
    for (name, own) in [("s3-1", "s3.io a,a/status"), ("ec2-1", "ec2.io b,b/status")] {
        let page = cluster.page(&format!("crossplane:provider:{name}:system"));
        let rules: Vec<&str> = page.lines().skip(3).take(2).map(str::trim).collect();
        assert_eq!(rules, ["S ec2.io b,b/status", "S s3.io a,a/status"]);
        assert!(!page.contains("az.io") && !page.contains("gcp.io"));
        // People have the others' through the others' own roles.
        for (role, verbs) in [("aggregate-to-edit", "*"), ("aggregate-to-view", "V")] {
            let page = cluster.page(&format!("crossplane:provider:{name}:{role}"));
            let rules: Vec<&str> = page.lines().skip(3).map(str::trim).collect();
            assert_eq!(rules, [format!("{verbs} {own}")]);
        }
    }
    assert!(!cluster.page("crossplane:provider:azure-1").contains("s3.io"));
    assert!(!cluster.page("crossplane:provider:gcp-1").contains("s3.io"));
    assert_eq!(cluster.told(), Vec::<&str>::new());
}

#[test]
fn old_revisions_are_members_and_nothing_is_said_twice() {
    let objects = || {
        [
            member("s3-1", &["a.s3.io"]),
            inactive(member("s3-0", &["a.s3.io", "old.s3.io"])),
            member("ec2-1", &["b.ec2.io"]),
        ]
    };
    let cluster = Cluster::new(Settings::default(), objects());
    assert!(cluster.page("crossplane:provider:ec2-1:system").contains("S s3.io a,a/status,old,old/status\n"));
    for person in people() {
        let mut cluster = Cluster::new(Settings::default(), objects().into_iter().chain([person.clone()]));
        let who = Principal::User(person["subjects"][0]["name"].as_str().unwrap().into());
        assert!(!cluster.rights(&who).covers(&rule("get s3.io old")), "what only the old one brings is not for people");
        cluster.remove(&REVISION, "", "s3-1");
        cluster.settle();
        let looks = who != Principal::User("browse".into());
        assert_eq!(cluster.rights(&who).covers(&rule("get s3.io old")), looks, "until it is the only one");
    }
}

#[test]
fn one_organisation_of_one_registry_is_one_publisher() {
    for (one, other, expected) in [
        ("xpkg.io/acme/p:v1", "xpkg.io/acme/q:v2", true),
        ("acme/p:v1", "acme/q:v2", true),
        ("xpkg.io/acme/p:v1", "xpkg.io/evil/q:v1", false),
        ("xpkg.io/acme/p:v1", "ghcr.io/acme/q:v1", false),
        ("xpkg.io/acme/p:v1", "acme/q:v1", false),
        ("acme/p:v1", "xpkg.io/acme/q:v1", false),
        ("xpkg.io/acme/p:v1", "XPKG IO/acme/q", false),
        ("not a reference", "not a reference", false),
        ("", "", false),
    ] {
        let objects = [image(member("p-1", &["a.p.io"]), one), image(member("q-1", &["b.q.io"]), other)];
        let cluster = Cluster::new(Settings::default(), objects);
        assert_eq!(holds(&cluster, "crossplane:provider:p-1:system", "get q.io b"), expected, "{one} {other}");
        assert_eq!(holds(&cluster, "crossplane:provider:q-1:system", "get p.io a"), expected, "{one} {other}");
        assert_eq!(cluster.told().len(), if expected { 0 } else { 2 }, "{one} {other}: {:?}", cluster.told());
    }
}

#[test]
fn whoever_is_left_out_is_told_why_and_how_to_trust_them() {
    let objects = || {
        [
            image(member("p-1", &["a.p.io"]), "xpkg.io/acme/p:v1"),
            image(member("q-1", &["b.q.io"]), "ghcr.io/acme/q:v1"),
            image(member("r-1", &["c.r.io"]), "ghcr.io/other/r:v1"),
        ]
    };
    let cluster = Cluster::new(Settings::default(), objects());
    assert_eq!(
        cluster.told()[0],
        "RW0204 ProviderRevision/p-1: `q-1` (and 1 more) is of the family `aws` but from `ghcr.io/acme`, not from `xpkg.io/acme`: neither reaches the other's resources"
    );
    let trusted = vec![vec!["xpkg.io/acme".into(), "ghcr.io/acme".into()]];
    let cluster = Cluster::new(Settings { trusted, ..Settings::default() }, objects());
    for (role, text, expected) in [
        ("p-1", "get q.io b", true),
        ("q-1", "get p.io a", true),
        ("p-1", "get r.io c", false),
        ("r-1", "get p.io a", false),
    ] {
        assert_eq!(holds(&cluster, &format!("crossplane:provider:{role}:system"), text), expected, "{role} {text}");
    }
    assert_eq!(
        cluster.told(),
        [
            "RW0204 ProviderRevision/r-1: `p-1` (and 1 more) is of the family `aws` but from `ghcr.io/acme`, not from `ghcr.io/other`: neither reaches the other's resources"
        ],
        "the third is still a stranger to both, who need not know"
    );
    let ready = |name: &str| cluster.get(&REVISION, name).conditions.iter().all(|one| one.status == Status::True);
    assert_eq!(["p-1", "q-1", "r-1"].map(ready), [true, true, false]);
}

#[test]
fn joining_and_leaving_converges_in_one_write_for_each_role() {
    let mut cluster = Cluster::new(Settings::default(), [member("a-1", &["a.a.io"]), member("b-1", &["b.b.io"])]);
    cluster.set(&member("c-1", &["c.c.io"]));
    assert_eq!(words(&cluster.settle()).len(), 3 + 2, "three roles of its own, and those of the others' accounts");
    cluster.set(&member("c-1", &["c.c.io", "d.c.io"]));
    assert_eq!(words(&cluster.settle()).len(), 3 + 2);
    let mut left = revision("c-1", &["c.c.io", "d.c.io"]);
    left["metadata"]["labels"]["pkg.crossplane.io/provider-family"] = json!("");
    cluster.set(&left);
    assert_eq!(words(&cluster.settle()).len(), 3, "those of all three accounts");
    assert!(!cluster.page("crossplane:provider:a-1").contains("c.io"));
    assert!(!cluster.page("crossplane:provider:c-1").contains("a.io"));
    cluster.remove(&REVISION, "", "b-1");
    assert_eq!(words(&cluster.settle()).len(), 3 + 1);
    assert!(!cluster.page("crossplane:provider:a-1").contains("b.io"));
}

#[test]
fn one_that_is_on_its_way_out_is_a_member_until_it_is_gone() {
    for settings in [Settings::default(), shared()] {
        let objects = running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
        let mut cluster = Cluster::new(settings, objects);
        cluster.set(&deleting(member("b-1", &["b.b.io"])));
        cluster.settle();
        for name in ["a-1", "b-1"] {
            let rights = cluster.rights(&account(name));
            assert!(rights.covers(&rule("get a.io a")) && rights.covers(&rule("get b.io b")), "{name}");
        }
        cluster.remove(&REVISION, "", "b-1");
        cluster.settle();
        assert!(!cluster.rights(&account("a-1")).covers(&rule("get b.io b")));
    }
}

#[test]
fn a_shared_role_holds_the_union_once() {
    let objects = running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let cluster = Cluster::new(shared(), objects);
    let family = cluster.names("crossplane:provider-family:");
    let [role, binding] = family.as_slice() else { panic!("{family:?}") };
    let name = role.strip_prefix("role ").unwrap();
    assert!(name.starts_with("crossplane:provider-family:aws:") && name.ends_with(":system"), "{name}");
    assert_eq!(*binding, format!("binding {name}"));
    cluster.expect(
        "crossplane:provider-family:",
        &format!(
            "role {name}
               owned by pkg.crossplane.io/v1 ProviderRevision a-1
               owned by pkg.crossplane.io/v1 ProviderRevision b-1
               S a.io a,a/status
               S b.io b,b/status
               update a.io,b.io */finalizers
             binding {name}
               owned by pkg.crossplane.io/v1 ProviderRevision a-1
               owned by pkg.crossplane.io/v1 ProviderRevision b-1
               to {name}
               for ServiceAccount crossplane-system:a-1
               for ServiceAccount crossplane-system:b-1"
        ),
    );
    assert!(!cluster.page("crossplane:provider:a-1").contains("b.io"));
    for name in ["a-1", "b-1"] {
        let rights = cluster.rights(&account(name));
        assert!(
            rights.covers(&rule("update a.io a/status")) && rights.covers(&rule("update b.io b/finalizers")),
            "{name}"
        );
    }
}

/// What a family shares is as much ours as what a member has.
#[test]
fn what_is_shared_comes_back_as_it_was() {
    let objects = running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let mut cluster = Cluster::new(shared(), objects);
    let name = cluster.names("crossplane:provider-family:")[0].replace("role ", "");
    let page = cluster.page("crossplane:provider");
    for kind in [&CLUSTER_ROLE, &CLUSTER_ROLE_BINDING] {
        cluster.remove(kind, "", &name);
        cluster.settle();
        assert_eq!(cluster.page("crossplane:provider"), page, "{kind}: it was deleted");
        let mut other = if *kind == CLUSTER_ROLE { role(&name, &["get x.io x"]) } else { bound("eve", "", &name) };
        other["metadata"]["name"] = json!(name);
        let other = Live::read(kind, &other).unwrap();
        for what in ["owners", "labels", "content"] {
            cluster.edit(kind, &name, |live| match what {
                "owners" => live.meta.owners.clone_from(&other.meta.owners),
                "labels" => live.meta.labels.clone_from(&other.meta.labels),
                _ => live.body.clone_from(&other.body),
            });
            cluster.settle();
            assert_eq!(cluster.page("crossplane:provider"), page, "{kind}: {what}");
        }
    }
}

#[test]
fn while_the_shared_role_cannot_be_bound_each_member_keeps_a_copy() {
    let objects = || running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let name = Cluster::new(shared(), objects()).names("crossplane:provider-family:")[0].replace("role ", "");
    let mut taken = bound("somebody", "", "view");
    taken["metadata"]["name"] = json!(name);
    let cluster = Cluster::new(shared(), objects().chain([taken]));
    assert!(cluster.told()[0].starts_with(&format!("RW0003 ClusterRoleBinding/{name}: ")), "{:?}", cluster.told());
    for name in ["a-1", "b-1"] {
        let rights = cluster.rights(&account(name));
        assert!(rights.covers(&rule("get a.io a")) && rights.covers(&rule("get b.io b")), "{name}");
    }
}

/// It brings nothing itself, so its copy is all that it has.
#[test]
fn a_member_that_brings_nothing_lets_go_of_its_copy() {
    let objects = || running(member("a-1", &[])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let name = Cluster::new(shared(), objects()).names("crossplane:provider-family:")[0].replace("role ", "");
    let mut taken = bound("somebody", "", "view");
    taken["metadata"]["name"] = json!(name);
    let mut cluster = Cluster::new(shared(), objects().chain([taken]));
    let system = "crossplane:provider:a-1:system";
    assert!(holds(&cluster, system, "get b.io b"));
    cluster.remove(&CLUSTER_ROLE_BINDING, "", &name);
    cluster.settle();
    assert!(!holds(&cluster, system, "get b.io b"));
    assert!(cluster.rights(&account("a-1")).covers(&rule("get b.io b")), "it has that from the family's role");
}

#[test]
fn sharing_alone_is_no_sharing() {
    let objects = [image(member("a-1", &["a.a.io"]), "x.io/a/p"), image(member("b-1", &["b.b.io"]), "x.io/b/p")];
    let cluster = Cluster::new(shared(), objects);
    assert_eq!(cluster.names("crossplane:provider-family:"), Vec::<String>::new());
}

#[test]
fn from_replicated_to_shared_and_back() {
    let objects = running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let replicated = Cluster::new(Settings::default(), objects);
    let page = replicated.page("crossplane:provider");
    let mut sharing = replicated.restarted(shared());
    sharing.settle();
    assert_ne!(sharing.page("crossplane:provider"), page);
    assert!(sharing.access().equivalent(&replicated.access()));
    let mut back = sharing.restarted(Settings::default());
    back.settle();
    assert_eq!(back.page("crossplane:provider"), page);
}

#[test]
fn a_change_of_a_large_family_is_one_write_where_it_is_shared() {
    let members: Vec<Value> =
        (0..20).flat_map(|n| running(member(&format!("p{n}-1"), &[&format!("a.p{n}.io")]))).collect();
    let mut cluster = Cluster::new(shared(), members);
    let family = cluster.names("crossplane:provider-family:")[0].replace("role ", "ClusterRole/");
    // The same by the list and by an owner: what is looked at counts, not only what is written.
    let listed = member("p7-1", &["a.p7.io", "c.p7.io"]);
    for gained in [controlled(crd("b.p7.io"), "p7-1"), listed] {
        cluster.engine.news();
        cluster.set(&gained);
        let written = Simulation::on(cluster.engine.snapshot()).settle(&mut cluster.engine, Time(u64::MAX / 2));
        let written: Vec<Op> = written.into_iter().map(|(_, op)| op).collect();
        let written = words(&written);
        let looked: BTreeSet<String> = cluster.engine.news().into_iter().filter_map(looked_at).collect();
        assert_eq!(looked, BTreeSet::from([family.clone(), "ProviderRevision/p7-1".to_owned()]));
        let of_providers = written.iter().filter(|op| op.contains("crossplane:provider")).count();
        assert_eq!(of_providers, 3 + 1, "its own three roles and the family's: {written:?}");
        cluster.settle();
    }
}

/// A key of the module that was looked at and has nothing to write any more.
fn looked_at(news: News) -> Option<String> {
    match news {
        // The roles of people gather what others bring.
        News::Converged("crossplane", key, _) => Some(key.to_string()).filter(|key| key.contains("rovider")),
        _ => None,
    }
}

#[test]
fn what_is_shared_and_cannot_be_written_is_copied() {
    let objects = || running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let mut cluster = Cluster::new(shared(), objects());
    let name = cluster.names("crossplane:provider-family:")[0].replace("role ", "");
    cluster.edit(&CLUSTER_ROLE, &name, |live| {
        live.meta.annotations.insert("rolewright.io/paused".into(), "true".into());
    });
    cluster.settle();
    cluster.set(&controlled(crd("c.b.io"), "b-1"));
    cluster.settle();
    assert!(!holds(&cluster, &name, "get b.io c"));
    for name in ["a-1", "b-1"] {
        assert!(cluster.rights(&account(name)).covers(&rule("get b.io c")), "{name}");
    }
    cluster.edit(&CLUSTER_ROLE, &name, |live| drop(live.meta.annotations.remove("rolewright.io/paused")));
    cluster.settle();
    assert!(holds(&cluster, &name, "get b.io c") && !holds(&cluster, "crossplane:provider:a-1:system", "get b.io c"));
}

#[test]
fn what_is_bounded_is_shared_as_well() {
    let limit = role("limit", &["get,list a.io,b.io *"]);
    let bounded =
        |settings: Settings| Settings { boundary_role: Some("limit".into()), boundary: Boundary::All, ..settings };
    let objects = running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let replicated = Cluster::new(bounded(Settings::default()), objects.chain([limit]));
    let page = replicated.page("crossplane:provider");
    let mut sharing = replicated.restarted(bounded(shared()));
    sharing.settle();
    let family = sharing.names("crossplane:provider-family:")[0].replace("role ", "");
    assert!(holds(&sharing, &family, "get,list b.io b") && !holds(&sharing, &family, "update b.io b"));
    assert!(!holds(&sharing, "crossplane:provider:a-1:system", "get b.io b"), "it leans on the family's role");
    // A boundary that is another is heeded at once.
    sharing.set(&role("limit", &["get a.io,b.io *"]));
    sharing.settle();
    assert!(holds(&sharing, &family, "get b.io b") && !holds(&sharing, &family, "list b.io b"));
    assert!(!holds(&sharing, "crossplane:provider:a-1:system", "get b.io b"));
    sharing.set(&role("limit", &["get,list a.io,b.io *"]));
    sharing.settle();
    let mut back = sharing.restarted(bounded(Settings::default()));
    back.settle();
    assert_eq!(back.page("crossplane:provider"), page);
    assert_eq!(back.names("crossplane:provider-family:"), Vec::<String>::new());
}
