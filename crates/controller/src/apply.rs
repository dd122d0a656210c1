//! Writing what was planned: server-side apply, and deletes that name what they mean.

mod inheritance;
#[cfg(test)]
mod tests;
mod whole;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesOrdered;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::{Request, Status};
use kube::{Api, Client};
use rolewright_plan::engine::{Category, Failure, Outcome};
use rolewright_plan::object::{Echo, Unreadable};
use rolewright_plan::vocabulary::manager;
use rolewright_plan::{Event, Kind, Live, Meta, Name, ObjectRef, Op, Plan, Write, render};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::metrics::Metrics;
use crate::raw::{Raw, resource};
use crate::served::Versions;

/// A server that does not answer for so long is away. Who leads by a lease may have to be less patient.
pub(crate) const PATIENCE: Duration = Duration::from_secs(8);

/// Writes plans. Clones share the limit on concurrent requests.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) client: Client,
    pub(crate) versions: Versions,
    pub(crate) requests: Arc<Semaphore>,
    /// Asked before every single request: leadership is a level, not an edge.
    pub(crate) may_write: Arc<dyn Fn() -> bool + Send + Sync>,
    /// How long a request may take. What a lease leaves between the end of our term and the next one is more, so that no
    /// write of ours comes after another leads.
    pub(crate) patience: Duration,
    pub(crate) metrics: Arc<Metrics>,
}

impl Writer {
    /// Writes a plan, phase by phase; within a phase all at once. What fails does not keep later phases from narrowing.
    pub(crate) async fn write(&self, plan: &Plan) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(plan.ops.len());
        for phase in plan.ops.chunk_by(|a, b| a.phase == b.phase) {
            // Each is woken by its own answer; most of them wait for a permit.
            let writing: FuturesOrdered<_> = phase.iter().map(|op| self.write_seen(op)).collect();
            outcomes.extend(writing.collect::<Vec<_>>().await.into_iter().flatten());
        }
        outcomes
    }

    /// Writes, and lets those know who count, read logs or follow spans.
    async fn write_seen(&self, op: &Op) -> Vec<Outcome> {
        let span = tracing::debug_span!(
            "write",
            object = %op.object,
            verb = op.write.verb(),
            outcome = Empty,
            otel.status_code = Empty,
        );
        let seen = async {
            let outcomes = self.write_one(op).await;
            self.count(op, &outcomes);
            let (span, failure) = (Span::current(), outcomes.iter().find_map(|outcome| outcome.as_ref().err()));
            span.record("outcome", failure.map_or("ok".to_owned(), |failure| failure.category.to_string()));
            if failure.is_some() {
                span.record("otel.status_code", "ERROR");
            }
            outcomes
        };
        seen.instrument(span).await
    }

    fn count(&self, op: &Op, outcomes: &[Outcome]) {
        for outcome in outcomes {
            let failure = outcome.as_ref().err();
            self.metrics.wrote(op.object.kind, op.write.verb(), failure.map(|failure| failure.category));
            match failure {
                None => tracing::info!(object = %op.object, reason = op.because, "{}", op.verb()),
                Some(failure) => {
                    let (category, message) = (failure.category.to_string(), failure.message.as_str());
                    tracing::warn!(object = %op.object, category, message, "could not {}", op.write.verb());
                }
            }
        }
        if op.repairs && outcomes.iter().all(Result::is_ok) {
            self.metrics.repaired(op.object.kind);
        }
    }

    async fn write_one(&self, op: &Op) -> Vec<Outcome> {
        let Ok(_permit) = self.requests.acquire().await else { return Vec::new() };
        match &op.write {
            Write::Create(shape) => vec![self.create(op, &self.body(op, None, shape)).await],
            Write::Update { uid, shape } => {
                let force = PatchParams::apply(manager::ROLEWRIGHT).force();
                vec![self.apply(op, &force, &self.body(op, Some(uid), shape)).await]
            }
            Write::Inherit { uid } => vec![self.inherit(&op.object, uid).await],
            Write::Ungather { uid } => {
                let params =
                    PatchParams { field_manager: Some(manager::ROLEWRIGHT.to_owned()), ..PatchParams::default() };
                let patch = Patch::Merge(json!({ "metadata": { "uid": uid }, "aggregationRule": null }));
                let api = self.api(&op.object);
                let stored = self.within(&op.object, api.patch(&op.object.name, &params, &patch)).await;
                vec![stored.and_then(|stored| seen(&op.object, &stored))]
            }
            Write::Rules { uid, rules } => {
                let force = PatchParams::apply(manager::AGGREGATION).force();
                let version = self.versions.of(op.object.kind);
                vec![self.apply(op, &force, &render::rules(&op.object, version, uid, rules)).await]
            }
            Write::Replace { uid, shape } => {
                let gone = self.delete(&op.object, uid).await;
                if gone.is_err() {
                    return vec![gone];
                }
                vec![gone, self.create(op, &self.body(op, None, shape)).await]
            }
            Write::Delete { uid } => vec![self.delete(&op.object, uid).await],
            Write::Hold { uid, finalizer } => vec![self.hold(&op.object, uid, finalizer, true).await],
            Write::Release { uid, finalizer } => vec![self.hold(&op.object, uid, finalizer, false).await],
            Write::Report { uid, report } if op.object.kind.one_list => {
                vec![self.report_among(&op.object, uid, report).await]
            }
            Write::Report { uid, report } => {
                let body = render::report(&op.object, self.versions.of(op.object.kind), uid, report);
                vec![self.report(&op.object, &body).await]
            }
        }
    }

    fn body<'a>(
        &self,
        op: &'a Op,
        uid: Option<&'a Name>,
        shape: &'a rolewright_plan::intent::Shape,
    ) -> impl Serialize + Debug + Sync + use<'a> {
        render::object(&op.object, self.versions.of(op.object.kind), uid.map(Name::as_str), shape)
    }

    fn api(&self, object: &ObjectRef) -> Api<Raw> {
        let resource = resource(object.kind, self.versions.of(object.kind));
        if object.kind.namespaced {
            Api::namespaced_with(self.client.clone(), &object.namespace, &resource)
        } else {
            Api::all_with(self.client.clone(), &resource)
        }
    }

    /// Makes ours what the controller before us wrote: the entry in `managedFields` is renamed, and nothing else is.
    async fn inherit(&self, object: &ObjectRef, uid: &Name) -> Outcome {
        let api = self.api(object);
        let mut stored = self.within(object, api.get(&object.name)).await?;
        let value = stored.value();
        let Some(fields) = inheritance::merged(&value, uid) else { return seen(object, &stored) };
        let version = value.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
        let patch = json!({ "metadata": { "uid": uid, "resourceVersion": version, "managedFields": fields } });
        let params = PatchParams { field_manager: Some(manager::ROLEWRIGHT.to_owned()), ..PatchParams::default() };
        stored = self.within(object, api.patch(&object.name, &params, &Patch::Merge(patch))).await?;
        seen(object, &stored)
    }

    /// Without force: should somebody else have come first, their object is not taken from them.
    async fn create(&self, op: &Op, body: &(impl Serialize + Debug + Sync)) -> Outcome {
        self.apply(op, &PatchParams::apply(manager::ROLEWRIGHT), body).await
    }

    async fn apply(&self, op: &Op, params: &PatchParams, body: &(impl Serialize + Debug + Sync)) -> Outcome {
        let object = &op.object;
        let request = Request::new(collection(object, self.versions.of(object.kind)));
        let request = request.patch(&object.name, params, &Patch::Apply(body)).map_err(kube::Error::BuildRequest);
        let echo = request.as_ref().ok().and_then(|request| Echo::of(op.write.rules()?, request.body()));
        let sent = async { self.client.request_text(request?).await };
        let answer = self.within(object, sent).await?;
        understood(
            object,
            echo.map_or_else(|| Live::parse(object.kind, &answer), |echo| echo.read(object.kind, &answer)),
        )
    }

    async fn report(&self, object: &ObjectRef, body: &Value) -> Outcome {
        let params = PatchParams::apply(manager::STATUS).force();
        let api = self.api(object);
        let stored = self.within(object, api.patch_status(&object.name, &params, &Patch::Apply(body))).await?;
        seen(object, &stored)
    }

    async fn delete(&self, object: &ObjectRef, uid: &Name) -> Outcome {
        let only = Preconditions { uid: Some(uid.to_string()), resource_version: None };
        let params = DeleteParams::background().preconditions(only);
        let api = self.api(object);
        match self.within(object, api.delete(&object.name, &params)).await {
            Ok(answer) => match answer.left() {
                // Something must happen before it can go.
                Some(left) if Meta::parse(left.text()).is_ok_and(|meta| meta.deleting) => seen(object, &left),
                _ => Ok(gone(object, uid)),
            },
            Err(failure) if failure.category == Category::Missing => Ok(gone(object, uid)),
            Err(failure) => Err(failure),
        }
    }

    /// Sends a request, if we still lead, and waits for the answer, but not for long.
    async fn within<T>(
        &self,
        object: &ObjectRef,
        request: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Failure> {
        if !(self.may_write)() {
            return Err(failure(object, Category::Unavailable, "we no longer lead"));
        }
        match tokio::time::timeout(self.patience, request).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(kube::Error::Api(status))) => Err(refused(object, &status)),
            Ok(Err(error)) => Err(failure(object, Category::Unavailable, error.to_string())),
            Err(_) => Err(failure(object, Category::Unavailable, "the server did not answer in time")),
        }
    }
}

