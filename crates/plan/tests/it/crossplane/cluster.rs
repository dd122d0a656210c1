//! A cluster in memory with the module on it, and Kubernetes' aggregation.

use std::collections::BTreeSet;
use std::time::Duration;

use rolewright_core::aggregate::fit::Fitter;
use rolewright_core::{Access, Principal, Rule, RuleSet, Scope, World};
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::crossplane::{
    Crossplane, DEFINITION, DEPLOYMENT, MANAGED_RESOURCE, REVISION, SERVED_RESOURCE, SERVICE_ACCOUNT, Settings,
};
use rolewright_plan::engine::{News, Next, Outcome};
use rolewright_plan::kind::{Kind, NAMESPACE};
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use rolewright_plan::simulation::Simulation;
use rolewright_plan::{Engine, Event, Live, Module, ObjectRef, Op, Phase, Time};
use serde_json::Value;

pub(super) static KINDS: [&Kind; 11] = [
    &DEFINITION,
    &REVISION,
    &MANAGED_RESOURCE,
    &SERVED_RESOURCE,
    &SERVICE_ACCOUNT,
    &DEPLOYMENT,
    &NAMESPACE,
    &CLUSTER_ROLE,
    &CLUSTER_ROLE_BINDING,
    &ROLE,
    &ROLE_BINDING,
];

/// The place of the module in the engine; Kubernetes' aggregation comes after it.
const OURS: usize = 0;

pub(super) struct Cluster {
    pub(super) engine: Engine,
    settings: Settings,
    simulation: Simulation,
    revision: u64,
    now: Time,
    told: BTreeSet<String>,
}

fn engine(settings: &Settings) -> Engine {
    let aggregation = ClusterRoleAggregation::new(Mode::Exclusive, Fitter::default());
    Engine::new([Box::new(Crossplane::new(settings.clone())) as Box<dyn Module>, Box::new(aggregation)])
}

fn kind_of(object: &Value) -> &'static Kind {
    let kind = object["kind"].as_str().unwrap();
    KINDS.into_iter().find(|known| known.kind == kind).unwrap()
}

impl Cluster {
    /// A cluster with these objects, on which all plans were followed.
    pub(super) fn new(settings: Settings, objects: impl IntoIterator<Item = Value>) -> Self {
        let mut cluster = Self::unsettled(settings, objects);
        cluster.settle();
        cluster
    }

    pub(super) fn unsettled(settings: Settings, objects: impl IntoIterator<Item = Value>) -> Self {
        let objects: Vec<Value> = objects.into_iter().collect();
        let mut cluster = Self {
            engine: engine(&settings),
            settings,
            simulation: Simulation::default(),
            revision: 0,
            now: Time(1_000_000),
            told: BTreeSet::new(),
        };
        for kind in KINDS {
            let of_kind = objects.iter().filter(|object| *kind_of(object) == *kind);
            let lives: Vec<Live> = of_kind.map(|object| cluster.live(object)).collect();
            cluster.engine.take([Event::All(kind, lives)], cluster.now);
        }
        cluster.engine.mark_all(cluster.now);
        cluster
    }

    /// An object as the server stores it: of an unchanged uid, and newer than everything.
    fn live(&mut self, object: &Value) -> Live {
        let kind = kind_of(object);
        let mut live = Live::read(kind, object).unwrap();
        if live.meta.uid.is_empty() {
            live.meta.uid = super::world::uid(kind.kind, &live.meta.name);
        }
        live.meta.resource_version = self.next_revision();
        let place = ObjectRef { kind, namespace: live.meta.namespace.clone(), name: live.meta.name.clone() };
        // Somebody who writes to an object of ours does not make it theirs.
        if let Some(known) = self.engine.snapshot().get(&place)
            && live.meta.ours.is_none()
        {
            live.meta.ours.clone_from(&known.meta.ours);
            live.meta.uid = known.meta.uid.clone();
        }
        live
    }

    fn next_revision(&mut self) -> u64 {
        self.revision = self.revision.max(self.engine.snapshot().newest()) + 1;
        self.simulation = Simulation::on(self.engine.snapshot());
        // Nobody does something twice within the time in which that would count as a fight.
        self.now = self.now + Duration::from_hours(1);
        self.revision
    }

    pub(super) fn set(&mut self, object: &Value) {
        let live = self.live(object);
        self.engine.take([Event::Set(kind_of(object), live)], self.now);
    }

    /// Somebody edits an object.
    pub(super) fn edit(&mut self, kind: &'static Kind, name: &str, change: impl FnOnce(&mut Live)) {
        let mut live = self.get(kind, name).clone();
        change(&mut live);
        live.meta.resource_version = self.next_revision();
        self.engine.take([Event::Set(kind, live)], self.now);
    }

    pub(super) fn remove(&mut self, kind: &'static Kind, namespace: &str, name: &str) {
        let object = ObjectRef { kind, namespace: namespace.into(), name: name.into() };
        let mut meta = self.engine.snapshot().get(&object).unwrap().meta.clone();
        meta.resource_version = self.next_revision();
        self.engine.take([Event::Gone(kind, meta)], self.now);
    }

