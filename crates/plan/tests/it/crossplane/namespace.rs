//! What a namespace enables (spec 1.6).

use std::collections::BTreeSet;

use rolewright_core::{Principal, Rule, Scope};
use rolewright_plan::Time;
use rolewright_plan::crossplane::{DEFINITION, Settings, UserRoles};
use rolewright_plan::engine::News;
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::simulation::Simulation;
use serde_json::Value;

use super::cluster::{Cluster, words};
use super::world::{annotated, bound, claimed, deleting, namespace, role, xrd};

const ROLES: &str = "crossplane-ns-";
const ENABLED: &str = "xrd-enabled";

fn cluster(objects: impl IntoIterator<Item = Value>) -> Cluster {
    Cluster::new(Settings::default(), objects)
}

/// The example of the seed.
#[test]
fn a_namespace_gathers_what_it_enables() {
    let annotations = [("composites.example.org", ENABLED), ("examplecomposites.xr.example.org", ENABLED)];
    let objects = [
        namespace("example", &annotations),
        xrd("composites.example.org"),
        claimed("examplecomposites.xr.example.org", "exampleclaims"),
    ];
    let cluster = cluster(objects);
    cluster.expect(
        ROLES,
        "role crossplane-ns-example-edit
           controlled by v1 Namespace example
           selects aggregate-to-ns-edit base-of-ns-edit
           selects aggregate-to-ns-edit xrd=composites.example.org
           selects aggregate-to-ns-edit xrd=examplecomposites.xr.example.org
         role crossplane-ns-example-view
           controlled by v1 Namespace example
           selects aggregate-to-ns-view base-of-ns-view
           selects aggregate-to-ns-view xrd=composites.example.org
           selects aggregate-to-ns-view xrd=examplecomposites.xr.example.org",
    );
    assert_eq!(cluster.told(), Vec::<&str>::new());
}

#[test]
fn which_annotations_enable() {
    let base = "base-of-ns-edit";
    let xs = "xrd=xs.example.org";
    for (annotations, selected, told) in [
        (&[("xs.example.org", ENABLED)][..], &[base, xs][..], ""),
        (&[("xs.example.org", "xrd-claim-accepted")], &[base, xs], ""),
        (&[("xrds", "xs.example.org")], &[base, xs], ""),
        (&[("xrds", " xs.example.org , ,ys.example.org,")], &[base, xs, "xrd=ys.example.org"], ""),
        (&[("xrds", "xs.example.org"), ("xs.example.org", ENABLED)], &[base, xs], ""),
        (&[("xrds", "xs.example.org\n  ys.example.org")], &[base, xs, "xrd=ys.example.org"], ""),
        (&[("xrds", "")], &[], ""),
        // No selector could name these, and one that cannot be written would keep the others from counting.
        (
            &[("xrds", "xs.example.org,ys/example.org")],
            &[base, xs],
            "RW0201 Namespace/n: there is no CompositeResourceDefinition `ys/example.org`",
        ),
        (
            &[("xrds", "-xs.example.org")],
            &[],
            "RW0201 Namespace/n: there is no CompositeResourceDefinition `-xs.example.org`",
        ),
        (&[], &[], ""),
        (
            &[("xs.example.org", "Xrd-Enabled")],
            &[],
            "RW0202 Namespace/n: annotation `rbac.crossplane.io/xs.example.org` is `Xrd-Enabled`, which enables nothing; say `xrd-enabled`",
        ),
        (
            &[("xs.example.org", "true"), ("ys.example.org", ENABLED)],
            &[base, "xrd=ys.example.org"],
            "RW0202 Namespace/n: annotation `rbac.crossplane.io/xs.example.org` is `true`, which enables nothing; say `xrd-enabled`",
        ),
        (
            &[("nothing.example.org", ENABLED)],
            &[base, "xrd=nothing.example.org"],
            "RW0201 Namespace/n: there is no CompositeResourceDefinition `nothing.example.org`",
        ),
        // What is not the name of a definition is somebody else's annotation.
        (&[("something", "else")], &[], ""),
    ] {
        let cluster = cluster([namespace("n", annotations), xrd("xs.example.org"), xrd("ys.example.org")]);
        let page = cluster.page("crossplane-ns-n-edit");
        let selects: Vec<&str> =
            page.lines().filter_map(|line| line.trim().strip_prefix("selects aggregate-to-ns-edit ")).collect();
        assert_eq!(selects, selected, "{annotations:?}");
        assert_eq!(cluster.told().join("; "), told, "{annotations:?}");
    }
}