/// Where an object is among its like.
fn collection(object: &ObjectRef, version: &str) -> String {
    let Kind { group, plural, .. } = object.kind;
    let root = if group.is_empty() { "/api" } else { "/apis/" };
    match object.namespace.as_str() {
        "" => format!("{root}{group}/{version}/{plural}"),
        namespace => format!("{root}{group}/{version}/namespaces/{namespace}/{plural}"),
    }
}

fn seen(object: &ObjectRef, stored: &Raw) -> Outcome {
    understood(object, Live::parse(object.kind, stored.text()))
}

fn understood(object: &ObjectRef, stored: Result<Live, Unreadable>) -> Outcome {
    match stored {
        Ok(live) => Ok(Event::Set(object.kind, live)),
        Err(error) => Err(failure(object, Category::Unavailable, error.to_string())),
    }
}

fn gone(object: &ObjectRef, uid: &Name) -> Event {
    let meta =
        Meta { name: object.name.clone(), namespace: object.namespace.clone(), uid: uid.clone(), ..Meta::default() };
    Event::Gone(object.kind, meta)
}

fn refused(object: &ObjectRef, status: &Status) -> Failure {
    let category = match status.code {
        // Another object has taken the place of the one that we looked at.
        422 if names_uid(status) => Category::Conflict,
        409 | 410 | 412 => Category::Conflict,
        404 => Category::Missing,
        401 | 403 => Category::Forbidden,
        400 | 405 | 413 | 415 | 422 => Category::Invalid,
        _ => Category::Unavailable,
    };
    let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    let retry_after = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
    Failure { retry_after, ..failure(object, category, status.message.clone()) }
}

fn names_uid(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| cause.field == "metadata.uid")
}

fn failure(object: &ObjectRef, category: Category, message: impl Into<String>) -> Failure {
    Failure { object: object.clone(), category, message: message.into(), retry_after: None }
}
