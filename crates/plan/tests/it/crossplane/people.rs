//! The roles that people and Crossplane itself are bound to (spec 1.7).

use rolewright_core::Principal;
use rolewright_plan::crossplane::{DEFINITION, Settings, UserRoles};
use rolewright_plan::engine::Next;
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING};
use rolewright_plan::simulation::Simulation;
use rolewright_plan::{Live, Op, Time};
use serde_json::Value;

use super::cluster::{Cluster, words};
use super::world::{annotated, bound, labelled, namespace, people, role, rule, xrd};

fn plain() -> Cluster {
    Cluster::new(Settings::default(), [])
}

const CROSSPLANES: &str =
    "apiextensions.crossplane.io,pkg.crossplane.io,secrets.crossplane.io,protection.crossplane.io,ops.crossplane.io";

#[test]
fn the_roles_that_are_bound() {
    plain().expect(
        "crossplane-",
        "role crossplane-admin
           selects aggregate-to-admin
           selects aggregate-to-crossplane-admin
         role crossplane-browse
           selects aggregate-to-browse
           selects aggregate-to-crossplane-browse
         role crossplane-edit
           labels aggregate-to-admin
           selects aggregate-to-edit
           selects aggregate-to-crossplane-edit
         role crossplane-view
           labels aggregate-to-edit
           selects aggregate-to-view
           selects aggregate-to-crossplane-view
         binding crossplane-admin
           to crossplane-admin
           for Group crossplane:masters",
    );
}

#[test]
fn what_people_always_hold() {
    plain().expect(
        "crossplane:aggregate-to-",
        &format!(
            "role crossplane:aggregate-to-admin
               labels aggregate-to-admin
               V core,events.k8s.io events
               * core namespaces
               * core secrets
               V rbac.authorization.k8s.io clusterroles,roles
               * rbac.authorization.k8s.io clusterrolebindings,rolebindings
               * {CROSSPLANES} *
               V apiextensions.k8s.io customresourcedefinitions
             role crossplane:aggregate-to-browse
               labels aggregate-to-browse
               V core,events.k8s.io events
               V apiextensions.crossplane.io *
             role crossplane:aggregate-to-edit
               labels aggregate-to-edit
               V core,events.k8s.io events
               V core namespaces
               * core secrets
               * {CROSSPLANES} *
             role crossplane:aggregate-to-ns-edit
               labels aggregate-to-ns-edit base-of-ns-edit
               V core,events.k8s.io events
               * core secrets
               V apiextensions.crossplane.io *
             role crossplane:aggregate-to-ns-view
               labels aggregate-to-ns-view base-of-ns-view
               V core,events.k8s.io events
             role crossplane:aggregate-to-view
               labels aggregate-to-view
               V core,events.k8s.io events
               V core namespaces
               V {CROSSPLANES} *"
        ),
    );
}

#[test]
fn what_crossplane_itself_holds() {
    let cluster = plain();
    cluster.expect(
        "crossplane:system:",
        "role crossplane:system:aggregate-to-crossplane
           labels crossplane.io/scope=system aggregate-to-crossplane
           create,update,patch,delete core,events.k8s.io events
           get,list,watch,create,update,patch,delete core secrets
           * core serviceaccounts,services
           * apiextensions.k8s.io customresourcedefinitions,customresourcedefinitions/status
           * apiextensions.crossplane.io,pkg.crossplane.io,ops.crossplane.io,protection.crossplane.io *
           get,list,watch,create,update,patch,delete extensions,apps deployments
           get,list,watch,create,update,patch,delete core,coordination.k8s.io configmaps,leases
           get,list,watch,create,update,patch,delete admissionregistration.k8s.io validatingwebhookconfigurations,mutatingwebhookconfigurations",
    );
    let page = cluster.page("crossplane");
    assert!(page.starts_with("role crossplane\n  selects aggregate-to-crossplane\nrole "), "{page}");
    assert!(
        page.contains("binding crossplane\n  to crossplane\n  for ServiceAccount crossplane-system:crossplane\n"),
        "{page}"
    );
    let elsewhere = Cluster::new(Settings { namespace: "xp".into(), ..Settings::default() }, []);
    assert!(elsewhere.page("crossplane").contains("for ServiceAccount xp:crossplane\n"));
}

