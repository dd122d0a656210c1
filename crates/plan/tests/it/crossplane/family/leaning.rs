//! Who bound a role of a member themselves, and so leans on what it holds (docs/adr/0012).

use rolewright_plan::crossplane::Settings;
use rolewright_plan::rbac::CLUSTER_ROLE;
use serde_json::{Value, json};

use super::{account, holds, member, shared};
use crate::crossplane::cluster::{Cluster, KINDS};
use crate::crossplane::world::{bound, controlled, crd, role, rule, running};

/// A role of `a-1` as Crossplane's own manager wrote it: with all that the family brings.
fn whole(part: &str) -> Value {
    let verbs = match part {
        "aggregate-to-edit" => "*",
        "aggregate-to-view" => "V",
        _ => "V,update,patch,create",
    };
    let rules = ["a", "b"].map(|name| format!("{verbs} {name}.io {name},{name}/status"));
    controlled(role(&format!("crossplane:provider:a-1:{part}"), &rules.each_ref().map(String::as_str)), "a-1")
}

/// Which of a member's roles hold something.
fn holders(cluster: &Cluster, member: &str, text: &str) -> Vec<&'static str> {
    let all = ["aggregate-to-edit", "aggregate-to-view", "system"];
    all.into_iter().filter(|role| holds(cluster, &format!("crossplane:provider:{member}:{role}"), text)).collect()
}

/// Nobody loses what a role held when Crossplane's own manager wrote it.
#[test]
fn whoever_leans_on_a_members_role_keeps_the_whole_of_it() {
    let roles = ["aggregate-to-edit", "aggregate-to-view", "system"];
    for (settings, role, namespace) in leanings(roles) {
        let case = format!("{:?} {role} {namespace:?}", settings.family_roles);
        // The account of each keeps a copy anyway, where there is no role for all of them.
        let copied = if settings == shared() { vec![] } else { vec!["system"] };
        let leaning = bound("ada", namespace, &format!("crossplane:provider:a-1:{role}"));
        let members = || running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
        let objects = members().chain(roles.map(whole)).chain([leaning.clone()]);
        let mut cluster = Cluster::new(settings.clone(), objects);
        let kept: Vec<&str> = roles.into_iter().filter(|it| *it == role || copied.contains(it)).collect();
        assert_eq!(holders(&cluster, "a-1", "get b.io b"), kept, "{case}");
        assert_eq!(holders(&cluster, "b-1", "get a.io a"), copied, "{case}");
        cluster.set(&controlled(crd("c.a.io"), "a-1"));
        cluster.settle();
        assert_eq!(holders(&cluster, "a-1", "get b.io b"), kept, "{case}: when it is written for another reason");
        assert_eq!(holders(&cluster, "a-1", "get a.io c"), roles, "{case}: and what it brings itself");
        assert!(cluster.restarted(settings.clone()).settle().is_empty(), "{case}: nothing is left to do");
        let kind = KINDS.into_iter().find(|kind| leaning["kind"] == kind.kind).unwrap();
        cluster.remove(kind, namespace, leaning["metadata"]["name"].as_str().unwrap());
        cluster.settle();
        assert_eq!(holders(&cluster, "a-1", "get b.io b"), copied, "{case}: nobody leans on it any more");
    }
}

/// The API server asked them whether they hold what the role gives now; nobody asked about the rest of the family.
#[test]
fn whoever_binds_a_members_role_gets_no_more_by_that() {
    let roles = ["aggregate-to-edit", "aggregate-to-view", "system"];
    for (settings, role, namespace) in leanings(roles) {
        let case = format!("{:?} {role} {namespace:?}", settings.family_roles);
        let objects = running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
        let mut cluster = Cluster::new(settings, objects);
        let before = holders(&cluster, "a-1", "get b.io b");
        cluster.set(&bound("eve", namespace, &format!("crossplane:provider:a-1:{role}")));
        cluster.settle();
        assert_eq!(holders(&cluster, "a-1", "get b.io b"), before, "{case}");
        cluster.set(&controlled(crd("c.b.io"), "b-1"));
        cluster.settle();
        assert_eq!(holders(&cluster, "a-1", "get b.io c"), before, "{case}: nor by what comes later");
    }
}

/// Both kinds of families, with each of these roles bound in the whole cluster and in a namespace.
fn leanings<const N: usize>(roles: [&'static str; N]) -> impl Iterator<Item = (Settings, &'static str, &'static str)> {
    let bindings = roles.into_iter().flat_map(|role| ["", "n"].map(|namespace| (role, namespace)));
    bindings.flat_map(|(role, namespace)| [Settings::default(), shared()].map(|settings| (settings, role, namespace)))
}

/// A Role of such a name is nobody's but its namespace's.
#[test]
fn a_role_of_a_namespace_is_no_members_role() {
    let mut other = bound("ada", "n", "crossplane:provider:a-1:aggregate-to-view");
    other["roleRef"]["kind"] = json!("Role");
    let cluster = Cluster::new(Settings::default(), [member("a-1", &["a.a.io"]), member("b-1", &["b.b.io"]), other]);
    assert!(!holds(&cluster, "crossplane:provider:a-1:aggregate-to-view", "get b.io b"));
}

/// A copy for the account would be one for whoever bound its role, and stay.
#[test]
fn whoever_binds_a_members_role_gets_no_copy_while_the_shared_one_cannot_be_written() {
    let objects = running(member("a-1", &["a.a.io"])).into_iter().chain(running(member("b-1", &["b.b.io"])));
    let mut cluster = Cluster::new(shared(), objects);
    let name = cluster.names("crossplane:provider-family:")[0].replace("role ", "");
    cluster.set(&bound("eve", "", "crossplane:provider:a-1:system"));
    cluster.edit(&CLUSTER_ROLE, &name, |live| {
        live.meta.annotations.insert("rolewright.io/paused".into(), "true".into());
    });
    cluster.set(&controlled(crd("c.b.io"), "b-1"));
    cluster.settle();
    assert_eq!(holders(&cluster, "a-1", "get b.io c"), Vec::<&str>::new());
    assert_eq!(holders(&cluster, "a-1", "get b.io b"), Vec::<&str>::new());
    cluster.edit(&CLUSTER_ROLE, &name, |live| drop(live.meta.annotations.remove("rolewright.io/paused")));
    cluster.settle();
    assert!(cluster.rights(&account("a-1")).covers(&rule("get b.io c")), "it has that from the family's role");
}