#[test]
fn what_is_not_defined_is_told_until_it_is() {
    let mut cluster = cluster([namespace("n", &[("xs.example.org", ENABLED)])]);
    assert_eq!(cluster.told(), ["RW0201 Namespace/n: there is no CompositeResourceDefinition `xs.example.org`"]);
    cluster.set(&xrd("xs.example.org"));
    cluster.settle();
    assert_eq!(cluster.told(), Vec::<&str>::new());
    cluster.remove(&DEFINITION, "", "xs.example.org");
    cluster.settle();
    assert_eq!(cluster.told().len(), 1);
    // Even if nothing comes of the definition.
    cluster.set(&annotated(xrd("xs.example.org"), "rolewright.io/paused", "true"));
    cluster.settle();
    assert_eq!(cluster.told(), ["RW0002 CompositeResourceDefinition/xs.example.org: 4 writes wait"]);
}

#[test]
fn a_mistake_is_told_once_there_is_what_was_meant() {
    let mut cluster = cluster([namespace("n", &[("xs.example.org", "yes")])]);
    assert_eq!(cluster.told(), Vec::<&str>::new(), "it may be somebody else's annotation");
    cluster.set(&xrd("xs.example.org"));
    cluster.settle();
    assert_eq!(cluster.told().len(), 1);
    cluster.remove(&DEFINITION, "", "xs.example.org");
    cluster.settle();
    assert_eq!(cluster.told(), Vec::<&str>::new());
}

#[test]
fn the_last_annotation_takes_the_roles_along_and_so_does_the_namespace() {
    let xs = ("xs.example.org", ENABLED);
    let mut cluster =
        cluster([namespace("n", &[xs, ("ys.example.org", ENABLED)]), xrd("xs.example.org"), xrd("ys.example.org")]);
    cluster.set(&namespace("n", &[xs]));
    assert_eq!(
        words(&cluster.settle()),
        ["update ClusterRole/crossplane-ns-n-edit", "update ClusterRole/crossplane-ns-n-view"]
    );
    cluster.set(&namespace("n", &[]));
    assert_eq!(
        words(&cluster.settle()),
        ["delete ClusterRole/crossplane-ns-n-edit", "delete ClusterRole/crossplane-ns-n-view"]
    );
    cluster.set(&namespace("n", &[xs]));
    cluster.settle();
    cluster.set(&deleting(namespace("n", &[])));
    assert!(cluster.settle().is_empty(), "who cleans up still may");
    cluster.remove(&NAMESPACE, "", "n");
    assert_eq!(cluster.settle().len(), 2);
    assert_eq!(cluster.page(ROLES), "");
}

#[test]
fn names_of_namespaces_are_told_apart() {
    let xs = &[("xs.example.org", ENABLED)][..];
    let mut cluster =
        cluster([namespace("a", xs), namespace("a-edit", xs), namespace("a-view", xs), xrd("xs.example.org")]);
    assert_eq!(cluster.names(ROLES).len(), 6);
    cluster.set(&namespace("a-edit", &[]));
    cluster.settle();
    assert_eq!(
        cluster.names(ROLES),
        [
            "role crossplane-ns-a-edit",
            "role crossplane-ns-a-view",
            "role crossplane-ns-a-view-edit",
            "role crossplane-ns-a-view-view"
        ]
    );
}