#[test]
fn nobody_needs_to_begin_as_a_master() {
    let settings = Settings { bind_masters: false, ..Settings::default() };
    let mut cluster = plain().restarted(settings);
    assert_eq!(words(&cluster.settle()), ["delete ClusterRoleBinding/crossplane-admin"]);
    assert_eq!(words(&cluster.restarted(Settings::default()).settle()), ["create ClusterRoleBinding/crossplane-admin"]);
}

#[test]
fn hardened_roles_reach_no_secrets_and_editors_install_nothing() {
    let settings = Settings { hardened: true, ..Settings::default() };
    let [plain, hardened] = [Settings::default(), settings].map(|settings| Cluster::new(settings, people()));
    let may =
        |cluster: &Cluster, who: &str, text: &str| cluster.rights(&Principal::User(who.into())).covers(&rule(text));
    for (who, text, before, after) in [
        ("admin", "* core secrets", true, false),
        ("admin", "* pkg.crossplane.io providers", true, true),
        ("edit", "get core secrets", true, false),
        ("edit", "create pkg.crossplane.io providers", true, false),
        ("edit", "V pkg.crossplane.io providers", true, true),
        ("edit", "* apiextensions.crossplane.io compositions", true, true),
        ("view", "get core secrets", false, false),
        ("view", "V pkg.crossplane.io providers", true, true),
    ] {
        assert_eq!([may(&plain, who, text), may(&hardened, who, text)], [before, after], "{who} {text}");
    }
}

/// The seed's spelling, Crossplane's, and roles that users write themselves (spec 1.9: composing other kinds).
#[test]
fn whoever_labels_a_role_extends_ours() {
    for user_roles in [UserRoles::Aggregated, UserRoles::Materialized] {
        for (label, role_name) in [
            ("aggregate-to-crossplane-admin", "crossplane-admin"),
            ("aggregate-to-admin", "crossplane-admin"),
            ("aggregate-to-edit", "crossplane-edit"),
            ("aggregate-to-edit", "crossplane-admin"),
            ("aggregate-to-view", "crossplane-admin"),
            ("aggregate-to-browse", "crossplane-browse"),
            ("aggregate-to-crossplane", "crossplane"),
        ] {
            let extra =
                labelled(role("extra", &["get example.com extras"]), &format!("rbac.crossplane.io/{label}"), "true");
            let cluster = Cluster::new(Settings { user_roles, ..Settings::default() }, [extra]);
            assert!(
                cluster.rules_of(role_name).contains(&rule("get example.com extras")),
                "{label} {role_name} {user_roles:?}"
            );
        }
    }
}

#[test]
fn every_standing_object_comes_back() {
    for user_roles in [UserRoles::Aggregated, UserRoles::Materialized] {
        let mut cluster = Cluster::new(Settings { user_roles, ..Settings::default() }, [xrd("xs.example.org")]);
        let page = cluster.page("crossplane");
        for name in cluster.names("crossplane") {
            let (kind, name) = name.split_once(' ').unwrap();
            let kind = if kind == "role" { &CLUSTER_ROLE } else { &CLUSTER_ROLE_BINDING };
            cluster.remove(kind, "", name);
            let written = words(&cluster.settle());
            assert!(written.contains(&format!("repair {kind}/{name}")), "{name}: {written:?}");
            assert_eq!(cluster.page("crossplane"), page, "{name}");
        }
    }
}

