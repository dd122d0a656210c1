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
    for right in rights(&whole) {
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

fn rights(whole: &Rights) -> Vec<Right> {
    let mut all = Vec::new();
    for own in [false, true] {
        let rules = if own { &whole.own_namespace } else { &whole.cluster };
        let atoms: Vec<Rule> = rules.iter().flat_map(atoms).collect();
        for (at, rule) in atoms.iter().enumerate() {
            let rest = atoms.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, rule)| rule.clone());
            let mut rights = whole.clone();
            *(if own { &mut rights.own_namespace } else { &mut rights.cluster }) = rest.collect();
            let word = |names: &[rolewright_plan::Name]| names.first().map(ToString::to_string).unwrap_or_default();
            let (verb, resource) = (word(&rule.verbs), word(&rule.resources));
            let beside = matches!(verb.as_str(), "bind" | "escalate" | "create") || resource.ends_with("/finalizers");
            let request = format!("{verb} {resource}.{}", word(&rule.api_groups));
            all.push(Right { rule: rule.clone(), request, beside, rest: rights });
        }
    }
    all
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

/// What is there when the manager comes: a role that its predecessor made, and roles that others made.
async fn before(place: &Place) -> Result<()> {
    let definition = place.apply(&DEFINED.object()).await?;
    let owner = json!({"apiVersion": "apiextensions.crossplane.io/v1", "kind": "CompositeResourceDefinition",
        "name": DEFINED.name(), "uid": definition["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true});
    let inherited =
        with(composite(&DEFINED, "crossplane"), json!({"metadata": {"ownerReferences": [owner]}, "rules": []}));
    let params = PostParams { field_manager: Some("crossplane".to_owned()), ..PostParams::default() };
    let object: DynamicObject = serde_json::from_value(inherited.clone())?;
    place.api(&inherited)?.create(&params, &object).await?;
    for taken in [composite(&TAKEN, "crossplane"), role(&provider(&NAMELESS, "system"))] {
        place.apply(&with(taken, json!({"rules": []}))).await?;
    }
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
    place.until("its binding", &binding, |_| true).await?;
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
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"namespace": identity.namespace, "name": identity.lease}});
    let mut all = vec![lease, crate::platform::served("wrongs.rights.example.org")];
    all.extend([DEFINED, TAKEN].iter().map(Definition::object));
    all.extend([BRINGING, NAMELESS].iter().flat_map(|one| [one.object(), one.deployment("")]));
    all.extend([composite(&TAKEN, "crossplane"), role(&provider(&NAMELESS, "system"))]);
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
    let whole = Rights::of([&Crossplane::new(settings.clone()) as &dyn Module], identity);
    let user = format!("system:serviceaccount:{}:{}", identity.namespace, identity.name);
    for (namespace, all, granted) in [
        ("", &whole.cluster, &rights.cluster),
        (identity.namespace.as_str(), &whole.own_namespace, &rights.own_namespace),
    ] {
        for rule in all.iter().flat_map(atoms) {
            let granted = granted.iter().flat_map(atoms).any(|other| other == rule);
            let word = |names: &[rolewright_plan::Name]| names.first().map(ToString::to_string).unwrap_or_default();
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