#[test]
fn a_definition_with_a_long_name_is_enabled_by_the_list() {
    let group = format!("{}.example.org", "x".repeat(70));
    let long = format!("xs.{group}");
    let of = |user_roles| {
        Cluster::new(
            Settings { user_roles, ..Settings::default() },
            [namespace("n", &[("xrds", &long)]), xrd(&long), bound("ada", "n", "crossplane-ns-n-edit")],
        )
    };
    for user_roles in [UserRoles::Aggregated, UserRoles::Materialized] {
        let cluster = of(user_roles);
        assert_eq!(cluster.told(), Vec::<&str>::new());
        let rights = cluster.access().effective(&Principal::User("ada".into()), &Scope::Namespace("n".into()));
        assert!(rights.covers(&super::world::rule(&format!("delete {group} xs"))));
    }
    let unknown = cluster([namespace("n", &[("xrds", &long)])]);
    assert_eq!(unknown.told(), [format!("RW0201 Namespace/n: there is no CompositeResourceDefinition `{long}`")]);
}

/// Spec 5: a role is selected if it aggregates to the role and is the base or about what is enabled.
#[test]
fn what_is_gathered() {
    let to = "rbac.crossplane.io/aggregate-to-ns-edit";
    let base = "rbac.crossplane.io/base-of-ns-edit";
    let about = "rbac.crossplane.io/xrd";
    for user_roles in [UserRoles::Aggregated, UserRoles::Materialized] {
        for (labels, expected) in [
            (&[(to, "true"), (base, "true")][..], true),
            (&[(to, "true"), (about, "xs.example.org")], true),
            (&[(to, "true"), (about, "ys.example.org")], false),
            (&[(base, "true")], false),
            (&[(about, "xs.example.org")], false),
            (&[(to, "true")], false),
            (&[(to, "false"), (base, "true")], false),
        ] {
            let mut extra = role("extra", &["get example.com extras"]);
            for (key, value) in labels {
                extra = super::world::labelled(extra, key, value);
            }
            let settings = Settings { user_roles, ..Settings::default() };
            let objects =
                [namespace("n", &[("xs.example.org", ENABLED)]), xrd("xs.example.org"), xrd("ys.example.org"), extra];
            let cluster = Cluster::new(settings, objects);
            let holds =
                cluster.rules_of("crossplane-ns-n-edit").contains(&super::world::rule("get example.com extras"));
            assert_eq!(holds, expected, "{labels:?}");
        }
    }
}

#[test]
fn gathered_roles_hold_their_rules_themselves() {
    let settings = Settings { user_roles: UserRoles::Materialized, ..Settings::default() };
    let mut cluster =
        Cluster::new(settings, [namespace("n", &[("xs.example.org", ENABLED)]), claimed("xs.example.org", "cs")]);
    let page = "role crossplane-ns-n-edit
           controlled by v1 Namespace n
           V core,events.k8s.io events
           * core secrets
           V apiextensions.crossplane.io *
           * example.org xs,xs/status
           * example.org cs,cs/status
         role crossplane-ns-n-view
           controlled by v1 Namespace n
           V core,events.k8s.io events
           V example.org xs,xs/status
           V example.org cs,cs/status";
    cluster.expect(ROLES, page);
    // Only what changes is written: the definition's own roles, and those that hold its rules.
    cluster.set(&xrd("xs.example.org"));
    let written = words(&cluster.settle());
    assert_eq!(written.len(), 3 + 5 + 2 - 1, "{written:?}");
    cluster.set(&claimed("xs.example.org", "cs"));
    cluster.settle();
    cluster.expect(ROLES, page);
}

