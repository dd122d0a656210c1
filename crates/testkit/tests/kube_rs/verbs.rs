//! The verbs of `Api`, typed.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::rbac::v1::Role;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, Client, Error, ResourceExt};
use serde_json::json;

use crate::{config_map, eventually, named, namespace};

pub(crate) async fn objects(client: &Client) -> Result<()> {
    let ns = namespace(client, "objects").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    let made = maps.create(&PostParams::default(), &config_map("a", "one", "1")).await?;
    ensure!(made.uid().is_some() && made.resource_version().is_some() && made.creation_timestamp().is_some());
    ensure!(maps.get("a").await? == made);
    ensure!(maps.get_opt("b").await?.is_none());
    let seen = maps.get_metadata("a").await?;
    ensure!(
        seen.metadata.uid == made.metadata.uid && seen.types.is_some_and(|types| types.kind == "PartialObjectMetadata")
    );

    let dry = PostParams { dry_run: true, ..PostParams::default() };
    maps.create(&dry, &config_map("dry", "one", "1")).await?;
    ensure!(maps.get_opt("dry").await?.is_none(), "a dry run stores nothing");
    let generated = ConfigMap {
        metadata: kube::api::ObjectMeta { generate_name: Some("gen-".to_owned()), ..Default::default() },
        ..ConfigMap::default()
    };
    let name = maps.create(&PostParams::default(), &generated).await?.name_any();
    ensure!(name.starts_with("gen-") && name.len() == 9, "{name}");

    let mut changed = made.clone();
    changed.data = Some([("key".to_owned(), "2".to_owned())].into());
    let replaced = maps.replace("a", &PostParams::default(), &changed).await?;
    ensure!(replaced.resource_version() != made.resource_version() && replaced.uid() == made.uid());
    let stale = maps.replace("a", &PostParams::default(), &changed).await;
    ensure!(matches!(&stale, Err(Error::Api(status)) if status.is_conflict()), "{stale:?}");

    let mut entry = maps.entry("b").await?.or_insert(|| config_map("b", "two", "1"));
    entry.commit(&PostParams::default()).await?;
    entry.get_mut().data = Some([("key".to_owned(), "2".to_owned())].into());
    entry.commit(&PostParams::default()).await?;
    ensure!(maps.get("b").await?.data.is_some_and(|data| data["key"] == "2"));

    let other = Preconditions { uid: Some("b0c0ffee-0000-4000-8000-000000000000".to_owned()), resource_version: None };
    let refused = maps.delete("a", &DeleteParams::default().preconditions(other)).await;
    ensure!(matches!(&refused, Err(Error::Api(status)) if status.is_conflict()), "{refused:?}");
    let this = Preconditions { uid: made.uid(), resource_version: replaced.resource_version() };
    let deleted = maps.delete("a", &DeleteParams::background().preconditions(this)).await?;
    ensure!(deleted.is_right(), "a deletion at once answers with a Status");
    ensure!(maps.get_opt("a").await?.is_none());

    let one = ListParams::default().labels("part=two");
    let gone = maps.delete_collection(&DeleteParams::default(), &one).await?;
    ensure!(gone.left().is_some_and(|list| list.items.len() == 1), "a collection answers with what went");
    ensure!(maps.list(&one).await?.items.is_empty() && maps.get_opt(&name).await?.is_some());
    Ok(())
}

pub(crate) async fn pages(client: &Client) -> Result<()> {
    let ns = namespace(client, "pages").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    for number in 0..7 {
        let label = if number % 2 == 0 { "even" } else { "odd" };
        maps.create(&PostParams::default(), &config_map(&format!("m{number}"), label, "1")).await?;
    }
    let names = |list: &[ConfigMap]| list.iter().map(ResourceExt::name_any).collect::<Vec<_>>();
    let odd = maps.list(&ListParams::default().labels("part in (odd)")).await?;
    ensure!(names(&odd.items) == ["m1", "m3", "m5"], "{:?}", names(&odd.items));
    let one = maps.list(&ListParams::default().fields("metadata.name=m4")).await?;
    ensure!(names(&one.items) == ["m4"]);
    let own = ListParams::default().labels("part");
    let all = maps.list_metadata(&own).await?;
    ensure!(all.items.len() == 7 && all.metadata.resource_version.is_some());
    let (mut found, mut next, mut at) = (Vec::new(), None, None);
    loop {
        let mut page = own.clone().limit(3);
        page.continue_token = next.take();
        let list = maps.list(&page).await?;
        ensure!(list.items.len() <= 3);
        ensure!(at.is_none() || at == list.metadata.resource_version, "all pages are of one version");
        at.clone_from(&list.metadata.resource_version);
        found.extend(names(&list.items));
        if found.len() == 3 {
            // What happens meanwhile is not in the pages that follow.
            maps.create(&PostParams::default(), &config_map("m55", "even", "1")).await?;
            maps.delete("m6", &DeleteParams::default()).await?;
        }
        match list.metadata.continue_ {
            Some(token) if !token.is_empty() => next = Some(token),
            _ => break,
        }
    }
    ensure!(found == ["m0", "m1", "m2", "m3", "m4", "m5", "m6"], "{found:?}");
    let across: Api<ConfigMap> = Api::all(client.clone());
    ensure!(across.list(&own.clone().match_any()).await?.items.len() >= 7);
    Ok(())
}

