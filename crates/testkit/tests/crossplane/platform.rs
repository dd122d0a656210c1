//! A platform: what Crossplane's package manager and the people who build on it put into a cluster.

use anyhow::{Context, Result};
use rolewright_testkit::manifest::{rbac, with};
use serde_json::{Value, json};

use crate::place::Place;

/// Where Crossplane and its providers run.
pub(crate) const SYSTEM: &str = "crossplane-system";
/// A definition whose name fits into no label.
pub(crate) const LONG: &str = "platform-engineering.infrastructure.internal.acme-corporation.example.com";

/// A provider's revision: `NAME-REVISION`, or a family's member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    pub(crate) revision: u32,
    pub(crate) family: Option<&'static str>,
    /// Of what it brings, all that is served.
    pub(crate) served: &'static [&'static str],
    /// And what may be served later.
    pub(crate) managed: &'static [&'static str],
    /// Whether it starts before its resources are served, and so looks which are.
    pub(crate) starts_safely: bool,
}

/// A definition: plural, group, plural of the claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(crate) plural: &'static str,
    pub(crate) group: &'static str,
    pub(crate) scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// v1, with claims: the plural without its first letter.
    Claimed,
    Namespaced,
    Cluster,
}

pub(crate) const PROVIDERS: [Provider; 7] = [
    Provider {
        name: "helm",
        revision: 1,
        family: None,
        served: &["releases.helm.example.org", "providerconfigs.helm.example.org"],
        managed: &[],
        starts_safely: false,
    },
    Provider {
        name: "k8s",
        revision: 1,
        family: None,
        served: &["objects.k8s.example.org", "providerconfigusages.k8s.example.org"],
        managed: &[],
        starts_safely: true,
    },
    member("aws", &["providerconfigs.aws.example.org"], &[]),
    member("s3", &["buckets.s3.aws.example.org"], &["objectlocks.s3.aws.example.org"]),
    member("ec2", &["vpcs.ec2.aws.example.org", "subnets.ec2.aws.example.org"], &[]),
    member("rds", &["instances.rds.aws.example.org"], &[]),
    member("iam", &["roles.iam.aws.example.org"], &[]),
];

