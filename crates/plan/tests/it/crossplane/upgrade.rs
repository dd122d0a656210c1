//! From one revision to the next, and nobody notices.

use rolewright_core::{Access, Principal, RuleSet, Scope};
use rolewright_plan::crossplane::{DEPLOYMENT, InactiveRevisions, Manage, REVISION, Settings};
use rolewright_plan::rbac::CLUSTER_ROLE;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::world::{controlled, crd, inactive, owner, people, revision, rule, running};

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