pub(crate) async fn patches(client: &Client) -> Result<()> {
    let ns = namespace(client, "patches").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    let params = PatchParams::default();
    maps.create(&PostParams::default(), &config_map("a", "one", "1")).await?;
    let merged = maps.patch("a", &params, &Patch::Merge(json!({"data": {"key": null, "more": "2"}}))).await?;
    ensure!(merged.data == Some([("more".to_owned(), "2".to_owned())].into()));
    // How kube's finalizer begins: nothing is equal to null.
    let steps = json!([
        {"op": "test", "path": "/metadata/finalizers", "value": null},
        {"op": "add", "path": "/metadata/finalizers", "value": ["acme.io/hold"]},
    ]);
    let held = maps.patch("a", &params, &Patch::Json::<()>(serde_json::from_value(steps.clone())?)).await?;
    ensure!(held.finalizers() == ["acme.io/hold"]);
    let again = maps.patch("a", &params, &Patch::Json::<()>(serde_json::from_value(steps)?)).await;
    ensure!(matches!(&again, Err(Error::Api(status)) if status.code == 422 || status.is_invalid()), "{again:?}");
    let marked = maps.delete("a", &DeleteParams::default()).await?;
    ensure!(marked.left().is_some_and(|map| map.metadata.deletion_timestamp.is_some()), "it waits for its finalizer");
    maps.patch("a", &params, &Patch::Merge(json!({"metadata": {"finalizers": null}}))).await?;
    ensure!(maps.get_opt("a").await?.is_none(), "the last finalizer takes it along");

    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &ns);
    deployments.create(&PostParams::default(), &deployment()?).await?;
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "two", "image": "two:2"}]}}}});
    let patched = deployments.patch("web", &params, &Patch::Strategic(image)).await?;
    let containers = patched.spec.and_then(|spec| spec.template.spec).context("a pod")?.containers;
    let images: Vec<_> = containers.iter().filter_map(|container| container.image.as_deref()).collect();
    ensure!(images.len() == 2 && images.contains(&"two:2") && images.contains(&"one:1"), "merged by name: {images:?}");
    let seen =
        deployments.patch_metadata("web", &params, &Patch::Merge(json!({"metadata": {"labels": {"a": "b"}}}))).await?;
    ensure!(seen.labels().get("a").map(String::as_str) == Some("b"));
    Ok(())
}

/// Server-side apply.
pub(crate) async fn applying(client: &Client) -> Result<()> {
    let ns = namespace(client, "applying").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    let params = PatchParams::apply("kube-rs");
    let map = config_map("a", "one", "1");
    let applied = maps.patch("a", &params, &Patch::Apply(&map)).await?;
    ensure!(applied.managed_fields().iter().any(|entry| entry.manager.as_deref() == Some("kube-rs")));
    let again = maps.patch("a", &params, &Patch::Apply(&map)).await?;
    ensure!(again.resource_version() == applied.resource_version(), "the same again changes nothing");
    let other = PatchParams::apply("other");
    let refused = maps.patch("a", &other, &Patch::Apply(&config_map("a", "one", "2"))).await;
    ensure!(matches!(&refused, Err(Error::Api(status)) if status.is_conflict()), "{refused:?}");
    let forced = maps.patch("a", &other.force(), &Patch::Apply(&config_map("a", "one", "2"))).await?;
    ensure!(forced.data.is_some_and(|data| data["key"] == "2"));
    let dropped = ConfigMap { data: None, ..config_map("a", "one", "2") };
    let left = maps.patch("a", &PatchParams::apply("other"), &Patch::Apply(&dropped)).await?;
    ensure!(left.data.unwrap_or_default().is_empty(), "what its owner leaves out goes");
    Ok(())
}

fn deployment() -> Result<Deployment> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "one", "image": "one:1"}, {"name": "two", "image": "two:1"}]},
            },
        },
    }))?)
}

