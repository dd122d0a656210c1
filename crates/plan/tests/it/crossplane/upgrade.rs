//! From one revision to the next, and nobody notices.

use rolewright_core::{Access, Principal, RuleSet, Scope};
use rolewright_plan::crossplane::{DEPLOYMENT, InactiveRevisions, Manage, REVISION, SERVED_RESOURCE, Settings};
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING};
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::world::{annotated, bound, controlled, crd, inactive, mrd, owned, owner, people, revision, rule, running};

const OLD: &[&str] = &["a.b.c", "b.b.c"];
const NEW: &[&str] = &["a.b.c", "b.b.c", "c.b.c"];

fn installed(settings: Settings) -> Cluster {
    let crds = OLD.iter().map(|name| controlled(crd(name), "p-1"));
    Cluster::new(settings, running(revision("p-1", OLD)).into_iter().chain(people()).chain(crds))
}

/// A definition that the new revision controls and the old one still owns.
fn handed_over(name: &str) -> Value {
    let mut crd = crd(name);
    crd["metadata"]["ownerReferences"] =
        json!([owner("ProviderRevision", "p-1", false), owner("ProviderRevision", "p-2", true)]);
    crd
}

fn core() -> Principal {
    Principal::User("system:serviceaccount:crossplane-system:crossplane".into())
}

fn everybody_still_may(access: &Access, manage: Manage) {
    let may = |who: Principal, text: &str| access.effective(&who, &Scope::Cluster).covers(&rule(text));
    assert!(may(core(), "* b.c a,b"), "Crossplane");
    if manage >= Manage::Basic {
        for (who, text) in
            [("admin", "* b.c a,a/status,b"), ("edit", "* b.c a,a/status,b"), ("view", "V b.c a,a/status,b")]
        {
            assert!(may(Principal::User(who.into()), text), "{who}");
        }
    }
}

/// What the package manager does, one step at a time. After every write everybody may do what they could.
fn upgrade(cluster: &mut Cluster, manage: Manage) {
    upgrade_in(cluster, manage, [0, 1, 2, 3, 4, 5, 6, 7]);
}

fn upgrade_in(cluster: &mut Cluster, manage: Manage, order: [usize; 8]) {
    let steps: [&dyn Fn(&mut Cluster); 8] = [
        &|cluster| cluster.set(&inactive(revision("p-1", OLD))),
        &|cluster| cluster.remove(&DEPLOYMENT, "crossplane-system", "p-1"),
        &|cluster| cluster.set(&revision("p-2", &[])),
        &|cluster| cluster.set(&handed_over("a.b.c")),
        &|cluster| cluster.set(&handed_over("b.b.c")),
        &|cluster| cluster.set(&controlled(crd("c.b.c"), "p-2")),
        &|cluster| cluster.set(&revision("p-2", NEW)),
        &|cluster| running(revision("p-2", NEW)).iter().for_each(|object| cluster.set(object)),
    ];
    for step in order {
        steps[step](cluster);
        cluster.settle_watched(|_, world| {
            everybody_still_may(&Access::of(world), manage);
            // Kubernetes may gather at any time.
            everybody_still_may(&Access::of(&world.clone().aggregated()), manage);
        });
        everybody_still_may(&cluster.access(), manage);
    }
}

#[test]
fn an_upgrade_takes_nothing_from_anybody() {
    for manage in [Manage::All, Manage::Basic, Manage::ServiceAccounts] {
        for user_roles in
            [rolewright_plan::crossplane::UserRoles::Aggregated, rolewright_plan::crossplane::UserRoles::Materialized]
        {
            let mut cluster = installed(Settings { manage, user_roles, ..Settings::default() });
            upgrade(&mut cluster, manage);
        }
    }
}

/// Each kind is watched for itself, so that news of one may come long after those of another.
#[test]
fn news_of_an_upgrade_may_come_in_another_order() {
    for order in
        [[2, 3, 6, 0, 1, 4, 5, 7], [2, 5, 6, 4, 3, 7, 0, 1], [0, 2, 6, 1, 3, 4, 5, 7], [5, 3, 2, 0, 6, 4, 7, 1]]
    {
        upgrade_in(&mut installed(Settings::default()), Manage::All, order);
    }
}

