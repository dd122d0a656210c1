//! Discovery, and objects whose type is known only then.

use anyhow::{Context, Result, ensure};
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::{self, Discovery, Scope, verbs};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use crate::namespace;

const RBAC: &str = "rbac.authorization.k8s.io";

pub(crate) async fn discovery(client: &Client) -> Result<()> {
    let version = client.apiserver_version().await?;
    ensure!((version.major.as_str(), version.minor.as_str()) == ("1", "36"), "{version:?}");
    let one_by_one = Discovery::new(client.clone()).run().await?;
    let at_once = Discovery::new(client.clone()).run_aggregated().await?;
    for found in [&one_by_one, &at_once] {
        for group in ["", "apps", RBAC, "authorization.k8s.io", "coordination.k8s.io", "events.k8s.io"] {
            ensure!(found.has_group(group), "{group:?}");
        }
        let (role, able) = found.resolve_gvk(&GroupVersionKind::gvk(RBAC, "v1", "Role")).context("Role")?;
        ensure!((role.plural.as_str(), able.scope.clone()) == ("roles", Scope::Namespaced));
        for verb in [verbs::GET, verbs::LIST, verbs::WATCH, verbs::CREATE, verbs::PATCH, verbs::DELETE_COLLECTION] {
            ensure!(able.supports_operation(verb), "{verb}");
        }
        let (_, able) = found.resolve_gvk(&GroupVersionKind::gvk("apps", "v1", "Deployment")).context("Deployment")?;
        let mut subs: Vec<&str> = able.subresources.iter().map(|(sub, _)| sub.plural.as_str()).collect();
        subs.sort_unstable();
        ensure!(subs == ["scale", "status"], "{subs:?}");
    }
    let names = |found: &Discovery| {
        let mut names: Vec<String> = found
            .groups()
            .flat_map(discovery::ApiGroup::recommended_resources)
            .map(|(resource, able)| format!("{}/{} {:?}", resource.api_version, resource.plural, able.scope))
            .collect();
        names.sort();
        names
    };
    ensure!(names(&one_by_one) == names(&at_once), "both ways find the same");
    let group = discovery::group(client, RBAC).await?;
    ensure!(group.preferred_version() == Some("v1"));
    ensure!(group.recommended_kind("ClusterRole").is_some_and(|(_, able)| able.scope == Scope::Cluster));
    let pinned = discovery::pinned_kind(client, &GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease")).await?;
    ensure!(pinned.0.plural == "leases");
    Ok(())
}

pub(crate) async fn dynamic_objects(client: &Client) -> Result<()> {
    let ns = namespace(client, "dynamic").await?;
    let (resource, able) = discovery::pinned_kind(client, &GroupVersionKind::gvk(RBAC, "v1", "Role")).await?;
    let roles: Api<DynamicObject> = Api::dynamic(client.clone(), &resource, &able.scope).constrain(&ns);
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    roles.create(&PostParams::default(), &DynamicObject::new("reader", &resource).data(rules.clone())).await?;
    let found = roles.get("reader").await?;
    ensure!(found.data["rules"] == rules["rules"] && found.types.is_some_and(|types| types.kind == "Role"));
    let wider = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    let patched = roles.patch("reader", &PatchParams::default(), &Patch::Merge(json!({"rules": wider}))).await?;
    ensure!(patched.data["rules"] == wider);
    ensure!(roles.list(&ListParams::default()).await?.iter().any(|role| role.name_any() == "reader"));
    let everywhere: Api<DynamicObject> = Api::dynamic(client.clone(), &resource, &able.scope);
    ensure!(everywhere.list(&ListParams::default()).await?.iter().any(|role| role.namespace().as_deref() == Some(&ns)));
    roles.delete("reader", &DeleteParams::default()).await?;
    ensure!(roles.get_opt("reader").await?.is_none());

    let maps = ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
    let maps: Api<DynamicObject> = Api::namespaced_with(client.clone(), &ns, &maps);
    let yaml = DynamicObject { types: None, metadata: crate::named("bare"), data: json!({"data": {"a": "b"}}) };
    let made = maps.create(&PostParams::default(), &yaml).await?;
    ensure!(made.types.is_some_and(|types| types.api_version == "v1"), "the server says what it is");
    Ok(())
}