const fn member(name: &'static str, served: &'static [&'static str], managed: &'static [&'static str]) -> Provider {
    Provider { name, revision: 1, family: Some("aws"), served, managed, starts_safely: false }
}

/// Twenty definitions.
pub(crate) fn definitions() -> Vec<Definition> {
    let claimed = ["xdatabases", "xcaches", "xqueues", "xtopics", "xsearches", "xgateways", "xmailers", "xlakes"];
    let namespaced = ["apps", "jobs", "workers", "crons", "sites", "flags"];
    let cluster = ["landscapes", "regions", "tenants", "meshes", "vaults"];
    let of = |scope| move |plural: &'static str| Definition { plural, group: "acme.io", scope };
    let all = claimed.into_iter().map(of(Scope::Claimed)).chain(namespaced.into_iter().map(of(Scope::Namespaced)));
    let long = Definition { plural: "xobservabilities", group: LONG, scope: Scope::Claimed };
    all.chain(cluster.into_iter().map(of(Scope::Cluster))).chain([long]).collect()
}

/// Ten namespaces, and what each says.
pub(crate) fn namespaces() -> Vec<Value> {
    let key = |name: &str| format!("rbac.crossplane.io/{name}");
    let list = "rbac.crossplane.io/xrds";
    let said = [
        json!({key("xdatabases.acme.io"): "xrd-enabled"}),
        json!({key("xcaches.acme.io"): "xrd-enabled", key("xqueues.acme.io"): "xrd-enabled"}),
        json!({list: "xdatabases.acme.io, apps.acme.io"}),
        json!({key("xdatabases.acme.io"): "xrd-claim-accepted"}),
        json!({list: format!("xobservabilities.{LONG}")}),
        json!({key("jobs.acme.io"): "xrd-enabled", list: "xtopics.acme.io"}),
        json!({key("apps.acme.io"): "xrd-enabled"}),
        json!({key("landscapes.acme.io"): "xrd-enabled"}),
        json!({key("nothing.acme.io"): "xrd-enabled"}),
        json!({key("xdatabases.acme.io"): "yes"}),
    ];
    let namespace =
        |(index, annotations): (usize, Value)| with(team(index + 1), json!({"metadata": {"annotations": annotations}}));
    said.into_iter().enumerate().map(namespace).collect()
}

/// `team-1`.
pub(crate) fn team(number: usize) -> Value {
    namespace(&format!("team-{number}"))
}

pub(crate) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

impl Definition {
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    pub(crate) fn object(&self) -> Value {
        let kind = |plural: &str| {
            let (first, rest) = plural.split_at(1);
            json!({"plural": plural, "kind": format!("{}{}", first.to_uppercase(), rest.trim_end_matches('s'))})
        };
        let version = json!({"name": "v1", "served": true, "referenceable": true,
            "schema": {"openAPIV3Schema": {"type": "object"}}});
        let spec = json!({"group": self.group, "names": kind(self.plural), "versions": [version]});
        let (version, more) = match self.scope {
            Scope::Claimed => ("v1", json!({"claimNames": kind(&self.plural[1..])})),
            Scope::Namespaced => ("v2", json!({"scope": "Namespaced"})),
            Scope::Cluster => ("v2", json!({"scope": "Cluster"})),
        };
        json!({"apiVersion": format!("apiextensions.crossplane.io/{version}"), "kind": "CompositeResourceDefinition",
            "metadata": {"name": self.name()}, "spec": with(spec, more)})
    }
}

impl Provider {
    /// `provider-helm-1`, also the name of its account.
    pub(crate) fn id(&self) -> String {
        format!("provider-{}-{}", self.name, self.revision)
    }

    pub(crate) fn object(&self) -> Value {
        let image = format!("xpkg.example.org/acme/provider-{}:v{}", self.name, self.revision);
        let mut labels = json!({"pkg.crossplane.io/package": format!("provider-{}", self.name)});
        if let Some(family) = self.family {
            labels["pkg.crossplane.io/provider-family"] = family.into();
        }
        json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision",
            "metadata": {"name": self.id(), "labels": labels},
            "spec": {"desiredState": "Active", "image": image, "revision": self.revision}})
    }

    pub(crate) fn status(&self) -> Value {
        let reference = |version: &'static str, kind: &'static str| move |name: &&str| json!({"apiVersion": version, "kind": kind, "name": name});
        let served = self.served.iter().map(reference("apiextensions.k8s.io/v1", "CustomResourceDefinition"));
        let managed =
            self.managed.iter().map(reference("apiextensions.crossplane.io/v1alpha1", "ManagedResourceDefinition"));
        // In one of its spellings.
        let capabilities: &[&str] = if self.starts_safely { &["SafeStart"] } else { &[] };
        json!({"objectRefs": served.chain(managed).collect::<Vec<_>>(), "capabilities": capabilities})
    }

    pub(crate) fn deployment(&self, account: &str) -> Value {
        let labels = json!({"pkg.crossplane.io/revision": self.id()});
        let container = json!({"name": "main", "image": "example.org/provider:v1"});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": SYSTEM, "name": self.id()},
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
                "spec": {"serviceAccountName": account, "containers": [container]}}}})
    }

    pub(crate) fn account(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": SYSTEM, "name": self.id()}})
    }

    /// What Crossplane does when it installs a revision, in its order.
    pub(crate) async fn install(&self, place: &Place) -> Result<()> {
        place.apply(&self.object()).await?;
        self.establish(place).await?;
        self.start(place).await
    }

    /// The provider begins to run.
    pub(crate) async fn start(&self, place: &Place) -> Result<()> {
        place.apply(&self.owned(place, self.account()).await?).await?;
        place.apply(&self.owned(place, self.deployment(&self.id())).await?).await?;
        Ok(())
    }

    /// Takes over what it brings, and says so.
    pub(crate) async fn establish(&self, place: &Place) -> Result<()> {
        for name in self.served {
            place.apply(&self.owned(place, served(name)).await?).await?;
        }
        for name in self.managed {
            place.apply(&self.owned(place, managed(name)).await?).await?;
        }
        place.report(&self.object(), &self.status()).await
    }

    /// An object that a revision controls; who controlled it before still owns it.
    pub(crate) async fn owned(&self, place: &Place, object: Value) -> Result<Value> {
        let revision = place.get(&self.object()).await?.context("the revision is there")?;
        let before = place.get(&object).await?.unwrap_or_default();
        let uid = &revision["metadata"]["uid"];
        let before = before["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        let others = before.into_iter().filter(|owner| owner["uid"] != *uid);
        let others = others.map(|owner| with(owner, json!({"controller": false})));
        let owner = json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": self.id(),
            "uid": uid, "controller": true, "blockOwnerDeletion": true});
        let owners: Vec<Value> = others.chain([owner]).collect();
        Ok(with(object, json!({"metadata": {"ownerReferences": owners}})))
    }

    /// What Crossplane does when another revision is to take over: first the provider ends. Its account stays.
    pub(crate) async fn deactivate(&self, place: &Place) -> Result<()> {
        place.delete(&self.deployment("")).await?;
        place.merge(&self.object(), &json!({"spec": {"desiredState": "Inactive"}})).await?;
        Ok(())
    }
}

/// A resource that is served.
pub(crate) fn served(name: &str) -> Value {
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    let names = json!({"plural": plural, "kind": plural.trim_end_matches('s').to_uppercase()});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
        "spec": {"group": group, "scope": "Cluster", "names": names, "versions": [version]}})
}

/// A resource that may be served.
pub(crate) fn managed(name: &str) -> Value {
    let spec = served(name)["spec"].clone();
    json!({"apiVersion": "apiextensions.crossplane.io/v1alpha1", "kind": "ManagedResourceDefinition",
        "metadata": {"name": name}, "spec": spec})
}

/// Installs everything, and binds people to the roles that will be there.
pub(crate) async fn install(place: &Place) -> Result<()> {
    place.apply(&namespace(SYSTEM)).await?;
    for provider in PROVIDERS {
        provider.install(place).await?;
    }
    for definition in definitions() {
        place.apply(&definition.object()).await?;
    }
    for (index, namespace) in namespaces().iter().enumerate() {
        place.apply(namespace).await?;
        for role in ["edit", "view"] {
            place.apply(&bound_in(index + 1, role)).await?;
        }
    }
    for role in ["edit", "view", "browse"] {
        place.apply(&bound(role)).await?;
    }
    Ok(())
}

pub(crate) fn role_ref(name: &str) -> Value {
    json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name})
}

pub(crate) fn user(name: &str) -> Value {
    json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}])
}

/// Somebody who has one of Crossplane's roles in the whole cluster.
fn bound(role: &str) -> Value {
    let fields = json!({"roleRef": role_ref(&format!("crossplane-{role}")), "subjects": user(role)});
    with(rbac("ClusterRoleBinding", &format!("tests-{role}")), fields)
}

/// Somebody who has a role of a namespace there.
fn bound_in(team: usize, role: &str) -> Value {
    let fields = json!({"roleRef": role_ref(&format!("crossplane-ns-team-{team}-{role}")),
        "subjects": user(&format!("team-{team}-{role}"))});
    with(rbac("RoleBinding", &format!("team-{team}/tests-{role}")), fields)
}
