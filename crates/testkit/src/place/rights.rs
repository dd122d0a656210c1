//! A manager under exactly the rights that `rolewright manifests rbac` prints: nothing is refused, and nothing is there
//! without need.
//!
//! What a right allows is either asked for by a request, which is seen; or it is needed beside one, as with `escalate`,
//! and then something is refused without it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_controller::lease;
use rolewright_controller::run::{Leases, Process, run};
use rolewright_core::Rule;
use rolewright_core::subject::User;
use rolewright_plan::rights::{Identity, Rights};
use rolewright_plan::{Module, Name};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::{PATIENCE, Place, quick};
use crate::requests::Requests;

/// What a manager does in a day.
pub trait Day: Sync {
    /// Its modules.
    fn modules(&self) -> Vec<Box<dyn Module>>;

    /// Whether to see what happens without each right that no request shows.
    fn is_thorough(&self) -> bool {
        true
    }

    /// Takes away what the day before left.
    fn tidy_up(&self, place: &Place) -> impl Future<Output = Result<()>> + Send;

    /// What is there when the manager comes.
    fn before(&self, place: &Place, identity: &Identity) -> impl Future<Output = Result<()>> + Send;

    /// Everything that the manager has to do.
    fn work(&self, place: &Place) -> impl Future<Output = Result<()>> + Send;
}

/// Runs a manager through a day with all of its rights, and then without those that no request shows.
pub async fn exactly_enough(place: &Place, day: &impl Day) -> Result<()> {
    let identity = Identity::default();
    let namespace = identity.namespace_manifest().context("it has a namespace of its own")?;
    place.apply(&namespace).await?;
    let whole = all(day, &identity);
    let requests = work(place, &identity, day, &whole).await?;
    ensure!(requests.refused().is_empty(), "refused: {:?}", requests.refused());
    let used = requests.used();
    for right in rights(&whole, &identity) {
        if !used.contains(&right.request) && day.is_thorough() && asks_for(place, &right.rule) {
            let refused = work(place, &identity, day, &right.rest).await?.refused();
            ensure!(!refused.is_empty(), "nobody needs {}", right.rule);
        }
    }
    Ok(())
}

fn all(day: &impl Day, identity: &Identity) -> Rights {
    let modules = day.modules();
    Rights::of(modules.iter().map(|module| &**module), identity)
}

/// One verb on one resource.
struct Right {
    rule: Rule,
    /// How a request shows that it is used.
    request: String,
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
            let request = format!("{verb} {resource}.{} {}", word(&rule.api_groups), word(&rule.resource_names));
            all.push(Right { rule: rule.clone(), request: request.trim_end().to_owned(), rest });
        }
    }
    all
}

fn word(names: &[Name]) -> String {
    names.first().map(ToString::to_string).unwrap_or_default()
}

fn atoms(rule: &Rule) -> Vec<Rule> {
    let mut all = Vec::new();
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let (api_groups, resources, verbs) =
                    ([group.clone()].into(), [resource.clone()].into(), [verb.clone()].into());
                all.push(Rule { api_groups, resources, verbs, ..rule.clone() });
            }
        }
    }
    all
}

/// A day's work under these rights; returns what was asked for. It ends early when something is refused.
async fn work(place: &Place, identity: &Identity, day: &impl Day, rights: &Rights) -> Result<Requests> {
    day.tidy_up(place).await?;
    for manifest in rights.manifests(identity) {
        place.apply(&manifest).await?;
    }
    settled(place, identity, day, rights).await?;
    day.before(place, identity).await?;
    let requests = Requests::default();
    let client = place.client_as(&User::service_account(&identity.namespace, &identity.name), &requests)?;
    let process = Process {
        manager: quick(),
        leases: Leases::All(lease::Settings::new(&identity.namespace, &identity.lease, "tests")),
        listen: None,
        instance: "tests".to_owned(),
        grace: Duration::from_secs(5),
    };
    let ended = Arc::new(Notify::new());
    let signal = ended.clone();
    let running = tokio::spawn(run(client, day.modules(), process, move || {
        let signal = signal.clone();
        async move { signal.notified().await }
    }));
    let done = tokio::select! {
        done = day.work(place) => done,
        () = requests.first_refusal() => Ok(()),
    };
    ended.notify_one();
    timeout(PATIENCE, running).await.context("the manager does not end")???;
    done?;
    Ok(requests)
}

/// Waits until the authorizer has seen the rights: it follows a moment later.
async fn settled(place: &Place, identity: &Identity, day: &impl Day, rights: &Rights) -> Result<()> {
    let (mut whole, mut rights) = (all(day, identity), rights.clone());
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
            let start = Instant::now();
            while place.review(&review).await? != granted {
                ensure!(start.elapsed() < PATIENCE, "the authorizer does not follow: {rule}");
                sleep(Duration::from_millis(5)).await;
            }
        }
    }
    Ok(())
}

/// Whether a server asks for a right beside those of requests: ours lets everybody own anything.
fn asks_for(place: &Place, rule: &Rule) -> bool {
    place.is_real() || !rule.resources.iter().any(|resource| resource.ends_with("/finalizers"))
}