#[test]
fn whoever_takes_our_labels_away_is_undone_and_whoever_takes_the_object_keeps_it() {
    for name in plain().names("crossplane") {
        let (kind, name) = name.split_once(' ').unwrap();
        let kind = if kind == "role" { &CLUSTER_ROLE } else { &CLUSTER_ROLE_BINDING };
        let mut cluster = plain();
        let page = cluster.page("crossplane");
        cluster.edit(kind, name, |live| live.meta.labels = rolewright_core::Labels::new());
        assert_eq!(words(&cluster.settle()), [format!("repair {kind}/{name}")]);
        assert_eq!(cluster.page("crossplane"), page, "{name}");
        let label = cluster.get(kind, name).meta.labels.get("app.kubernetes.io/managed-by").cloned();
        assert_eq!(label.as_deref(), Some("rolewright"), "{name}");
        cluster.edit(kind, name, |live| {
            live.meta.labels.insert("app.kubernetes.io/managed-by".into(), "argocd".into());
        });
        assert_eq!(words(&cluster.settle()), Vec::<String>::new());
        assert!(cluster.told()[0].starts_with(&format!("RW0003 {kind}/{name}: ")), "{:?}", cluster.told());
    }
}

/// What a role gathers is not taken from it while a role that somebody deleted is on its way back.
#[test]
fn nobody_loses_anything_while_a_deleted_role_comes_back() {
    let mut cluster = plain();
    let page = cluster.page("crossplane");
    cluster.remove(&CLUSTER_ROLE, "", "crossplane-view");
    let Next::Wait(Some(now)) = cluster.engine.next(Time(0)) else { panic!("nothing is due") };
    let mut simulation = Simulation::on(cluster.engine.snapshot());
    let Next::Job(repair) = cluster.engine.next(now) else { panic!("nothing is repaired") };
    assert_eq!(repair.key.name, "crossplane-view");
    assert!(matches!(cluster.engine.next(now), Next::Wait(Some(_))), "those who gather wait");
    let stored = repair.plan.ops.iter().map(|op| simulation.write(cluster.engine.snapshot(), op)).collect();
    cluster.engine.finish(repair, stored, now);
    let written = simulation.settle(&mut cluster.engine, now);
    let written: Vec<String> =
        written.iter().map(|(module, op)| format!("{module} {} {}", op.verb(), op.object)).collect();
    assert_eq!(written, ["1 repair ClusterRole/crossplane-view"], "only what it gathers itself");
    assert_eq!(cluster.page("crossplane"), page);
}

#[test]
fn what_a_paused_role_does_not_get_back_nobody_gathers() {
    let mut cluster = Cluster::new(Settings { user_roles: UserRoles::Materialized, ..Settings::default() }, []);
    let page = cluster.page("crossplane");
    let base = "crossplane:aggregate-to-view";
    let held = cluster.page(base).lines().count() - 2;
    let rules = |cluster: &Cluster| cluster.page("crossplane-edit").lines().count();
    let before = rules(&cluster);
    let paused = "rolewright.io/paused";
    cluster.edit(&CLUSTER_ROLE, "crossplane-view", |live| {
        drop(live.meta.annotations.insert(paused.into(), "true".into()));
    });
    cluster.remove(&CLUSTER_ROLE, "", base);
    cluster.settle();
    assert_eq!(cluster.page(base), "");
    assert!(held > 0 && rules(&cluster) < before, "who edits does not keep what no role holds: {page}");
    cluster.edit(&CLUSTER_ROLE, "crossplane-view", |live| drop(live.meta.annotations.remove(paused)));
    cluster.settle();
    assert_eq!(cluster.page("crossplane"), page);
}

