//! The examples of the seed: its flattened roles are what people and software may do in the end.

use rolewright_core::RuleSet;
use rolewright_plan::crossplane::{Settings, UserRoles};

use super::cluster::Cluster;
use super::world::{claimed, namespace, revision, rules, running};

const REV: &str = "example-provider-7f63e3661";
const XRD: &str = "examplecomposites.xr.example.org";

fn example(user_roles: UserRoles) -> Cluster {
    let provider =
        revision(REV, &["examplemanageds.provider.example.org", "exampleproviderconfigs.provider.example.org"]);
    let objects = [claimed(XRD, "exampleclaims"), namespace("example", &[(XRD, "xrd-enabled")])];
    Cluster::new(Settings { user_roles, ..Settings::default() }, objects.into_iter().chain(running(provider)))
}

/// What the seed writes of a role that we hold to.
fn promised(role: &str) -> &'static [&'static str] {
    match role {
        "crossplane" => &[
            "create core events",
            "get,create,update core secrets",
            "get,create,update,delete apiextensions.k8s.io customresourcedefinitions",
            "* apiextensions.crossplane.io,pkg.crossplane.io *",
            "* xr.example.org examplecomposites,examplecomposites/status,exampleclaims,exampleclaims/status",
            "* provider.example.org examplemanageds,exampleproviderconfigs",
            "get,create,update,delete extensions,apps deployments",
        ],
        "crossplane:provider:example-provider-7f63e3661:system" => &[
            "create core events",
            "get,create,update core secrets",
            "V,update,patch provider.example.org examplemanageds,examplemanageds/status,exampleproviderconfigs,exampleproviderconfigs/status",
        ],
        "crossplane-admin" => &[
            "V core events",
            "* core secrets,namespaces",
            "V rbac.authorization.k8s.io clusterroles",
            "* rbac.authorization.k8s.io clusterrolebindings,rolebindings",
            "* apiextensions.crossplane.io,pkg.crossplane.io *",
            "* xr.example.org examplecomposites,examplecomposites/status,exampleclaims,exampleclaims/status",
            "* provider.example.org examplemanageds,exampleproviderconfigs",
        ],
        "crossplane-edit" => &[
            "V core events",
            "* core secrets",
            "V core namespaces",
            "* apiextensions.crossplane.io,pkg.crossplane.io *",
            "* xr.example.org examplecomposites,examplecomposites/status,exampleclaims,exampleclaims/status",
            "* provider.example.org examplemanageds,exampleproviderconfigs",
        ],
        "crossplane-view" => &[
            "V core events",
            "V core namespaces",
            "V apiextensions.crossplane.io,pkg.crossplane.io *",
            "V xr.example.org examplecomposites,examplecomposites/status,exampleclaims,exampleclaims/status",
            "V provider.example.org examplemanageds,exampleproviderconfigs",
        ],
        "crossplane-ns-example-edit" => &[
            "V core events",
            "* core secrets",
            "V apiextensions.crossplane.io *",
            "* xr.example.org exampleclaims,exampleclaims/status",
        ],
        "crossplane-ns-example-view" => &["V core events", "V xr.example.org exampleclaims,exampleclaims/status"],
        other => panic!("the seed says nothing of {other}"),
    }
}

