//! Whatever dies ends the process, and is named; the lease goes back in any case.

mod leases;

use std::future::pending;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Request};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::client::Body;
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use rolewright_core::Rule;
use rolewright_core::aggregate::fit::Fitter;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::rbac::CLUSTER_ROLE;
use rolewright_plan::{Change, Intent, ObjectRef, SharedLease, Snapshot, Time, Watch};
use rolewright_testkit::embedded::{self, Controllers, Server, admin};
use rolewright_testkit::grants::{self, GRANT, Grants};
use serde_json::{Value, json};
use tower::Service;

use super::*;

type When = Arc<dyn Fn(&Method, &str) -> bool + Send + Sync>;

/// A connection on which some requests end in a panic of whoever sent them.
#[derive(Clone)]
struct Deadly<S> {
    inner: S,
    when: When,
}

impl<S> Service<Request<Body>> for Deadly<S>
where
    S: Service<Request<Body>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if (self.when)(request.method(), request.uri().path()) {
            return async { panic!("the wire broke") }.boxed();
        }
        self.inner.call(request).boxed()
    }
}

/// A module that does nothing, or cannot stand what it sees.
struct Broken(Behaviour);

#[derive(PartialEq)]
enum Behaviour {
    Idle,
    Panics,
}

impl Module for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::needed(&CLUSTER_ROLE)]
    }

    fn writes(&self) -> Vec<Rule> {
        Vec::new()
    }

    fn observe(&mut self, _: &Snapshot, _: &[Change], _: Time, _: &mut dyn FnMut(ObjectRef)) {
        assert!(self.0 == Behaviour::Idle, "what is this?");
    }

    fn intend(&self, _: &Snapshot, _: &ObjectRef, _: Time) -> Intent {
        Intent::default()
    }

    fn keys(&self, _: &Snapshot) -> Vec<ObjectRef> {
        Vec::new()
    }
}

/// A module whose job another controller may be doing, which holds this lease then.
struct Leased<M>(M);

const THEIRS: &str = "crossplane-leader-election-rbac";

impl<M: Module> Module for Leased<M> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn watches(&self) -> Vec<Watch> {
        self.0.watches()
    }

    fn writes(&self) -> Vec<Rule> {
        self.0.writes()
    }

    fn lease(&self) -> Option<SharedLease> {
        Some(SharedLease { namespace: "default".into(), name: THEIRS.into(), flag: "--theirs" })
    }

    fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], now: Time, mark: &mut dyn FnMut(ObjectRef)) {
        self.0.observe(snapshot, changes, now, mark);
    }

    fn intend(&self, snapshot: &Snapshot, key: &ObjectRef, now: Time) -> Intent {
        self.0.intend(snapshot, key, now)
    }

    fn keys(&self, snapshot: &Snapshot) -> Vec<ObjectRef> {
        self.0.keys(snapshot)
    }
}

fn modules() -> Vec<Box<dyn Module>> {
    vec![Box::new(Grants), Box::new(ClusterRoleAggregation::new(Mode::Exclusive, Fitter::default()))]
}

fn process() -> Process {
    Process {
        manager: Settings::default(),
        leases: Leases::All(lease::Settings::new("default", "lease", "me")),
        listen: Some(([127, 0, 0, 1], 0).into()),
        instance: "me".to_owned(),
        grace: Duration::from_secs(30),
    }
}

/// A server with something to do, and something to complain about: two roles that select each other.
async fn server() -> Server {
    let controllers = Controllers { aggregation: false, ..Controllers::default() };
    let server = Server::start(embedded::Settings { controllers, ..Default::default() }).unwrap();
    let client = Client::new(server.router_as(admin()), "default");
    let role = |name: &str, other: &str| {
        let selector = json!({"matchLabels": {other: "true"}});
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": {name: "true"}},
            "aggregationRule": {"clusterRoleSelectors": [selector]},
        })
    };
    for object in [grants::definition(), role("a", "b"), role("b", "a")] {
        apply(&client, &object).await;
    }
    server
}

async fn apply(client: &Client, object: &Value) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (group, version) = object["apiVersion"].as_str().unwrap().split_once('/').unwrap();
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &text(&object["kind"])));
    let objects: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let name = text(&object["metadata"]["name"]);
    objects.patch(&name, &PatchParams::apply("tests"), &Patch::Apply(object)).await.unwrap();
}

