//! The manager under exactly the rights that `rolewright manifests rbac --modules crossplane --manage LEVEL` prints: nothing
//! is refused, and nothing is there without need.
//!
//! What a right allows is either asked for by a request, which is seen; or it is needed beside one, as with `escalate`,
//! and then something is refused without it.

mod day;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::api::PostParams;
use kube::client::ClientBuilder;
use kube::{Api, Client};
use rolewright_controller::lease;
use rolewright_controller::run::{Process, run};
use rolewright_core::Rule;
use rolewright_core::subject::User;
use rolewright_plan::Module;
use rolewright_plan::crossplane::{Crossplane, FamilyRoles, Manage, Settings};
use rolewright_plan::rights::{Identity, Rights};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;
use tower::Layer;

use crate::place::{PATIENCE, Place, Source, quick};
use crate::platform::{SYSTEM, namespace};
use crate::requests::Requests;

/// Runs the manager through a day's work at each level with all of its rights, and then without those that no request
/// shows.
pub(crate) async fn exactly_enough(place: &Place) -> Result<()> {
    let identity = Identity::default();
    for name in [identity.namespace.as_str(), SYSTEM, "rights"] {
        place.apply(&namespace(name)).await?;
    }
    let of = |manage, family_roles| Settings { manage, family_roles, ..Settings::default() };
    for settings in [
        of(Manage::All, FamilyRoles::Replicated),
        of(Manage::All, FamilyRoles::Shared),
        of(Manage::Basic, FamilyRoles::Replicated),
        of(Manage::ServiceAccounts, FamilyRoles::Replicated),
    ] {
        let level = format!("{:?}, {:?}", settings.manage, settings.family_roles);
        enough(place, &identity, &settings).await.with_context(|| level)?;
    }
    Ok(())
}

async fn enough(place: &Place, identity: &Identity, settings: &Settings) -> Result<()> {
    let whole = Rights::of([&Crossplane::new(settings.clone()) as &dyn Module], identity);
    let requests = work(place, identity, settings, &whole).await?;
    ensure!(requests.refused().is_empty(), "refused: {:?}", requests.refused());
    let used = requests.used();
    // Who shares differs in what it reads, which is seen.
    let thorough = settings.family_roles == FamilyRoles::Replicated;
    for right in rights(&whole, identity) {
        let seen = used.contains(&right.request);
        let beside = right.beside && place.asks_for(&right.rule);
        ensure!(seen || right.beside, "nobody needs {}", right.rule);
        if beside && !seen && thorough {
            let refused = work(place, identity, settings, &right.rest).await?.refused();
            ensure!(!refused.is_empty(), "nobody needs {}", right.rule);
        }
    }
    Ok(())
}

/// One verb on one resource.
struct Right {
    rule: Rule,
    /// How a request shows that it is used.
    request: String,
    /// Whether it is needed beside another request.
    beside: bool,
    /// All the others.
    rest: Rights,
}

/// All rules, by namespace; those of the whole cluster have none.
fn parts<'a>(rights: &'a mut Rights, identity: &Identity) -> Vec<(String, &'a mut Vec<Rule>)> {
    let mut all = vec![(String::new(), &mut rights.cluster), (identity.namespace.clone(), &mut rights.own_namespace)];
    all.extend(rights.elsewhere.iter_mut().map(|(namespace, rules)| (namespace.clone(), rules)));
    all
}

fn rights(whole: &Rights, identity: &Identity) -> Vec<Right> {
    let mut all = Vec::new();
    let mut copy = whole.clone();
    for (at, (_, rules)) in parts(&mut copy, identity).into_iter().enumerate() {
        let atoms: Vec<Rule> = rules.iter().flat_map(atoms).collect();
        for (gone, rule) in atoms.iter().enumerate() {
            let others = atoms.iter().enumerate().filter(|(other, _)| *other != gone).map(|(_, rule)| rule.clone());
            let mut rest = whole.clone();
            *parts(&mut rest, identity).swap_remove(at).1 = others.collect();
            let (verb, resource) = (word(&rule.verbs), word(&rule.resources));
            let beside = matches!(verb.as_str(), "bind" | "escalate" | "create") || resource.ends_with("/finalizers");
            let request = format!("{verb} {resource}.{} {}", word(&rule.api_groups), word(&rule.resource_names));
            all.push(Right { rule: rule.clone(), request: request.trim_end().to_owned(), beside, rest });
        }
    }
    all
}

fn word(names: &[rolewright_plan::Name]) -> String {
    names.first().map(ToString::to_string).unwrap_or_default()
}