/// What was decided beyond it, row by row of the specification.
fn decided(role: &str) -> &'static [&'static str] {
    match role {
        "crossplane" => &[
            "create,update,patch,delete core,events.k8s.io events",
            "V,create,update,patch,delete core secrets,configmaps,leases",
            "V,create,update,patch,delete coordination.k8s.io configmaps,leases",
            "* core serviceaccounts,services",
            "* apiextensions.k8s.io customresourcedefinitions,customresourcedefinitions/status",
            "* ops.crossplane.io,protection.crossplane.io *",
            "V,create,update,patch,delete extensions,apps deployments",
            "V,create,update,patch,delete admissionregistration.k8s.io validatingwebhookconfigurations,mutatingwebhookconfigurations",
            "update xr.example.org examplecomposites/finalizers,exampleclaims/finalizers",
            "* provider.example.org examplemanageds/status,exampleproviderconfigs/status",
        ],
        "crossplane:provider:example-provider-7f63e3661:system" => &[
            "* core,coordination.k8s.io secrets,configmaps,events,leases",
            "* events.k8s.io events",
            "create provider.example.org examplemanageds,examplemanageds/status,exampleproviderconfigs,exampleproviderconfigs/status",
            "update provider.example.org */finalizers",
        ],
        "crossplane-admin" => &[
            "V events.k8s.io events",
            "V rbac.authorization.k8s.io roles",
            "* secrets.crossplane.io,protection.crossplane.io,ops.crossplane.io *",
            "V apiextensions.k8s.io customresourcedefinitions",
            "* provider.example.org examplemanageds/status,exampleproviderconfigs/status",
        ],
        "crossplane-edit" => &[
            "V events.k8s.io events",
            "* secrets.crossplane.io,protection.crossplane.io,ops.crossplane.io *",
            "* provider.example.org examplemanageds/status,exampleproviderconfigs/status",
        ],
        "crossplane-view" => &[
            "V events.k8s.io events",
            "V secrets.crossplane.io,protection.crossplane.io,ops.crossplane.io *",
            "V provider.example.org examplemanageds/status,exampleproviderconfigs/status",
        ],
        "crossplane-ns-example-edit" => {
            &["V events.k8s.io events", "* xr.example.org examplecomposites,examplecomposites/status"]
        }
        "crossplane-ns-example-view" => {
            &["V events.k8s.io events", "V xr.example.org examplecomposites,examplecomposites/status"]
        }
        other => panic!("nothing was decided of {other}"),
    }
}

#[test]
fn flattened_roles_are_what_the_seed_shows_and_what_was_decided() {
    for user_roles in [UserRoles::Aggregated, UserRoles::Materialized] {
        let cluster = example(user_roles);
        for role in [
            "crossplane",
            "crossplane:provider:example-provider-7f63e3661:system",
            "crossplane-admin",
            "crossplane-edit",
            "crossplane-view",
            "crossplane-ns-example-edit",
            "crossplane-ns-example-view",
        ] {
            let held = RuleSet::new(&cluster.rules_of(role));
            let seed = RuleSet::new(&rules(promised(role)));
            assert!(seed.implies(&held), "{role} lacks {:?}", seed.beyond(&held).to_rules());
            let mut all = seed;
            all.extend(&RuleSet::new(&rules(decided(role))));
            assert!(held.implies(&all), "{role} has {:?} beyond", held.beyond(&all).to_rules());
            assert!(all.implies(&held), "{role} lacks {:?}", all.beyond(&held).to_rules());
        }
    }
}

/// The roles that the seed names, and nothing else beside what was decided.
#[test]
fn the_roles_have_the_names_of_the_seed() {
    let cluster = example(UserRoles::Aggregated);
    for name in [
        "crossplane:aggregate-to-admin",
        "crossplane:aggregate-to-ns-edit",
        "crossplane:composite:examplecomposites.xr.example.org:aggregate-to-edit",
        "crossplane:composite:examplecomposites.xr.example.org:aggregate-to-view",
        "crossplane:provider:example-provider-7f63e3661:aggregate-to-edit",
        "crossplane:provider:example-provider-7f63e3661:aggregate-to-view",
        "crossplane:provider:example-provider-7f63e3661:system",
        "crossplane-ns-example-edit",
        "crossplane-ns-example-view",
    ] {
        assert_eq!(cluster.names(name)[0], format!("role {name}"));
    }
    assert_eq!(cluster.names("crossplane-ns-example-admin"), Vec::<String>::new(), "there is none");
    assert_eq!(
        cluster.names("").len(),
        12 + 2 + 4 + 2 + 4,
        "standing roles and bindings, definition, namespace, provider"
    );
}
