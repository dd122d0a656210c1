//! The manager under exactly the rights that `rolewright manifests rbac --modules crossplane --manage LEVEL` prints: nothing
//! is refused, and nothing is there without need.
//!
//! What a right allows is either asked for by a request, which is seen; or it is needed beside one, as with `escalate`,
//! and then something is refused without it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::Client;
use kube::api::{DynamicObject, PostParams};
use kube::client::ClientBuilder;
use rolewright_controller::lease;
use rolewright_controller::run::{Process, run};
use rolewright_core::Rule;
use rolewright_core::subject::User;
use rolewright_plan::Module;
use rolewright_plan::crossplane::{Crossplane, FamilyRoles, Manage, Settings};
use rolewright_plan::rights::{Identity, Rights};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;
use tower::Layer;

use crate::place::{PATIENCE, Place, Source, quick, rbac, with};
use crate::platform::{Definition, Provider, SYSTEM, Scope, namespace};
use crate::requests::Requests;

const DEFINED: Definition = Definition { plural: "xrights", group: "acme.io", scope: Scope::Claimed };
const TAKEN: Definition = Definition { plural: "xtaken", group: "acme.io", scope: Scope::Claimed };
const BRINGING: Provider =
    Provider { name: "rights", revision: 1, family: None, served: &["wrongs.rights.example.org"], managed: &[] };
const NAMELESS: Provider = Provider { name: "taken", ..BRINGING };

/// Runs the manager through a day's work at each level with all of its rights, and then without those that no request
/// shows.
pub(crate) async fn exactly_enough(place: &Place) -> Result<()> {
    crate::platform::remove(place).await?;
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
fn parts(rights: &mut Rights, identity: &Identity) -> Vec<(String, &mut Vec<Rule>)> {
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
    tidy_up(place, identity).await?;
    for manifest in rights.manifests(identity) {
        place.apply(&manifest).await?;
    }
    settled(place, identity, settings, rights).await?;
    before(place).await?;
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
        done = day(place, settings) => done,
        () = requests.first_refusal() => Ok(()),
    };
    ended.notify_one();
    timeout(PATIENCE, running).await.context("the manager does not end")???;
    done?;
    Ok(requests)
}

fn role(name: &str) -> Value {
    rbac("ClusterRole", name)
}

fn composite(definition: &Definition, to: &str) -> Value {
    role(&format!("crossplane:composite:{}:aggregate-to-{to}", definition.name()))
}

fn provider(provider: &Provider, what: &str) -> String {
    format!("crossplane:provider:{}:{what}", provider.id())
}

/// What is there when the manager comes: a role and a binding that its predecessor made, and roles that others made.
async fn before(place: &Place) -> Result<()> {
    let definition = place.apply(&DEFINED.object()).await?;
    inherit(place, &definition, &with(composite(&DEFINED, "crossplane"), json!({"rules": []}))).await?;
    let revision = place.apply(&BRINGING.object()).await?;
    let name = provider(&BRINGING, "system");
    let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
    inherit(place, &revision, &with(rbac("ClusterRoleBinding", &name), json!({"roleRef": role_ref}))).await?;
    for taken in [composite(&TAKEN, "crossplane"), role(&provider(&NAMELESS, "system"))] {
        place.apply(&with(taken, json!({"rules": []}))).await?;
    }
    Ok(())
}

/// An object as Crossplane's manager made it for another one.
async fn inherit(place: &Place, owner: &Value, object: &Value) -> Result<()> {
    let owner = json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true});
    let object = with(object.clone(), json!({"metadata": {"ownerReferences": [owner]}}));
    let params = PostParams { field_manager: Some("crossplane".to_owned()), ..PostParams::default() };
    let made: DynamicObject = serde_json::from_value(object.clone())?;
    place.api(&object)?.create(&params, &made).await?;
    Ok(())
}

/// Everything that the manager has to do: grant, inherit, bind, widen, revoke, complain.
async fn day(place: &Place, settings: &Settings) -> Result<()> {
    let has = |text: &'static str| move |object: &Value| object["rules"].to_string().contains(text);
    let ours = |object: &Value| {
        let entries = object["metadata"]["managedFields"].as_array();
        entries.is_some_and(|all| all.iter().all(|entry| entry["manager"] != "crossplane"))
    };
    place
        .until("an inheritance", &composite(&DEFINED, "crossplane"), |role| ours(role) && has("xrights")(role))
        .await?;
    BRINGING.install(place).await?;
    let system = role(&provider(&BRINGING, "system"));
    let binding = rbac("ClusterRoleBinding", &provider(&BRINGING, "system"));
    place.until("a provider's role", &system, has("wrongs")).await?;
    place.until("its binding", &binding, |binding| ours(binding) && binding["subjects"].is_array()).await?;
    let refs = json!([{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "name": "rights.rights.example.org"}]);
    place.report(&BRINGING.object(), &json!({"objectRefs": refs})).await?;
    place.until("more rights", &system, has("\"rights\"")).await?;
    if settings.manage == Manage::All {
        let enabled = json!({"metadata": {"annotations": {"rbac.crossplane.io/xrights.acme.io": "xrd-enabled"}}});
        place.merge(&namespace("rights"), &enabled).await?;
        place.until("a role of a namespace", &role("crossplane-ns-rights-edit"), |_| true).await?;
    }
    // Trouble is told.
    let ready = |object: &Value| {
        let all = object["status"]["conditions"].as_array().into_iter().flatten();
        all.into_iter().any(|one| one["type"] == "PermissionsReady" && one["status"] == "False")
    };
    place.apply(&TAKEN.object()).await?;
    place.until("a complaint", &TAKEN.object(), ready).await?;
    NAMELESS.install(place).await?;
    place.until("a complaint", &NAMELESS.object(), ready).await?;
    // Less, and nothing.
    place.delete(&BRINGING.deployment("")).await?;
    place.until_gone(&binding).await?;
    place.report(&BRINGING.object(), &json!({"objectRefs": []})).await?;
    place.delete(&crate::platform::served("wrongs.rights.example.org")).await?;
    place.until_gone(&system).await
}

/// Takes away what a day leaves, for the next one to begin anew.
async fn tidy_up(place: &Place, identity: &Identity) -> Result<()> {
    let annotations = json!({"metadata": {"annotations": {"rbac.crossplane.io/xrights.acme.io": null}}});
    place.merge(&namespace("rights"), &annotations).await?;
    let lease = |namespace: &str, name: &str| {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"namespace": namespace, "name": name}})
    };
    let mut all = vec![lease(&identity.namespace, &identity.lease), lease(SYSTEM, "crossplane-leader-election-rbac")];
    all.push(crate::platform::served("wrongs.rights.example.org"));
    all.extend([DEFINED, TAKEN].iter().map(Definition::object));
    all.extend([BRINGING, NAMELESS].iter().flat_map(|one| [one.object(), one.deployment("")]));
    all.extend([composite(&TAKEN, "crossplane"), role(&provider(&NAMELESS, "system"))]);
    all.extend([composite(&DEFINED, "crossplane"), rbac("ClusterRoleBinding", &provider(&BRINGING, "system"))]);
    all.extend(crate::drift::kept(place).await?);
    for object in &all {
        if place.get(object).await?.is_some() {
            // The garbage collector may be faster.
            let _ = place.delete(object).await;
        }
    }
    for object in &all {
        place.until_gone(object).await?;
    }
    Ok(())
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
