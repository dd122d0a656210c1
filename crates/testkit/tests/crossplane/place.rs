//! A server with Crossplane's kinds on it, its own aggregation, and managers that come and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Request;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use rolewright_controller::metrics::Metrics;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_plan::engine::News;
use rolewright_plan::{Engine, Module, crossplane};
use rolewright_server::{Server, admin};
use rolewright_testkit::apiserver::ApiServer;
use rolewright_testkit::fault::{FaultLayer, Plan};
use rolewright_testkit::peers::{Crossplane, Project};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tower::Layer;

/// Nothing takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
const SUITE: &str = "Crossplane's suite";

/// A server where somebody aggregates roles, as in every cluster.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) client: Client,
    pub(crate) source: Source,
}

/// Where clients come from.
#[derive(Clone)]
pub(crate) enum Source {
    Ours(Server),
    Real { config: Box<kube::Config>, _server: Arc<ApiServer> },
}

/// A running manager.
pub(crate) struct Running {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) requests: FaultLayer,
    idle: Arc<AtomicBool>,
    end: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), rolewright_controller::manager::ManagerError>>,
}

impl Running {
    /// Waits until everything was seen and nothing is left to do.
    pub(crate) async fn rest(&self) -> Result<()> {
        let start = Instant::now();
        while !self.idle.load(Ordering::SeqCst) {
            ensure!(start.elapsed() < PATIENCE, "the manager finds no rest");
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Ends it in an orderly way.
    pub(crate) async fn end(self) -> Result<()> {
        let _ = self.end.send(());
        timeout(PATIENCE, self.ended).await.context("the manager does not end")???;
        Ok(())
    }
}

/// Whether everything was seen and nothing is left to do.
pub(crate) fn is_idle(engine: &Engine) -> bool {
    engine.has_seen_all() && engine.waiting().all(|(_, keys)| keys == 0)
}

impl Place {
    /// Our server, with its own aggregation.
    pub(crate) async fn ours() -> Result<Option<Self>> {
        let server = Server::start(rolewright_server::Settings::default())?;
        let place = Self::of(server);
        Ok(place.with_kinds().await?.then_some(place))
    }

    /// A server that somebody else keeps.
    pub(crate) fn of(server: Server) -> Self {
        let client = Client::new(server.router_as(admin()), "default");
        Self { name: "ours", client, source: Source::Ours(server) }
    }

    /// The real server with Kubernetes' controllers. Who sets an owner that cannot go before must be allowed to finish it.
    pub(crate) async fn real() -> Result<Option<Self>> {
        let strict = "enable-admission-plugins=OwnerReferencesPermissionEnforcement";
        let arguments = ["--arg".to_owned(), strict.to_owned()];
        let Some(server) = ApiServer::start_with(SUITE, &arguments)?.filter(|server| server.controllers) else {
            return Ok(None);
        };
        let config = Kubeconfig::read_from(&server.ready.kubeconfig)?;
        let mut config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
        config.default_retry = false;
        let client = Client::try_from(config.clone())?;
        let place =
            Self { name: "real", client, source: Source::Real { config: Box::new(config), _server: Arc::new(server) } };
        Ok(place.with_kinds().await?.then_some(place))
    }

    /// Installs Crossplane's kinds; false where they are not known.
    async fn with_kinds(&self) -> Result<bool> {
        let Some(crossplane) = Crossplane::find(SUITE)? else { return Ok(false) };
        for file in crossplane.definitions(Project::Crossplane)? {
            let text = std::fs::read_to_string(&file)?;
            let name =
                text.lines().find_map(|line| line.strip_prefix("  name: ")).context("a definition has a name")?;
            if !USED.contains(&name) {
                continue;
            }
            let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=tests");
            let request = Request::patch(path).header("content-type", "application/apply-patch+yaml");
            self.client.request_text(request.body(text.clone().into_bytes())?).await?;
            let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": name}});
            self.until("a kind", &definition, is_established).await?;
        }
        Ok(true)
    }

    pub(crate) async fn step(&self, name: &str, steps: impl Future<Output = Result<()>>) -> Result<()> {
        let start = Instant::now();
        let done =
            timeout(PATIENCE * 5, steps).await.with_context(|| format!("{}: {name} takes too long", self.name))?;
        println!("crossplane, {}: {name} ({:.1} s)", self.name, start.elapsed().as_secs_f64());
        done.with_context(|| format!("{}: {name}", self.name))
    }

    /// Starts a manager of Crossplane's permissions.
    pub(crate) fn manage(&self, settings: &crossplane::Settings) -> Result<Running> {
        let requests = FaultLayer::new(0, Plan::default());
        let client = match &self.source {
            Source::Ours(server) => Client::new(requests.layer(server.router_as(admin())), "default"),
            Source::Real { config, .. } => ClientBuilder::try_from((**config).clone())?.with_layer(&requests).build(),
        };
        let modules: [Box<dyn Module>; 1] = [Box::new(crossplane::Crossplane::new(settings.clone()))];
        let metrics = Arc::new(Metrics::default());
        let manager = Manager::new(client, modules, Leading::alone(), quick()).with_metrics(metrics.clone());
        let (end, shutdown) = oneshot::channel::<()>();
        let idle = Arc::new(AtomicBool::new(false));
        let (rests, counts) = (idle.clone(), metrics.clone());
        let ended = tokio::spawn(async move {
            let shutdown = async {
                let _ = shutdown.await;
            };
            let heard = |engine: &Engine, news: &[News]| {
                rests.store(is_idle(engine), Ordering::SeqCst);
                for news in news {
                    match news {
                        News::Converged(module, _, after) => counts.converged(module, *after),
                        News::Raised(_, problem) => println!("  {problem}"),
                        News::Cleared(..) => {}
                    }
                }
            };
            manager.run(shutdown, heard).await
        });
        Ok(Running { metrics, requests, idle, end, ended })
    }

    pub(crate) fn api(&self, object: &Value) -> Result<Api<DynamicObject>> {
        let text = |field: &str| object[field].as_str().context("an object says what it is");
        let (group, version) = text("apiVersion")?.split_once('/').unwrap_or(("", text("apiVersion")?));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")?));
        Ok(match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        })
    }

    /// Applies a manifest as somebody who is not the manager.
    pub(crate) async fn apply(&self, object: &Value) -> Result<Value> {
        let params = PatchParams::apply("tests").force();
        let stored = self.api(object)?.patch(name(object)?, &params, &Patch::Apply(object)).await;
        Ok(serde_json::to_value(stored.with_context(|| format!("apply {object}"))?)?)
    }

    /// Applies the status of an object.
    pub(crate) async fn report(&self, object: &Value, status: &Value) -> Result<()> {
        let patch = json!({"status": status});
        let done = self.api(object)?.patch_status(name(object)?, &PatchParams::default(), &Patch::Merge(patch)).await;
        done.with_context(|| format!("status of {object}"))?;
        Ok(())
    }

    /// Merges into the object that a manifest names.
    pub(crate) async fn merge(&self, object: &Value, patch: &Value) -> Result<Value> {
        let params = PatchParams { field_manager: Some("tests".to_owned()), ..PatchParams::default() };
        let stored = self.api(object)?.patch(name(object)?, &params, &Patch::Merge(patch)).await;
        Ok(serde_json::to_value(stored.with_context(|| format!("merge {patch} into {}", object["metadata"]))?)?)
    }

    pub(crate) async fn get(&self, object: &Value) -> Result<Option<Value>> {
        let found = self.api(object)?.get_opt(name(object)?).await?;
        Ok(found.map(serde_json::to_value).transpose()?)
    }

    /// All objects of the kind of a manifest.
    pub(crate) async fn list(&self, object: &Value, labels: &str) -> Result<Vec<Value>> {
        let mut found = self.api(object)?.list(&ListParams::default().labels(labels)).await?.items;
        let kinds = found.iter_mut().map(|item| {
            let mut value = serde_json::to_value(&*item)?;
            value["apiVersion"] = object["apiVersion"].clone();
            value["kind"] = object["kind"].clone();
            Ok(value)
        });
        kinds.collect()
    }

    pub(crate) async fn delete(&self, object: &Value) -> Result<()> {
        let done = self.api(object)?.delete(name(object)?, &DeleteParams::background()).await;
        done.with_context(|| format!("delete {}", object["metadata"]))?;
        Ok(())
    }

    /// Whether a SubjectAccessReview says yes.
    pub(crate) async fn review(&self, review: &Value) -> Result<bool> {
        let object: DynamicObject = serde_json::from_value(review.clone())?;
        let answer = self.api(review)?.create(&PostParams::default(), &object).await?;
        Ok(answer.data["status"]["allowed"] == true)
    }

    /// Waits until an object is there and `holds`.
    pub(crate) async fn until(&self, what: &str, object: &Value, holds: impl Fn(&Value) -> bool) -> Result<Value> {
        let start = Instant::now();
        loop {
            let found = self.get(object).await?;
            if let Some(found) = found.as_ref().filter(|found| holds(found)) {
                return Ok(found.clone());
            }
            ensure!(start.elapsed() < PATIENCE, "{what} did not happen: {:#}", found.unwrap_or_default());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until an object is gone.
    pub(crate) async fn until_gone(&self, object: &Value) -> Result<()> {
        let start = Instant::now();
        while let Some(found) = self.get(object).await? {
            ensure!(start.elapsed() < PATIENCE, "it is still there: {found:#}");
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

/// The definitions of Crossplane's that say something about permissions.
const USED: [&str; 3] = [
    "compositeresourcedefinitions.apiextensions.crossplane.io",
    "managedresourcedefinitions.apiextensions.crossplane.io",
    "providerrevisions.pkg.crossplane.io",
];

/// A manager that looks often.
pub(crate) fn quick() -> Settings {
    Settings { discovery: Duration::from_millis(20), ..Settings::default() }
}

pub(crate) fn is_established(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Established" && one["status"] == "True"))
}

pub(crate) fn name(object: &Value) -> Result<&str> {
    object["metadata"]["name"].as_str().context("an object has a name")
}

/// An object of RBAC by kind and name; with `namespace/name` in a namespace.
pub(crate) fn rbac(kind: &str, name: &str) -> Value {
    let metadata = match name.split_once('/') {
        Some((namespace, name)) => json!({"namespace": namespace, "name": name}),
        None => json!({"name": name}),
    };
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata})
}

/// The same object with these fields.
pub(crate) fn with(mut object: Value, fields: Value) -> Value {
    merge(&mut object, fields);
    object
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
