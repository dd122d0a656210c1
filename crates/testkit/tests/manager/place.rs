//! A server with a manager on it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use rolewright_controller::metrics::Metrics;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_plan::Module;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::engine::News;
use rolewright_server::{Controllers, Server, admin};
use rolewright_testkit::apiserver::ApiServer;
use rolewright_testkit::grants::Grants;
use rolewright_testkit::testbed::{self, Lines};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Nothing takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A server.
pub(crate) struct Place {
    name: &'static str,
    pub(crate) client: Client,
    pub(crate) source: Source,
    _real: Option<(ApiServer, Lines)>,
}

/// Where clients of other users come from.
pub(crate) enum Source {
    Ours(Server),
    Real(Box<kube::Config>),
}

/// A running manager.
pub(crate) struct Running {
    metrics: Arc<Metrics>,
    end: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), rolewright_controller::manager::ManagerError>>,
}

impl Running {
    /// What it counts.
    pub(crate) fn metrics(&self) -> Arc<Metrics> {
        self.metrics.clone()
    }

    /// Ends it in an orderly way.
    pub(crate) async fn end(self) -> Result<()> {
        let _ = self.end.send(());
        timeout(PATIENCE, self.ended).await.context("the manager does not end")???;
        Ok(())
    }
}

impl Place {
    /// Our server, where nobody but the manager aggregates roles.
    pub(crate) fn ours() -> Result<Self> {
        let controllers = Controllers { aggregation: false, ..Controllers::default() };
        let server = Server::start(rolewright_server::Settings { controllers, ..Default::default() })?;
        Ok(Self::of(server))
    }

    /// A server that somebody else keeps.
    pub(crate) fn of(server: Server) -> Self {
        let client = Client::new(server.router_as(admin()), "default");
        Self { name: "ours", client, source: Source::Ours(server), _real: None }
    }

    pub(crate) async fn real() -> Result<Option<Self>> {
        Self::real_with("garbage-collector,namespace,serviceaccount").await
    }

    /// The real server beside these of Kubernetes' controllers.
    pub(crate) async fn real_with(controllers: &str) -> Result<Option<Self>> {
        let Some(binary) = testbed::binary("the manager's suite")? else { return Ok(None) };
        let server = ApiServer::start_bare(&binary)?;
        let mut command = std::process::Command::new(&binary);
        command.args(["controllers", "--only", controllers, "--kubeconfig"]);
        let mut controllers = Lines::start(command.arg(&server.ready.kubeconfig))?;
        controllers.line()?;
        let config = Kubeconfig::read_from(&server.ready.kubeconfig)?;
        let mut config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
        config.default_retry = false;
        let client = Client::try_from(config.clone())?;
        Ok(Some(Self {
            name: "real",
            client,
            source: Source::Real(Box::new(config)),
            _real: Some((server, controllers)),
        }))
    }

    pub(crate) async fn step(&self, name: &str, steps: impl Future<Output = Result<()>>) -> Result<()> {
        let done =
            timeout(PATIENCE * 2, steps).await.with_context(|| format!("{}: {name} takes too long", self.name))?;
        println!("manager, {}: {name}", self.name);
        done.with_context(|| format!("{}: {name}", self.name))
    }

    /// Starts a manager with both modules.
    pub(crate) fn manage(&self) -> Running {
        let aggregation =
            ClusterRoleAggregation::new(Mode::Exclusive, rolewright_core::aggregate::fit::Fitter::default());
        let modules: [Box<dyn Module>; 2] = [Box::new(Grants), Box::new(aggregation)];
        let settings = Settings { discovery: Duration::from_millis(50), ..Settings::default() };
        let metrics = Arc::new(Metrics::default());
        let manager = Manager::new(self.client.clone(), modules, Leading::alone(), settings);
        let manager = manager.with_metrics(metrics.clone());
        let (end, shutdown) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = shutdown.await;
        };
        let seen = metrics.clone();
        let ended = tokio::spawn(manager.run(shutdown, move |_, news| {
            for news in news {
                if let News::Converged(module, _, after) = news {
                    seen.converged(module, *after);
                }
                println!("  {news:?}");
            }
        }));
        Running { metrics, end, ended }
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

    fn name(object: &Value) -> Result<&str> {
        object["metadata"]["name"].as_str().context("an object has a name")
    }

    /// Applies a manifest as somebody who is not the manager.
    pub(crate) async fn apply(&self, object: &Value) -> Result<Value> {
        let params = PatchParams::apply("tests").force();
        let stored = self.api(object)?.patch(Self::name(object)?, &params, &Patch::Apply(object)).await?;
        Ok(serde_json::to_value(stored)?)
    }

    /// Merges into the object that a manifest names.
    pub(crate) async fn merge(&self, object: &Value, patch: &Value) -> Result<Value> {
        let params = PatchParams { field_manager: Some("tests".to_owned()), ..PatchParams::default() };
        let stored = self.api(object)?.patch(Self::name(object)?, &params, &Patch::Merge(patch)).await?;
        Ok(serde_json::to_value(stored)?)
    }

    pub(crate) async fn get(&self, object: &Value) -> Result<Option<Value>> {
        let found = self.api(object)?.get_opt(Self::name(object)?).await?;
        Ok(found.map(serde_json::to_value).transpose()?)
    }

    pub(crate) async fn delete(&self, object: &Value) -> Result<()> {
        self.api(object)?.delete(Self::name(object)?, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Whether a SubjectAccessReview says yes.
    pub(crate) async fn review(&self, review: &Value) -> Result<bool> {
        let object: DynamicObject = serde_json::from_value(review.clone())?;
        let answer = self.api(review)?.create(&PostParams::default(), &object).await?;
        Ok(answer.data["status"]["allowed"] == true)
    }

    fn all_events(&self) -> Api<Event> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// How many events have this reason.
    pub(crate) async fn events(&self, reason: &str) -> Result<usize> {
        let all = self.all_events().list(&ListParams::default()).await?;
        Ok(all.iter().filter(|event| event.reason.as_deref() == Some(reason)).count())
    }

    /// Whether an event tells of an object what this code stands for.
    pub(crate) async fn told(&self, name: &str, code: &str) -> Result<bool> {
        let all = self.all_events().list(&ListParams::default()).await?;
        let about = |event: &&Event| event.regarding.as_ref().and_then(|object| object.name.as_deref()) == Some(name);
        let code = format!("({code})");
        Ok(all.iter().filter(about).any(|event| event.note.as_deref().is_some_and(|note| note.ends_with(&code))))
    }

    /// Removes all events.
    pub(crate) async fn forget_events(&self) -> Result<()> {
        self.all_events().delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
        Ok(())
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

/// What a metric counts, over all of its labels.
pub(crate) fn counted(metrics: &Metrics, name: &str) -> u64 {
    let text = metrics.encode();
    let lines = text.lines().filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// How long it took from news until nothing was left to write, as a dashboard would see it. Times are told, not judged.
pub(crate) fn lag(metrics: &Metrics, module: &str) -> String {
    let text = metrics.encode();
    let read = |name: &str, labels: &[&str]| {
        let start = format!("rolewright_engine_lag_seconds_{name}{{");
        let line =
            text.lines().find(|line| line.starts_with(&start) && labels.iter().all(|label| line.contains(label)));
        line.and_then(|line| line.rsplit(' ').next()).and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let module = format!("module=\"{module}\"");
    let (count, sum) = (read("count", &[&module]), read("sum", &[&module]));
    let within = read("bucket", &["le=\"1.0\"", &module]);
    format!("{within} of {count} converged within a second, {:.1} ms on average", 1000.0 * sum / count.max(1.0))
}