#[test]
fn people_follow_the_active_revision_and_crossplane_stays_while_anything_is_served() {
    let mut cluster = installed(Settings::default());
    upgrade(&mut cluster, Manage::All);
    cluster.expect(
        "crossplane:provider:p-1:",
        "role crossplane:provider:p-1:aggregate-to-edit
           labels aggregate-to-crossplane
           controlled by pkg.crossplane.io/v1 ProviderRevision p-1
           * b.c a,a/status,b,b/status
         role crossplane:provider:p-1:system
           labels system=p-1
           controlled by pkg.crossplane.io/v1 ProviderRevision p-1
           S b.c a,a/status,b,b/status
           update b.c */finalizers
           * core,coordination.k8s.io secrets,configmaps,events,leases
           * events.k8s.io events",
    );
    assert_eq!(cluster.names("crossplane:provider:p-2:").len(), 4);
    // Once nothing that it owns is served, only its account's role is left.
    for name in OLD {
        cluster.set(&controlled(crd(name), "p-2"));
    }
    cluster.settle();
    assert_eq!(cluster.names("crossplane:provider:p-1:"), ["role crossplane:provider:p-1:system"]);
}

#[test]
fn a_slow_pull_or_manual_activation_changes_nothing() {
    let mut cluster = installed(Settings::default());
    let page = cluster.page("crossplane:provider:p-1:aggregate");
    cluster.set(&inactive(revision("p-1", OLD)));
    cluster.set(&inactive(revision("p-2", &[])));
    cluster.settle();
    assert_eq!(cluster.page("crossplane:provider:p-1:aggregate"), page);
}

/// Somebody keeps us from filling a role of the new revision, so people keep what they have from the old one.
#[test]
fn who_has_less_than_it_brings_is_no_successor() {
    for role in ["aggregate-to-edit", "aggregate-to-view"] {
        let name = format!("crossplane:provider:p-2:{role}");
        let mut cluster = installed(Settings::default());
        cluster.set(&revision("p-2", &["a.b.c"]));
        cluster.settle();
        cluster.edit(&CLUSTER_ROLE, &name, |live| {
            live.meta.annotations.insert("rolewright.io/paused".into(), "true".into());
        });
        cluster.set(&revision("p-2", NEW));
        cluster.set(&inactive(revision("p-1", OLD)));
        cluster.settle_watched(|_, world| everybody_still_may(&Access::of(world), Manage::All));
        everybody_still_may(&cluster.access(), Manage::All);
        cluster.edit(&CLUSTER_ROLE, &name, |live| {
            live.meta.annotations.remove("rolewright.io/paused");
        });
        cluster.settle();
        everybody_still_may(&cluster.access(), Manage::All);
        assert_eq!(cluster.names("crossplane:provider:p-1:aggregate").len(), 1, "people have it from the new one");
    }
}

#[test]
fn rolling_back_is_the_same_the_other_way() {
    let mut cluster = installed(Settings::default());
    let page = cluster.page("crossplane:provider:p-1:");
    upgrade(&mut cluster, Manage::All);
    cluster.set(&inactive(revision("p-2", NEW)));
    for object in running(revision("p-1", OLD)) {
        cluster.set(&object);
    }
    cluster.settle_watched(|_, world| everybody_still_may(&Access::of(world), Manage::All));
    assert_eq!(cluster.page("crossplane:provider:p-1:"), page);
}

#[test]
fn the_way_of_crossplane_itself_is_a_setting() {
    let keep = Settings { inactive: InactiveRevisions::Keep, ..Settings::default() };
    let mut cluster = installed(keep.clone());
    let page = cluster.page("crossplane:provider:p-1:aggregate");
    upgrade(&mut cluster, Manage::All);
    assert_eq!(cluster.page("crossplane:provider:p-1:aggregate"), page);
    let mut follows = cluster.restarted(Settings::default());
    follows.settle();
    assert_eq!(follows.names("crossplane:provider:p-1:aggregate").len(), 1);
    let mut keeps = follows.restarted(keep);
    keeps.settle();
    assert_eq!(keeps.page("crossplane:provider:p-1:aggregate"), page);
}

#[test]
fn what_the_new_revision_no_longer_brings_goes_with_the_old_one() {
    let mut cluster = installed(Settings::default());
    cluster.set(&inactive(revision("p-1", OLD)));
    for object in running(revision("p-2", &["a.b.c"])) {
        cluster.set(&object);
    }
    cluster.settle();
    let edit = cluster.rights(&Principal::User("edit".into()));
    assert!(edit.covers(&rule("* b.c a")) && !edit.covers(&rule("get b.c b")));
    assert!(cluster.rights(&core()).covers(&rule("* b.c b")), "it is still served, so Crossplane can clean up");
    cluster.remove(&REVISION, "", "p-1");
    cluster.settle();
    let left: RuleSet = cluster.rights(&core());
    assert!(left.covers(&rule("* b.c a")) && !left.covers(&rule("get b.c b")));
}