#[test]
fn who_has_a_role_has_it_in_the_namespace_only() {
    let objects = [
        namespace("n", &[("xs.example.org", ENABLED)]),
        claimed("xs.example.org", "cs"),
        claimed("ys.example.org", "ds"),
        bound("ada", "n", "crossplane-ns-n-edit"),
        bound("bob", "n", "crossplane-ns-n-view"),
    ];
    let cluster = cluster(objects);
    let access = cluster.access();
    let may = |who: &str, scope: &Scope, text: &str| {
        let rule: Rule = super::world::rule(text);
        access.effective(&Principal::User(who.into()), scope).covers(&rule)
    };
    let here = Scope::Namespace("n".into());
    for (who, text, expected) in [
        ("ada", "* example.org cs,cs/status", true),
        ("ada", "* core secrets", true),
        ("ada", "V core,events.k8s.io events", true),
        ("ada", "get example.org ds", false),
        ("ada", "create core events", false),
        ("bob", "V example.org cs,cs/status", true),
        ("bob", "create example.org cs", false),
        ("bob", "get core secrets", false),
        ("bob", "get apiextensions.crossplane.io compositions", false),
    ] {
        assert_eq!(may(who, &here, text), expected, "{who} {text}");
        assert!(!may(who, &Scope::Cluster, text), "{who} {text}");
    }
}

#[test]
fn a_paused_namespace_waits_by_either_word() {
    for word in ["rolewright.io/paused", "crossplane.io/paused"] {
        let plain = namespace("n", &[("xs.example.org", ENABLED)]);
        let mut cluster = cluster([xrd("xs.example.org"), annotated(plain.clone(), word, "true")]);
        assert_eq!(cluster.page(ROLES), "");
        assert_eq!(cluster.told(), ["RW0002 Namespace/n: 2 writes wait"]);
        cluster.set(&plain);
        cluster.settle();
        assert_eq!(cluster.names(ROLES).len(), 2);
        assert_eq!(cluster.told(), Vec::<&str>::new());
        // Neither is anything taken away meanwhile.
        cluster.set(&annotated(namespace("n", &[]), word, "true"));
        assert_eq!(words(&cluster.settle()), Vec::<String>::new());
        assert_eq!(cluster.names(ROLES).len(), 2);
    }
}

/// Work follows the change: of many namespaces, those that enable what changed.
#[test]
fn only_namespaces_that_a_change_concerns_are_looked_at() {
    let names: Vec<String> = (0..20).map(|n| format!("n{n}")).collect();
    for user_roles in [UserRoles::Aggregated, UserRoles::Materialized] {
        let enables = |(n, name): (usize, &String)| {
            namespace(name, &[(if n == 7 { "xs.example.org" } else { "ys.example.org" }, ENABLED)])
        };
        let objects = names.iter().enumerate().map(enables).chain([xrd("xs.example.org"), xrd("ys.example.org")]);
        let mut cluster = Cluster::new(Settings { user_roles, ..Settings::default() }, objects);
        for (what, change, concerned) in [
            ("it is offered as claims", claimed("xs.example.org", "cs"), Some("Namespace/n7")),
            ("a role without labels", role("somebodys", &["get core pods"]), None),
            ("another definition", xrd("zs.example.org"), None),
            ("a namespace is looked at for itself", namespace("n3", &[("ys.example.org", "no")]), Some("Namespace/n3")),
        ] {
            cluster.engine.news();
            cluster.set(&change);
            Simulation::on(cluster.engine.snapshot()).settle(&mut cluster.engine, Time(u64::MAX / 2));
            // Also when Kubernetes has gathered for its roles.
            let looked: BTreeSet<String> = cluster.engine.news().into_iter().filter_map(namespace_looked_at).collect();
            assert_eq!(looked, concerned.map(str::to_owned).into_iter().collect(), "{user_roles:?}: {what}");
            cluster.settle();
        }
    }
}

fn namespace_looked_at(news: News) -> Option<String> {
    match news {
        News::Converged("crossplane", key, _) if *key.kind == NAMESPACE => Some(key.to_string()),
        _ => None,
    }
}
