//! A world as objects of the API, and the way from one to another.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use super::{Definition, Deployment, ELSEWHERE, HOME, Reference, Revision, SHOP, Served, World};
use crate::definitions::{DEFINITIONS, established};
use crate::servers::Home;

const REVISIONS: &str = "/apis/pkg.crossplane.io/v1/providerrevisions";
const MANAGED: &str = "/apis/apiextensions.crossplane.io/v1alpha1/managedresourcedefinitions";
const APPLY: &str = "application/apply-patch+yaml";
/// Requests at the same time.
const TOGETHER: usize = 8;

/// Objects by their path. A text `uid of PATH` stands for the id of that object.
type Objects = BTreeMap<String, Value>;

/// Makes of a cluster with one world one with another. What is wanted comes before what is not goes.
pub(crate) async fn apply(home: &Home, before: &World, after: &World) -> Result<()> {
    for stage in [World::owners, World::states, World::nameless, World::owned_objects] {
        let (old, new) = (stage(before), stage(after));
        let changed = new.into_iter().filter(|(path, object)| old.get(path) != Some(object));
        let applied = stream::iter(changed.map(|(path, object)| one(home, path, object)));
        applied.buffer_unordered(TOGETHER).try_collect::<()>().await?;
    }
    for stage in [World::owned_objects, World::nameless, World::owners] {
        let (old, new) = (stage(before), stage(after));
        let gone = old.into_keys().filter(|path| !new.contains_key(path));
        let deleted = gone.map(|path| async move { home.done("DELETE", &path, "application/json", Vec::new()).await });
        stream::iter(deleted).buffer_unordered(TOGETHER).try_collect::<Vec<_>>().await?;
    }
    Ok(())
}

async fn one(home: &Home, path: String, mut object: Value) -> Result<()> {
    resolve(home, &mut object).await?;
    let query = format!("{path}?fieldManager=world&force=true");
    home.done("PATCH", &query, APPLY, object.to_string().into_bytes()).await?;
    if path.starts_with(DEFINITIONS) {
        established(home, &path).await?;
    }
    Ok(())
}

async fn resolve(home: &Home, object: &mut Value) -> Result<()> {
    for owner in object["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten() {
        let path =
            owner["uid"].as_str().and_then(|text| text.strip_prefix("uid of ")).context("an owner has a path")?;
        let found = home.get(path).await?.body;
        owner["uid"] = found["metadata"]["uid"].clone();
    }
    Ok(())
}

fn owned_by(revision: &str, controller: bool) -> Value {
    let mut owner = json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": revision,
        "uid": format!("uid of {REVISIONS}/{revision}")});
    if controller {
        owner["controller"] = true.into();
    }
    json!([owner])
}

impl World {
    /// Whatever others are owned by.
    fn owners(&self) -> Objects {
        let mut objects = Objects::new();
        // A cluster in which nothing is has none of them either.
        let namespaces: &[&str] = if self.definitions.is_empty() { &[] } else { &[HOME, ELSEWHERE, SHOP] };
        for &name in namespaces {
            let mut metadata = json!({"name": name});
            if name == SHOP {
                let enabled = self.definitions.iter().find(|definition| definition.name().len() <= 63);
                if let Some(definition) = enabled {
                    let key = format!("rbac.crossplane.io/{}", definition.name());
                    metadata["annotations"] = json!({key: "xrd-enabled"});
                }
            }
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
            objects.insert(format!("/api/v1/namespaces/{name}"), namespace);
        }
        objects.extend(self.definitions.iter().map(Definition::object));
        objects.extend(self.revisions.iter().map(Revision::object));
        objects
    }

    fn states(&self) -> Objects {
        self.revisions.iter().map(Revision::state).collect()
    }

    /// What spoils the bindings of Crossplane's manager: only what comes afterwards is spoilt for certain.
    fn nameless(&self) -> Objects {
        self.deployments.iter().filter(|one| one.account.is_empty()).map(Deployment::object).collect()
    }