#[test]
fn a_paused_role_waits_by_either_word() {
    for word in ["rolewright.io/paused", "crossplane.io/paused"] {
        let mut cluster = plain();
        let page = cluster.page("crossplane");
        let pause = |live: &mut Live| drop(live.meta.annotations.insert(word.into(), "true".into()));
        let resume = |live: &mut Live| drop(live.meta.annotations.remove(word));
        // The role itself, on whose behalf the base is kept.
        cluster.edit(&CLUSTER_ROLE, "crossplane-browse", pause);
        cluster.remove(&CLUSTER_ROLE, "", "crossplane:aggregate-to-browse");
        assert_eq!(words(&cluster.settle()), Vec::<String>::new(), "{word}");
        assert_eq!(cluster.told(), ["RW0002 ClusterRole/crossplane-browse: one write waits"], "{word}");
        cluster.edit(&CLUSTER_ROLE, "crossplane-browse", resume);
        cluster.settle();
        assert_eq!(cluster.page("crossplane"), page, "{word}");
        // What is kept on its behalf.
        for (kind, name) in [
            (&CLUSTER_ROLE, "crossplane:aggregate-to-view"),
            (&CLUSTER_ROLE, "crossplane:aggregate-to-ns-edit"),
            (&CLUSTER_ROLE_BINDING, "crossplane-admin"),
        ] {
            cluster.edit(kind, name, |live| {
                pause(live);
                live.meta.labels = rolewright_core::Labels::new();
            });
            assert_eq!(words(&cluster.settle()), Vec::<String>::new(), "{name} {word}");
            assert_eq!(cluster.told(), [format!("RW0002 {kind}/{name}: one write waits")], "{word}");
            cluster.edit(kind, name, resume);
            cluster.settle();
            assert_eq!(cluster.page("crossplane"), page, "{name} {word}");
            assert_eq!(cluster.told(), Vec::<&str>::new(), "{name} {word}");
        }
    }
}

#[test]
fn what_we_gather_is_written_because_of_what_changed() {
    let settings = Settings { user_roles: UserRoles::Materialized, ..Settings::default() };
    let mut cluster = Cluster::new(settings, [namespace("n", &[("xs.example.org", "xrd-enabled")])]);
    let because = |written: &[Op], name: &str| {
        let op = written.iter().find(|op| op.object.name == name);
        op.map(|op| op.because.clone()).unwrap_or_default()
    };
    cluster.set(&xrd("xs.example.org"));
    let written = cluster.settle();
    let from = |role: &str| format!("+1 rule from `crossplane:composite:xs.example.org:aggregate-to-{role}`");
    assert_eq!(because(&written, "crossplane-view"), from("view"));
    assert_eq!(because(&written, "crossplane-ns-n-edit"), from("edit"));
    cluster.remove(&DEFINITION, "", "xs.example.org");
    assert_eq!(because(&cluster.settle(), "crossplane-view"), "-1 rule");
}

#[test]
fn what_we_gather_is_written_once_together_with_its_bases() {
    let settings = Settings { user_roles: UserRoles::Materialized, ..Settings::default() };
    let objects = [namespace("n", &[("xs.example.org", "xrd-enabled")]), xrd("xs.example.org")];
    let mut cluster = Cluster::unsettled(settings, objects);
    let written = cluster.settle();
    let mut roles: Vec<_> = written.iter().map(|op| &op.object).filter(|object| *object.kind == CLUSTER_ROLE).collect();
    let count = roles.len();
    roles.sort();
    roles.dedup();
    assert_eq!(roles.len(), count, "{:?}", words(&written));
    for base in ["crossplane:aggregate-to-view", "crossplane:aggregate-to-ns-view"] {
        assert!(!cluster.rules_of(base).is_empty());
        cluster.remove(&CLUSTER_ROLE, "", base);
        let written = words(&cluster.settle());
        assert_eq!(written.len(), 1, "nobody loses what comes back: {written:?}");
    }
}

fn of_helm(object: Value) -> Value {
    annotated(labelled(object, "app.kubernetes.io/managed-by", "Helm"), "meta.helm.sh/release-name", "xp")
}

