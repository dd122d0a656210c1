//! Custom resources: the definition, typed and untyped objects, their status and scale.

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{GroupVersionKind, Object};
use kube::discovery::{self, Discovery};
use kube::runtime::conditions::{is_crd_established, is_deleted};
use kube::runtime::wait::await_condition;
use kube::{Api, Client, Error, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::timeout;

use crate::{PATIENCE, eventually, namespace};

const GROUP: &str = "kube-rs.example.com";
const NAME: &str = "gadgets.kube-rs.example.com";

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Spec {
    size: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replicas: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colour: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Status {
    #[serde(default)]
    replicas: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
}

type Gadget = Object<Spec, Status>;

pub(crate) async fn custom_resources(client: &Client) -> Result<()> {
    let ns = namespace(client, "custom").await?;
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let apply = PatchParams::apply("kube-rs");
    crds.patch(NAME, &apply, &Patch::Apply(definition())).await?;
    let established = await_condition(crds.clone(), NAME, is_crd_established());
    timeout(PATIENCE, established).await.context("it is not established")??;
    let kind = GroupVersionKind::gvk(GROUP, "v1", "Gadget");
    let (resource, able) = eventually("discovery", || async {
        Ok(discovery::pinned_kind(client, &kind).await.ok().filter(|(_, able)| able.subresources.len() == 2))
    })
    .await?;
    ensure!(resource.plural == "gadgets", "{resource:?}");
    eventually("aggregated discovery", || async {
        let found = Discovery::new(client.clone()).filter(&[GROUP]).run_aggregated().await?;
        Ok(found.resolve_gvk(&kind))
    })
    .await?;
    let gadgets: Api<Gadget> = Api::namespaced_with(client.clone(), &ns, &resource);
    eventually("being served", || async { Ok(gadgets.list(&ListParams::default()).await.ok()) }).await?;
    typed(&gadgets, &resource).await?;
    parts(&gadgets).await?;
    let all: Api<DynamicObject> = Api::dynamic(client.clone(), &resource, &able.scope).constrain(&ns);
    untyped(&all, &resource).await?;
    crds.delete(NAME, &DeleteParams::default()).await?;
    eventually("the end of the definition", || async { Ok(crds.get_opt(NAME).await?.is_none().then_some(())) }).await?;
    eventually("the end of its objects", || async { Ok(gadgets.list(&ListParams::default()).await.err()) }).await?;
    Ok(())
}

/// Server-side apply of a type of ours.
async fn typed(gadgets: &Api<Gadget>, resource: &ApiResource) -> Result<()> {
    let apply = PatchParams::apply("kube-rs");
    let gadget = Gadget::new("a", resource, Spec { size: 3, replicas: Some(2), colour: None });
    let stored = gadgets.patch("a", &apply, &Patch::Apply(&gadget)).await?;
    ensure!(stored.spec.colour.as_deref() == Some("red"), "the default: {:?}", stored.spec);
    ensure!(stored.metadata.generation == Some(1));
    let again = gadgets.patch("a", &apply, &Patch::Apply(&gadget)).await?;
    ensure!(again.resource_version() == stored.resource_version(), "an apply that changes nothing writes nothing");
    let other = PatchParams::apply("other");
    let taken = Gadget::new("a", resource, Spec { size: 4, ..Spec::default() });
    let refused = gadgets.patch("a", &other, &Patch::Apply(&taken)).await;
    ensure!(matches!(&refused, Err(Error::Api(status)) if status.code == 409), "{refused:?}");
    let forced = gadgets.patch("a", &other.force(), &Patch::Apply(&taken)).await?;
    ensure!(forced.spec.size == 4 && forced.spec.replicas == Some(2));
    let invalid = Gadget::new("bad", resource, Spec { size: 10, ..Spec::default() });
    let refused = gadgets.create(&PostParams::default(), &invalid).await;
    ensure!(matches!(&refused, Err(Error::Api(status)) if status.code == 422), "{refused:?}");
    Ok(())
}

/// Status and scale.
async fn parts(gadgets: &Api<Gadget>) -> Result<()> {
    let params = PatchParams::default();
    let status = json!({"status": {"replicas": 1, "phase": "Running"}, "spec": {"size": 9}});
    let patched = gadgets.patch_status("a", &params, &Patch::Merge(status)).await?;
    ensure!(patched.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running"));
    ensure!(patched.spec.size == 4, "the spec is not the status' to write");
    ensure!(gadgets.get_status("a").await?.status == patched.status);
    let running = await_condition(gadgets.clone(), "a", |gadget: Option<&Gadget>| {
        gadget.and_then(|gadget| gadget.status.as_ref()).is_some_and(|status| status.phase.is_some())
    });
    timeout(PATIENCE, running).await.context("it does not run")??;
    let scale = gadgets.get_scale("a").await?;
    ensure!(scale.spec.and_then(|spec| spec.replicas) == Some(2));
    let scaled = gadgets.patch_scale("a", &params, &Patch::Merge(json!({"spec": {"replicas": 5}}))).await?;
    ensure!(scaled.spec.and_then(|spec| spec.replicas) == Some(5));
    ensure!(gadgets.get("a").await?.spec.replicas == Some(5));
    Ok(())
}

async fn untyped(gadgets: &Api<DynamicObject>, resource: &ApiResource) -> Result<()> {
    let data = json!({"spec": {"size": 1}});
    let created = gadgets.create(&PostParams::default(), &DynamicObject::new("b", resource).data(data)).await?;
    ensure!(created.data["spec"]["colour"] == "red", "{created:?}");
    let by_field = gadgets.list(&ListParams::default().fields("spec.size=1")).await?;
    ensure!(by_field.items.len() == 1 && by_field.items.iter().all(|gadget| gadget.name_any() == "b"));
    let metadata = gadgets.get_metadata("b").await?;
    ensure!(metadata.metadata.uid == created.metadata.uid);
    let uid = created.uid().context("objects have ids")?;
    gadgets.delete("b", &DeleteParams::default()).await?;
    timeout(PATIENCE, await_condition(gadgets.clone(), "b", is_deleted(&uid))).await.context("b stays")??;
    gadgets.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    ensure!(gadgets.list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}

fn definition() -> serde_json::Value {
    let spec = json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "maximum": 9},
        "replicas": {"type": "integer"},
        "colour": {"type": "string", "default": "red"},
    }});
    let status =
        json!({"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}});
    let scale = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": NAME},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
                "subresources": {"status": {}, "scale": scale},
                "selectableFields": [{"jsonPath": ".spec.size"}],
            }],
        },
    })
}