fn atoms(rule: &Rule) -> Vec<Rule> {
    let mut all = Vec::new();
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let (api_groups, resources, verbs) = (vec![group.clone()], vec![resource.clone()], vec![verb.clone()]);
                all.push(Rule { api_groups, resources, verbs, ..rule.clone() });
            }
        }
    }
    all
}

/// A day's work under these rights; returns what was asked for. It ends early when something is refused.
async fn work(place: &Place, identity: &Identity, settings: &Settings, rights: &Rights) -> Result<Requests> {
    day::tidy_up(place, identity).await?;
    for manifest in rights.manifests(identity) {
        place.apply(&manifest).await?;
    }
    settled(place, identity, settings, rights).await?;
    day::before(place).await?;
    known(place, identity).await?;
    let requests = Requests::default();
    let client = place.client_as(&User::service_account(&identity.namespace, &identity.name), &requests)?;
    let process = Process {
        manager: quick(),
        lease: Some(lease::Settings::new(&identity.namespace, &identity.lease, "tests")),
        listen: None,
        instance: "tests".to_owned(),
        grace: Duration::from_secs(5),
    };
    let ended = Arc::new(Notify::new());
    let signal = ended.clone();
    let modules: Vec<Box<dyn Module>> = vec![Box::new(Crossplane::new(settings.clone()))];
    let running = tokio::spawn(run(client, modules, process, move || {
        let signal = signal.clone();
        async move { signal.notified().await }
    }));
    let done = tokio::select! {
        done = day::work(place, settings) => done,
        () = requests.first_refusal() => Ok(()),
    };
    ended.notify_one();
    timeout(PATIENCE, running).await.context("the manager does not end")???;
    done?;
    Ok(requests)
}

/// Waits until the authorizer has seen the rights: it follows a moment later.
async fn settled(place: &Place, identity: &Identity, settings: &Settings, rights: &Rights) -> Result<()> {
    let mut whole = Rights::of([&Crossplane::new(settings.clone()) as &dyn Module], identity);
    let mut rights = rights.clone();
    let user = format!("system:serviceaccount:{}:{}", identity.namespace, identity.name);
    for ((namespace, all), (_, granted)) in parts(&mut whole, identity).into_iter().zip(parts(&mut rights, identity)) {
        for rule in all.iter().flat_map(atoms) {
            let granted = granted.iter().flat_map(atoms).any(|other| other == rule);
            let resource = word(&rule.resources);
            let (plural, sub) = resource.split_once('/').unwrap_or((&resource, ""));
            let attributes = json!({"verb": word(&rule.verbs), "group": word(&rule.api_groups), "resource": plural,
                "subresource": sub, "namespace": namespace, "name": word(&rule.resource_names)});
            let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                "metadata": {}, "spec": {"user": user, "resourceAttributes": attributes}});
            let start = std::time::Instant::now();
            while place.review(&review).await? != granted {
                ensure!(start.elapsed() < PATIENCE, "the authorizer does not follow: {rule}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
    Ok(())
}

/// Waits until the server knows the kinds of owners: until then it refuses what would hold up their deletion.
async fn known(place: &Place, identity: &Identity) -> Result<()> {
    let client = place.client_as(&User::service_account(&identity.namespace, &identity.name), &Requests::default())?;
    let roles: Api<ClusterRole> = Api::all(client);
    for kind in [day::DEFINED.object(), day::BRINGING.object()] {
        let owner = place.get(&kind).await?.context("the owner is there")?;
        let mut role = json!({"metadata": {"name": "rights-known"}});
        role["metadata"]["ownerReferences"] = json!([{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
            "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true}]);
        let role: ClusterRole = serde_json::from_value(role)?;
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        let start = std::time::Instant::now();
        while let Err(error) = roles.create(&dry, &role).await {
            if !error.to_string().contains("RESTMapping") {
                break;
            }
            ensure!(start.elapsed() < PATIENCE, "the server does not know `{}`", owner["kind"]);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

impl Place {
    /// A client of somebody, whose requests are seen.
    fn client_as(&self, user: &User, requests: &Requests) -> Result<Client> {
        match &self.source {
            Source::Ours(server) => Ok(Client::new(requests.layer(server.router_as(user.clone())), "default")),
            Source::Real { config, .. } => {
                let mut config = (**config).clone();
                config.auth_info.impersonate = Some(user.name.to_string());
                Ok(ClientBuilder::try_from(config)?.with_layer(requests).build())
            }
        }
    }

    /// Whether this server asks for a right beside those of requests: ours lets everybody own anything.
    fn asks_for(&self, rule: &Rule) -> bool {
        let finalizers = rule.resources.iter().any(|resource| resource.ends_with("/finalizers"));
        !finalizers || matches!(self.source, Source::Real { .. })
    }
}