#[test]
fn what_a_helm_release_owns_is_left_alone() {
    let mut admin = of_helm(role("crossplane-admin", &[]));
    admin["aggregationRule"] = serde_json::json!({ "clusterRoleSelectors": [{ "matchLabels": { "rbac.crossplane.io/aggregate-to-admin": "true" } }] });
    let base = of_helm(role("crossplane:aggregate-to-admin", &["get core pods"]));
    let cluster = Cluster::new(Settings::default(), [admin.clone(), base.clone()]);
    assert_eq!(cluster.told(), Vec::<&str>::new());
    assert_eq!(cluster.rules_of("crossplane:aggregate-to-admin"), [rule("get core pods")]);
    assert!(cluster.get(&CLUSTER_ROLE, "crossplane-admin").meta.ours.is_none());
    // Charts that were rendered and applied have no release, only its label.
    let rendered =
        labelled(role("crossplane:aggregate-to-view", &["get core pods"]), "app.kubernetes.io/managed-by", "Helm");
    let cluster = Cluster::new(Settings::default(), [rendered]);
    assert_eq!(cluster.told(), Vec::<&str>::new());
    assert_eq!(cluster.rules_of("crossplane:aggregate-to-view"), [rule("get core pods")]);
    // It gathers by labels, whatever was asked for; that is told.
    let settings = Settings { user_roles: UserRoles::Materialized, ..Settings::default() };
    let cluster = Cluster::new(settings, [admin, base]);
    assert_eq!(
        cluster.told(),
        ["RW0206 ClusterRole/crossplane-admin: Helm release `xp` owns it, so it stays aggregated"]
    );
}

#[test]
fn what_a_helm_release_keeps_from_being_as_it_should_is_told() {
    // As the chart has it with `rbacManager.deploy: false`.
    let fixed = || of_helm(role("crossplane", &["get core pods"]));
    let base = || of_helm(role("crossplane:aggregate-to-edit", &["* core secrets"]));
    let mut masters = of_helm(bound("masters", "", "crossplane-admin"));
    masters["metadata"]["name"] = serde_json::json!("crossplane-admin");
    let hardened = Settings { hardened: true, ..Settings::default() };
    let alone = Settings { bind_masters: false, ..Settings::default() };
    let nothing = "RW0209 ClusterRole/crossplane: Helm release `xp` owns it, so it does not gather what is installed";
    for (settings, object, expected) in [
        (Settings::default(), fixed(), &[nothing][..]),
        (Settings { user_roles: UserRoles::Materialized, ..Settings::default() }, fixed(), &[nothing]),
        (Settings::default(), base(), &[]),
        (
            hardened,
            base(),
            &[
                "RW0206 ClusterRole/crossplane:aggregate-to-edit: Helm release `xp` owns it, so it gives more than it should",
            ],
        ),
        (Settings::default(), masters.clone(), &[]),
        (
            alone,
            masters,
            &["RW0206 ClusterRoleBinding/crossplane-admin: Helm release `xp` owns it, so whom it binds stays bound"],
        ),
    ] {
        let cluster = Cluster::new(settings, [object.clone()]);
        assert_eq!(cluster.told(), expected, "{object}");
        let live = |kind| cluster.find(kind, object["metadata"]["name"].as_str().unwrap());
        let kind = if object["kind"] == "ClusterRole" { &CLUSTER_ROLE } else { &CLUSTER_ROLE_BINDING };
        assert!(live(kind).unwrap().meta.ours.is_none(), "{object}");
    }
}

#[test]
fn what_somebody_else_made_is_told() {
    let cluster = Cluster::new(Settings::default(), [role("crossplane-edit", &["get core pods"])]);
    assert_eq!(
        cluster.told(),
        [
            "RW0003 ClusterRole/crossplane-edit: nothing says that it is ours; it gathers what a role of Crossplane holds"
        ]
    );
    let given = annotated(role("crossplane-edit", &["get core pods"]), "rolewright.io/adopt", "true");
    let cluster = Cluster::new(Settings::default(), [given]);
    assert_eq!(cluster.told(), Vec::<&str>::new());
    assert!(cluster.page("crossplane-edit").contains("selects aggregate-to-edit"));
}