    fn owned_objects(&self) -> Objects {
        let accounts = self.accounts.iter().map(|(revision, name)| {
            let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
                "metadata": {"name": name, "namespace": HOME, "ownerReferences": owned_by(revision, true)}});
            (format!("/api/v1/namespaces/{HOME}/serviceaccounts/{name}"), account)
        });
        let mut objects: Objects = accounts.collect();
        objects.extend(self.deployments.iter().filter(|one| !one.account.is_empty()).map(Deployment::object));
        objects.extend(self.served.iter().filter_map(Served::object));
        objects
    }
}

impl Definition {
    fn object(&self) -> (String, Value) {
        let version = if self.scope.is_some_and(|scope| scope != "LegacyCluster") { "v2" } else { "v1" };
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}});
        let kind = |plural: &str| format!("K{plural}");
        let mut spec = json!({"group": self.group, "names": {"plural": self.plural, "kind": kind(&self.plural)},
            "versions": [{"name": "v1", "served": true, "referenceable": true, "schema": schema}]});
        if let Some(scope) = self.scope {
            spec["scope"] = scope.into();
        }
        if let Some(claim) = &self.claim {
            spec["claimNames"] = json!({"plural": claim, "kind": kind(claim)});
        }
        let mut metadata = json!({"name": self.name()});
        if self.paused {
            metadata["annotations"] = json!({"crossplane.io/paused": "true"});
        }
        let api = format!("apiextensions.crossplane.io/{version}");
        let path = format!("/apis/{api}/compositeresourcedefinitions/{}", self.name());
        (path, json!({"apiVersion": api, "kind": "CompositeResourceDefinition", "metadata": metadata, "spec": spec}))
    }
}

impl Revision {
    fn object(&self) -> (String, Value) {
        let mut labels = json!({"pkg.crossplane.io/package": self.package});
        if let Some(family) = &self.family {
            labels["pkg.crossplane.io/provider-family"] = family.as_str().into();
        }
        let state = if self.active { "Active" } else { "Inactive" };
        let spec = json!({"desiredState": state, "image": self.image.text(), "revision": 1});
        let object = json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision",
            "metadata": {"name": self.name, "labels": labels}, "spec": spec});
        (format!("{REVISIONS}/{}", self.name), object)
    }

    fn state(&self) -> (String, Value) {
        let refs: Vec<Value> = self.refs.iter().map(Reference::object).collect();
        let object = json!({"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision",
            "metadata": {"name": self.name}, "status": {"objectRefs": refs, "capabilities": self.capabilities}});
        (format!("{REVISIONS}/{}/status", self.name), object)
    }
}

impl Reference {
    fn object(&self) -> Value {
        let (version, kind, name) = match self {
            Self::Served(name) => ("apiextensions.k8s.io/v1", "CustomResourceDefinition", name.as_str()),
            Self::Managed(name) => ("apiextensions.crossplane.io/v1alpha1", "ManagedResourceDefinition", name.as_str()),
            Self::Other(version, kind, name) => (*version, *kind, *name),
        };
        json!({"apiVersion": version, "kind": kind, "name": name})
    }
}

impl Deployment {
    fn object(&self) -> (String, Value) {
        let labels = json!({"app": self.name});
        let mut pod = json!({"containers": [{"name": "main", "image": "example.org/provider:v1"}]});
        if !self.account.is_empty() {
            pod["serviceAccountName"] = self.account.as_str().into();
        }
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": self.name, "namespace": self.namespace,
                "ownerReferences": owned_by(&self.revision, self.controlled)},
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}});
        (format!("/apis/apps/v1/namespaces/{}/deployments/{}", self.namespace, self.name), object)
    }
}

impl Served {
    fn object(&self) -> Option<(String, Value)> {
        let (plural, group) = self.name.split_once('.')?;
        let (path, version, kind) = if self.managed {
            (MANAGED, "apiextensions.crossplane.io/v1alpha1", "ManagedResourceDefinition")
        } else {
            (DEFINITIONS, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
        };
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let mut spec = json!({"group": group, "scope": "Cluster",
            "names": {"plural": plural, "singular": plural.trim_end_matches('s'), "kind": format!("K{plural}"),
                "listKind": format!("K{plural}List")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]});
        if self.managed {
            spec["state"] = "Inactive".into();
        }
        let object = json!({"apiVersion": version, "kind": kind, "spec": spec,
            "metadata": {"name": self.name, "ownerReferences": owned_by(&self.revision, true)}});
        Some((format!("{path}/{}", self.name), object))
    }
}
