//! A cluster that only exists in the snapshot: what it would look like if plans were written.

use std::sync::Arc;

use serde_json::json;

use crate::engine::{Category, Engine, Failure, Next, Outcome};
use crate::intent::{Content, Shape};
use crate::kind::Body;
use crate::object::{Live, Managed, Meta, ObjectRef};
use crate::op::{Op, Write};
use crate::rbac::{BindingBody, RoleBody};
use crate::snapshot::{Event, Snapshot};
use crate::{Name, Time, render};

/// Plans are followed so often before something must be wrong with them.
const MOST_JOBS: usize = 1_000_000;

/// Writes to the snapshot what would be written to a cluster.
#[derive(Debug, Default)]
pub struct Simulation {
    revision: u64,
}

impl Simulation {
    /// A simulation on top of what an engine has seen.
    pub fn on(snapshot: &Snapshot) -> Self {
        Self { revision: snapshot.newest() }
    }

    /// Follows all plans until there is nothing left to write; returns the writes in order, with the module that wants
    /// each.
    pub fn settle(&mut self, engine: &mut Engine, now: Time) -> Vec<(usize, Op)> {
        let mut written = Vec::new();
        for _ in 0..MOST_JOBS {
            let Next::Job(job) = engine.next(now) else { break };
            let outcomes = job.plan.ops.iter().map(|op| self.write(engine.snapshot(), op)).collect();
            written.extend(job.plan.ops.iter().map(|op| (job.module, op.clone())));
            engine.finish(job, outcomes, now);
        }
        written
    }

    /// What a cluster would make of one write.
    pub fn write(&mut self, snapshot: &Snapshot, op: &Op) -> Outcome {
        self.revision += 1;
        let live = snapshot.get(&op.object);
        let there = |uid: &Name| live.filter(|live| live.meta.uid == *uid).ok_or_else(|| changed(&op.object));
        let stored = match &op.write {
            Write::Create(shape) if live.is_none() => self.fresh(&op.object, shape),
            Write::Create(_) => return Err(changed(&op.object)),
            Write::Update { uid, shape } => self.updated(there(uid)?, shape),
            Write::Rules { uid, rules } => {
                let there = there(uid)?;
                let aggregation = there.body::<RoleBody>().and_then(|role| role.aggregation.clone());
                let role = RoleBody { rules: rules.clone(), aggregation };
                let meta = Meta { resource_version: self.revision, ..there.meta.clone() };
                Live { meta, body: Ok(Arc::new(role)), conditions: Vec::new() }
            }
            Write::Ungather { uid } => {
                let there = there(uid)?;
                let rules = there.body::<RoleBody>().map(|role| role.rules.clone()).unwrap_or_default();
                let meta = Meta { resource_version: self.revision, ..there.meta.clone() };
                Live { meta, body: Ok(Arc::new(RoleBody { rules, aggregation: None })), ..there.clone() }
            }
            Write::Inherit { uid } => {
                let there = there(uid)?;
                let mut meta = Meta { resource_version: self.revision, ..there.meta.clone() };
                meta.ours = Some(meta.all_ours());
                meta.inherited = None;
                Live { meta, ..there.clone() }
            }
            Write::Replace { uid, shape } => there(uid).map(|_| self.fresh(&op.object, shape))?,
            Write::Delete { uid } => {
                let meta = Meta { resource_version: self.revision, ..there(uid)?.meta.clone() };
                return Ok(Event::Gone(op.object.kind, meta));
            }
            Write::Hold { uid, finalizer } => {
                let mut held = Live { ..there(uid)?.clone() };
                held.meta.resource_version = self.revision;
                held.meta.finalizers.push(finalizer.clone());
                held
            }
            Write::Release { uid, finalizer } => {
                let mut released = Live { ..there(uid)?.clone() };
                released.meta.resource_version = self.revision;
                released.meta.finalizers.retain(|known| known != finalizer);
                if released.meta.deleting && released.meta.finalizers.is_empty() {
                    return Ok(Event::Gone(op.object.kind, released.meta));
                }
                released
            }
            Write::Report { uid, report } => {
                let there = there(uid)?;
                let meta = Meta { resource_version: self.revision, ..there.meta.clone() };
                Live { meta, body: there.body.clone(), conditions: report.conditions.clone() }
            }
        };
        Ok(Event::Set(op.object.kind, stored))
    }

    fn fresh(&self, object: &ObjectRef, shape: &Shape) -> Live {
        let meta = Meta {
            name: object.name.clone(),
            namespace: object.namespace.clone(),
            uid: format!("planned-{}", self.revision).into(),
            ..Meta::default()
        };
        // Roles and bindings are what their shapes say.
        let body = match shape.content {
            Content::Bare => object.kind.read(&json!(render::object(object, object.kind.best_version(), None, shape))),
            Content::Role { .. } | Content::Binding { .. } => Err(String::new()),
        };
        self.updated(&Live { meta, body, conditions: Vec::new() }, shape)
    }

    /// What is ours becomes like `shape`, everything else stays.
    fn updated(&self, live: &Live, shape: &Shape) -> Live {
        let mut meta = Meta { resource_version: self.revision, ..live.meta.clone() };
        // What was to be inherited was so just before, in the same plan.
        let ours = meta.all_ours();
        meta.inherited = None;
        meta.labels.retain(|key, _| !ours.labels.contains(key));
        meta.labels.extend(shape.labels.clone());
        meta.annotations.retain(|key, _| !ours.annotations.contains(key));
        meta.annotations.extend(shape.annotations.clone());
        let replaced = |uid: &Name| ours.owners.contains(uid) || shape.owners.iter().any(|owner| owner.uid == *uid);
        meta.owners.retain(|owner| !replaced(&owner.uid));
        meta.owners.extend(shape.owners.iter().cloned());
        meta.ours = Some(Managed {
            labels: shape.labels.keys().cloned().collect(),
            annotations: shape.annotations.keys().cloned().collect(),
            owners: shape.owners.iter().map(|owner| owner.uid.clone()).collect(),
            rules: matches!(shape.content, Content::Role { rules: Some(_), .. }),
            gathers: matches!(shape.content, Content::Role { aggregation: Some(_), .. }),
        });
        let body: Result<Body, String> = match &shape.content {
            Content::Bare => live.body.clone(),
            Content::Role { rules, aggregation } => {
                let before = live.body::<RoleBody>().cloned().unwrap_or_default();
                let rules = rules.clone().unwrap_or(before.rules);
                Ok(Arc::new(RoleBody { rules, aggregation: aggregation.clone() }))
            }
            Content::Binding { role_ref, subjects } => {
                Ok(Arc::new(BindingBody { role_ref: role_ref.clone(), subjects: subjects.clone() }))
            }
        };
        Live { meta, body, conditions: live.conditions.clone() }
    }
}

fn changed(object: &ObjectRef) -> Failure {
    Failure {
        object: object.clone(),
        category: Category::Conflict,
        message: "the object is not what it was".to_owned(),
        retry_after: None,
    }
}