pub(crate) async fn subresources(client: &Client) -> Result<()> {
    let ns = namespace(client, "subresources").await?;
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &ns);
    let params = PatchParams::default();
    let made = deployments.create(&PostParams::default(), &deployment()?).await?;
    ensure!(made.metadata.generation == Some(1));
    let status = json!({"spec": {"replicas": 9}, "status": {"replicas": 1, "observedGeneration": 1}});
    let patched = deployments.patch_status("web", &params, &Patch::Merge(status)).await?;
    ensure!(patched.status.clone().is_some_and(|status| status.replicas == Some(1)));
    ensure!(patched.spec.clone().is_some_and(|spec| spec.replicas == Some(2)), "the status alone");
    let mut changed = patched;
    changed.spec.as_mut().context("a spec")?.replicas = Some(9);
    changed.status.as_mut().context("a status")?.replicas = Some(3);
    let replaced = deployments.replace_status("web", &PostParams::default(), &changed).await?;
    ensure!(
        replaced.status.is_some_and(|status| status.replicas == Some(3)) && replaced.metadata.generation == Some(1)
    );
    ensure!(deployments.get_status("web").await?.spec.is_some_and(|spec| spec.replicas == Some(2)));

    let mut scale = deployments.get_scale("web").await?;
    ensure!(scale.spec.clone().is_some_and(|spec| spec.replicas == Some(2)));
    ensure!(
        scale
            .status
            .clone()
            .is_some_and(|status| status.replicas == 3 && status.selector.as_deref() == Some("app=web"))
    );
    scale.spec.as_mut().context("a spec")?.replicas = Some(4);
    let replaced = deployments.replace_scale("web", &PostParams::default(), &scale).await?;
    ensure!(replaced.spec.is_some_and(|spec| spec.replicas == Some(4)));
    let patched = deployments.patch_scale("web", &params, &Patch::Merge(json!({"spec": {"replicas": 5}}))).await?;
    ensure!(patched.spec.is_some_and(|spec| spec.replicas == Some(5)));
    let web = deployments.get("web").await?;
    ensure!(web.spec.is_some_and(|spec| spec.replicas == Some(5)) && web.metadata.generation == Some(3));

    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &ns);
    accounts.create(&PostParams::default(), &ServiceAccount { metadata: named("robot"), ..Default::default() }).await?;
    eventually("the default account", || async { Ok(accounts.get_opt("default").await?) }).await?;
    let spec = TokenRequestSpec { expiration_seconds: Some(3600), ..Default::default() };
    let wanted = TokenRequest { spec: Some(spec), ..Default::default() };
    let issued = accounts.create_token_request("robot", &PostParams::default(), &wanted).await?;
    ensure!(issued.status.and_then(|status| status.token).is_some_and(|token| token.split('.').count() == 3), "a JWT");
    Ok(())
}

pub(crate) async fn refusals(client: &Client) -> Result<()> {
    let ns = namespace(client, "refusals").await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &ns);
    let create = PostParams::default();
    maps.create(&create, &config_map("a", "one", "1")).await?;
    let cases = [
        ("absent", maps.get("b").await.map(drop), 404, "NotFound"),
        ("there", maps.create(&create, &config_map("a", "one", "1")).await.map(drop), 409, "AlreadyExists"),
        ("invalid", maps.create(&create, &config_map("A_", "one", "1")).await.map(drop), 422, "Invalid"),
        (
            "nowhere",
            Api::<ConfigMap>::namespaced(client.clone(), "nowhere")
                .create(&create, &config_map("a", "b", "1"))
                .await
                .map(drop),
            404,
            "NotFound",
        ),
        ("bad selector", maps.list(&ListParams::default().fields("data=x")).await.map(drop), 400, "BadRequest"),
        ("bad token", maps.list(&ListParams::default().continue_token("x")).await.map(drop), 400, "BadRequest"),
        (
            "unknown field",
            maps.patch(
                "a",
                &PatchParams { field_validation: Some(kube::api::ValidationDirective::Strict), ..Default::default() },
                &Patch::Merge(json!({"bogus": 1})),
            )
            .await
            .map(drop),
            422,
            "Invalid",
        ),
        (
            "no rule",
            Api::<Role>::namespaced(client.clone(), &ns)
                .create(&create, &serde_json::from_value(json!({"metadata": {"name": "r"}, "rules": [{"verbs": []}]}))?)
                .await
                .map(drop),
            422,
            "Invalid",
        ),
    ];
    for (title, answer, code, reason) in cases {
        let Err(Error::Api(status)) = &answer else { anyhow::bail!("{title}: {answer:?}") };
        ensure!((status.code, status.reason.as_str()) == (code, reason), "{title}: {status:?}");
    }
    Ok(())
}