/// Its list is written before its roles are, and its roles may be short of what it brings at any time.
#[test]
fn nobody_gets_anew_what_goes_with_an_old_revision() {
    let gone = rule("get b.c b");
    let has_it = |world: &rolewright_core::World| {
        ["edit", "view"].into_iter().any(|who| {
            let access = Access::of(&world.clone().aggregated());
            access.effective(&Principal::User(who.into()), &Scope::Cluster).covers(&gone)
        })
    };
    let objects = || running(revision("p-2", &["a.b.c"])).into_iter().chain(people());
    let mut cluster = Cluster::unsettled(Settings::default(), objects().chain([inactive(revision("p-1", OLD))]));
    cluster.settle_watched(|op, world| assert!(!has_it(world), "at the start: {op}"));
    for role in ["aggregate-to-edit", "aggregate-to-view"] {
        cluster.remove(&CLUSTER_ROLE, "", &format!("crossplane:provider:p-2:{role}"));
        cluster.settle_watched(|op, world| assert!(!has_it(world), "{role} of the new one was deleted: {op}"));
    }
    cluster.set(&controlled(crd("c.b.c"), "p-2"));
    cluster.settle_watched(|op, world| assert!(!has_it(world), "the new one brings more: {op}"));
    let mut lower = cluster.restarted(Settings { manage: Manage::ServiceAccounts, ..Settings::default() });
    lower.settle();
    let mut higher = lower.restarted(Settings::default());
    higher.settle_watched(|op, world| assert!(!has_it(world), "people are looked after again: {op}"));
}

/// Crossplane serves what a definition of a managed resource says on behalf of that, and of who controls it at the time.
#[test]
fn crossplane_keeps_what_is_served_through_a_definition_of_an_old_revision() {
    let managed = || owned(mrd("b.b.c"), "p-1", false);
    let mut served = crd("b.b.c");
    served["metadata"]["ownerReferences"] = json!([{"apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "ManagedResourceDefinition", "name": "b.b.c", "uid": "u", "controller": true}]);
    let mut cluster = installed(Settings::default());
    for name in OLD {
        cluster.remove(&SERVED_RESOURCE, "", name);
    }
    for object in running(revision("p-2", &["a.b.c"])).into_iter().chain([managed(), served.clone()]) {
        cluster.set(&object);
    }
    cluster.set(&inactive(revision("p-1", OLD)));
    cluster.settle();
    let may = |cluster: &Cluster, who: Principal| cluster.rights(&who).covers(&rule("get b.c b"));
    assert!(may(&cluster, core()) && !may(&cluster, Principal::User("edit".into())));
    cluster.remove(&SERVED_RESOURCE, "", "b.b.c");
    cluster.settle();
    assert!(!may(&cluster, core()), "it is served no more");
    cluster.set(&served);
    cluster.settle();
    assert!(may(&cluster, core()), "and again");
}

/// Somebody bound a role of the old revision: it is theirs, and nobody gathers it.
#[test]
fn whoever_bound_a_role_of_an_old_revision_keeps_it() {
    for role in ["aggregate-to-edit", "aggregate-to-view"] {
        let name = format!("crossplane:provider:p-1:{role}");
        let bob = || bound("bob", "", &name);
        let mut cluster = installed(Settings::default());
        cluster.set(&bob());
        cluster.settle();
        for object in running(revision("p-2", &["a.b.c"])) {
            cluster.set(&object);
        }
        for name in OLD {
            cluster.remove(&SERVED_RESOURCE, "", name);
        }
        cluster.set(&inactive(revision("p-1", OLD)));
        cluster.settle();
        let may = |who: &str| cluster.rights(&Principal::User(who.into())).covers(&rule("get b.c b"));
        assert!(may("bob") && !may("edit") && !may("view"), "{role}");
        cluster.remove(&CLUSTER_ROLE_BINDING, "", bob()["metadata"]["name"].as_str().unwrap());
        cluster.settle();
        assert!(cluster.find(&CLUSTER_ROLE, &name).is_none(), "{role}: nobody needs it any more");
    }
}

/// What keeps a revision from being followed may go without anything being written.
#[test]
fn a_revision_is_followed_once_less_is_brought() {
    let mut cluster = installed(Settings::default());
    for object in running(revision("p-2", OLD)) {
        cluster.set(&object);
    }
    cluster.settle();
    cluster.set(&annotated(revision("p-2", OLD), "rolewright.io/paused", "true"));
    cluster.set(&controlled(crd("c.b.c"), "p-2"));
    cluster.set(&inactive(revision("p-1", OLD)));
    cluster.settle();
    assert_eq!(cluster.names("crossplane:provider:p-1:aggregate").len(), 2, "nobody else gives all of it yet");
    cluster.remove(&SERVED_RESOURCE, "", "c.b.c");
    cluster.settle();
    assert_eq!(cluster.names("crossplane:provider:p-1:aggregate").len(), 1, "Crossplane has what is served");
}