/// Runs modules until they die of it; says how that ended, and who holds the lease.
async fn death(modules: Vec<Box<dyn Module>>, when: When) -> (String, Option<String>) {
    let server = server().await;
    let client = Client::new(Deadly { inner: server.router_as(admin()), when }, "default");
    let error = run(client, modules, process(), pending::<()>).await.unwrap_err();
    let held = holder(&server).await;
    server.end();
    (format!("{:#}", anyhow::Error::from(error)), held)
}

async fn holder(server: &Server) -> Option<String> {
    holder_of(server, "lease").await
}

async fn holder_of(server: &Server, lease: &str) -> Option<String> {
    let leases: Api<Lease> = Api::namespaced(Client::new(server.router_as(admin()), "default"), "default");
    leases.get_opt(lease).await.unwrap()?.spec?.holder_identity
}

#[tokio::test(start_paused = true)]
async fn a_task_that_panics_ends_all_and_is_named() {
    type Case = (&'static str, fn(&Method, &str) -> bool);
    let cases: [Case; 3] = [
        ("task `lease` panicked: the wire broke", |_, path| path.contains("/leases/")),
        ("task `events` panicked: the wire broke", |method, path| method == Method::POST && path.ends_with("/events")),
        ("task `manager` failed: a write ended: the wire broke", |method, _| method == Method::PATCH),
    ];
    for (expected, when) in cases {
        let (error, holder) = death(modules(), Arc::new(when)).await;
        assert_eq!(error, expected);
        if !expected.contains("lease") {
            assert_eq!(holder.unwrap_or_default(), "", "{expected}: the lease is free");
        }
    }
    let (error, _) = death(vec![Box::new(Broken(Behaviour::Panics))], Arc::new(|_, _| false)).await;
    assert_eq!(error, "task `manager` panicked: what is this?");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_panics_ends_all_and_is_named() {
    let kinds =
        [&GRANT, &CLUSTER_ROLE, &rolewright_plan::rbac::CLUSTER_ROLE_BINDING, &rolewright_plan::rbac::ROLE_BINDING];
    let watched: Vec<_> = modules().iter().flat_map(|module| module.watches()).map(|watch| watch.kind).collect();
    assert!(watched.iter().all(|kind| kinds.contains(kind)), "each of {watched:?}");
    for kind in kinds {
        let end = format!("/{}", kind.plural);
        let (error, _) =
            death(modules(), Arc::new(move |method, path| method == Method::GET && path.ends_with(&end))).await;
        assert_eq!(error, format!("task `manager` failed: the watch of {} ended: the wire broke", kind.plural));
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_killed_ends_all_and_is_named() {
    for name in ["lease", "shared lease", "events", "health", "manager"] {
        let server = server().await;
        let client = Client::new(server.router_as(admin()), "default");
        let mut modules = modules();
        modules.push(Box::new(Leased(Broken(Behaviour::Idle))));
        let tasks = start(client, modules, process(), Box::new(())).await.unwrap();
        for (lease, task) in [("lease", "lease"), (THEIRS, "shared lease")] {
            while name != task && holder_of(&server, lease).await.is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        assert!(tasks.kill(name));
        let error = tasks.run(pending::<()>, Duration::from_secs(30)).await.unwrap_err();
        assert_eq!(error.to_string(), format!("task `{name}` ended by itself"));
        for (lease, task) in [("lease", "lease"), (THEIRS, "shared lease")] {
            if name != task {
                let held = holder_of(&server, lease).await;
                assert_eq!(held.as_deref(), Some(""), "without {name}, {lease} is given back");
            }
        }
        server.end();
    }
}

#[tokio::test]
async fn who_cannot_start_takes_no_lease() {
    let server = server().await;
    let taken = Listening::on(([127, 0, 0, 1], 0).into()).await.unwrap();
    let client = Client::new(server.router_as(admin()), "default");
    let process = Process { listen: Some(taken.address), ..process() };
    let error = run(client, modules(), process, pending::<()>).await.unwrap_err();
    assert!(matches!(&error, RunError::Health(error) if error.is_busy()), "{error}");
    assert_eq!(holder(&server).await, None);
    server.end();
}