    pub(super) fn find(&self, kind: &'static Kind, name: &str) -> Option<&Live> {
        self.engine.snapshot().get(&ObjectRef::cluster(kind, name))
    }

    pub(super) fn get(&self, kind: &'static Kind, name: &str) -> &Live {
        self.find(kind, name).unwrap_or_else(|| panic!("there is no {kind} {name}"))
    }

    /// Follows all plans; returns the module's writes. Neither a second look nor a restart writes anything.
    pub(super) fn settle(&mut self) -> Vec<Op> {
        self.settle_watched(|_, _| {})
    }

    /// The same, and shows every write with what is there after it.
    pub(super) fn settle_watched(&mut self, mut watch: impl FnMut(&Op, &World)) -> Vec<Op> {
        self.next_revision();
        let mut world = self.world();
        let mut written = Vec::new();
        while let Next::Job(job) = self.engine.next(self.now) {
            let mut outcomes: Vec<Outcome> = Vec::new();
            for op in &job.plan.ops {
                let outcome = self.simulation.write(self.engine.snapshot(), op);
                follow(&mut world, outcome.as_ref().unwrap());
                watch(op, &world);
                outcomes.push(outcome);
            }
            written.extend(job.plan.ops.iter().filter(|_| job.module == OURS).cloned());
            self.engine.finish(job, outcomes, self.now);
            assert!(written.len() < 10_000, "it never settles");
        }
        for news in self.engine.news() {
            match news {
                News::Raised(_, diagnostic) => drop(self.told.insert(diagnostic.to_string())),
                News::Cleared(_, diagnostic) => drop(self.told.remove(&diagnostic.to_string())),
                News::Converged(..) => {}
            }
        }
        self.engine.mark_all(self.now);
        let again = self.simulation.settle(&mut self.engine, self.now);
        assert!(again.is_empty(), "a second look writes {again:#?}");
        assert_eq!(words(&self.restarted(self.settings.clone()).writes()), Vec::<String>::new(), "a restart writes");
        written
    }

    /// The module's writes, nothing asserted.
    pub(super) fn writes(mut self) -> Vec<Op> {
        let written = self.simulation.settle(&mut self.engine, self.now);
        written.into_iter().map(|(_, op)| op).collect()
    }

    /// Another process on the same cluster, before it does anything.
    pub(super) fn restarted(&self, settings: Settings) -> Self {
        let mut engine = engine(&settings);
        for kind in KINDS {
            engine.take([Event::All(kind, self.engine.snapshot().all(kind).cloned().collect())], self.now);
        }
        engine.mark_all(self.now);
        let simulation = Simulation::on(engine.snapshot());
        Self { engine, settings, simulation, revision: self.revision, now: self.now, told: BTreeSet::new() }
    }

    /// What users are told, as it stands.
    pub(super) fn told(&self) -> Vec<&str> {
        self.told.iter().map(String::as_str).collect()
    }

    pub(super) fn world(&self) -> World {
        let all = |kind: &'static Kind| self.engine.snapshot().all(kind);
        World::new(
            all(&CLUSTER_ROLE).chain(all(&ROLE)).filter_map(Live::role),
            all(&CLUSTER_ROLE_BINDING).chain(all(&ROLE_BINDING)).filter_map(Live::binding),
        )
    }

    pub(super) fn access(&self) -> Access {
        Access::of(&self.world())
    }

    /// What somebody may do in the whole cluster.
    pub(super) fn rights(&self, who: &Principal) -> RuleSet {
        self.access().effective(who, &Scope::Cluster)
    }

    pub(super) fn rules_of(&self, role: &str) -> Vec<Rule> {
        self.get(&CLUSTER_ROLE, role).role().unwrap().rules
    }
}

/// A world after one write.
fn follow(world: &mut World, event: &Event) {
    match event {
        Event::Set(_, live) => {
            world.roles.extend(live.role().map(|role| (role.key.clone(), role)));
            world.bindings.extend(live.binding().map(|binding| (binding.key.clone(), binding)));
        }
        Event::Gone(kind, meta) => {
            let last = |key: &str| key == meta.name;
            if **kind == CLUSTER_ROLE {
                world.roles.retain(|key, _| !(key.namespace().is_empty() && last(key.name())));
            } else if **kind == CLUSTER_ROLE_BINDING {
                world.bindings.retain(|key, _| !(key.namespace().is_empty() && last(key.name())));
            }
        }
        Event::All(..) | Event::Unserved(_) => panic!("no write does this"),
    }
}

/// Writes in words; reports are not writes to anybody's rights.
pub(super) fn words(ops: &[Op]) -> Vec<String> {
    let rights = ops.iter().filter(|op| op.phase != Phase::Report);
    rights.map(|op| format!("{} {}", op.verb(), op.object)).collect()
}
