//! A cluster in memory with a module on it, and Kubernetes' aggregation.

use std::collections::BTreeSet;
use std::time::Duration;

use rolewright_core::aggregate::fit::Fitter;
use rolewright_core::{Access, Principal, Rule, RuleSet, Scope, World};
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::engine::{Category, Failure, News, Next, Outcome};
use rolewright_plan::kind::Kind;
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use rolewright_plan::simulation::Simulation;
use rolewright_plan::{Engine, Event, Live, Module, Name, ObjectRef, Op, Phase, Time};
use serde_json::Value;

/// How a module works, and on what.
pub(crate) trait Setting: Clone {
    /// All kinds that matter to it.
    const KINDS: &'static [&'static Kind];

    fn module(&self) -> Box<dyn Module>;
}

/// Every object has the uid that follows from its name.
pub(crate) fn uid(kind: &str, name: &str) -> Name {
    let short: String = kind.chars().filter(char::is_ascii_uppercase).collect();
    Name::from(format!("{short}/{name}").to_lowercase())
}

/// The place of the module in the engine; Kubernetes' aggregation comes after it.
const OURS: usize = 0;

pub(crate) struct Cluster<S> {
    pub(crate) engine: Engine,
    settings: S,
    simulation: Simulation,
    revision: u64,
    now: Time,
    told: BTreeSet<String>,
}

fn engine(settings: &impl Setting) -> Engine {
    let aggregation = ClusterRoleAggregation::new(Mode::Exclusive, Fitter::default());
    Engine::new([settings.module(), Box::new(aggregation)])
}

fn kind_of<S: Setting>(object: &Value) -> &'static Kind {
    let kind = object["kind"].as_str().unwrap();
    S::KINDS.iter().find(|known| known.kind == kind).unwrap()
}

impl<S: Setting> Cluster<S> {
    /// A cluster with these objects, on which all plans were followed.
    pub(crate) fn new(settings: S, objects: impl IntoIterator<Item = Value>) -> Self {
        let mut cluster = Self::unsettled(settings, objects);
        cluster.settle();
        cluster
    }

    pub(crate) fn unsettled(settings: S, objects: impl IntoIterator<Item = Value>) -> Self {
        let objects: Vec<Value> = objects.into_iter().collect();
        let mut cluster = Self {
            engine: engine(&settings),
            settings,
            simulation: Simulation::default(),
            revision: 0,
            now: Time(1_000_000),
            told: BTreeSet::new(),
        };
        for &kind in S::KINDS {
            let of_kind = objects.iter().filter(|object| *kind_of::<S>(object) == *kind);
            let lives: Vec<Live> = of_kind.map(|object| cluster.live(object)).collect();
            cluster.engine.take([Event::All(kind, lives)], cluster.now);
        }
        cluster.engine.mark_all(cluster.now);
        cluster
    }

    /// An object as the server stores it: of an unchanged uid, and newer than everything.
    fn live(&mut self, object: &Value) -> Live {
        let kind = kind_of::<S>(object);
        let mut live = Live::read(kind, object).unwrap();
        if live.meta.uid.is_empty() {
            live.meta.uid = uid(kind.kind, &live.meta.name);
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

    pub(crate) fn set(&mut self, object: &Value) {
        let live = self.live(object);
        self.engine.take([Event::Set(kind_of::<S>(object), live)], self.now);
    }

    /// Somebody edits an object.
    pub(crate) fn edit(&mut self, kind: &'static Kind, name: &str, change: impl FnOnce(&mut Live)) {
        self.edit_at(&ObjectRef::cluster(kind, name), change);
    }

    pub(crate) fn edit_at(&mut self, object: &ObjectRef, change: impl FnOnce(&mut Live)) {
        let mut live = self.engine.snapshot().get(object).unwrap_or_else(|| panic!("there is no {object}")).clone();
        change(&mut live);
        live.meta.resource_version = self.next_revision();
        self.engine.take([Event::Set(object.kind, live)], self.now);
    }

    pub(crate) fn remove(&mut self, kind: &'static Kind, namespace: &str, name: &str) {
        let object = ObjectRef { kind, namespace: namespace.into(), name: name.into() };
        let mut meta = self.engine.snapshot().get(&object).unwrap().meta.clone();
        meta.resource_version = self.next_revision();
        self.engine.take([Event::Gone(kind, meta)], self.now);
    }

    pub(crate) fn find(&self, kind: &'static Kind, name: &str) -> Option<&Live> {
        self.engine.snapshot().get(&ObjectRef::cluster(kind, name))
    }

    pub(crate) fn get(&self, kind: &'static Kind, name: &str) -> &Live {
        self.find(kind, name).unwrap_or_else(|| panic!("there is no {kind} {name}"))
    }

    /// Follows all plans; returns the module's writes. Neither a second look nor a restart writes anything.
    pub(crate) fn settle(&mut self) -> Vec<Op> {
        self.settle_watched(|_, _| {})
    }

    /// The same, and shows every write with what is there after it.
    pub(crate) fn settle_watched(&mut self, mut watch: impl FnMut(&Op, &World)) -> Vec<Op> {
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

    /// Follows plans while the server fails to do some writes, until there is nothing to do but to wait; returns what was
    /// tried.
    pub(crate) fn settle_refused(&mut self, fails: impl Fn(&Op) -> Option<Category>) -> Vec<Op> {
        self.next_revision();
        let mut tried = Vec::new();
        while let Next::Job(job) = self.engine.next(self.now) {
            let outcomes = job.plan.ops.iter().map(|op| {
                let Some(category) = fails(op) else {
                    return self.simulation.write(self.engine.snapshot(), op);
                };
                let (object, message) = (op.object.clone(), "no".to_owned());
                Err(Failure { object, category, message, retry_after: None })
            });
            let outcomes = outcomes.collect();
            tried.extend(job.plan.ops.iter().cloned());
            self.engine.finish(job, outcomes, self.now);
            assert!(tried.len() < 10_000, "it never settles");
        }
        tried
    }

    /// The module's writes, nothing asserted.
    pub(crate) fn writes(mut self) -> Vec<Op> {
        let written = self.simulation.settle(&mut self.engine, self.now);
        written.into_iter().map(|(_, op)| op).collect()
    }

    /// Another process on the same cluster, before it does anything.
    pub(crate) fn restarted(&self, settings: S) -> Self {
        let mut engine = engine(&settings);
        for &kind in S::KINDS {
            engine.take([Event::All(kind, self.engine.snapshot().all(kind).cloned().collect())], self.now);
        }
        engine.mark_all(self.now);
        let simulation = Simulation::on(engine.snapshot());
        Self { engine, settings, simulation, revision: self.revision, now: self.now, told: BTreeSet::new() }
    }

    /// What users are told, as it stands.
    pub(crate) fn told(&self) -> Vec<&str> {
        self.told.iter().map(String::as_str).collect()
    }

    pub(crate) fn world(&self) -> World {
        let all = |kind: &'static Kind| self.engine.snapshot().all(kind);
        World::new(
            all(&CLUSTER_ROLE).chain(all(&ROLE)).filter_map(Live::role),
            all(&CLUSTER_ROLE_BINDING).chain(all(&ROLE_BINDING)).filter_map(Live::binding),
        )
    }

    pub(crate) fn access(&self) -> Access {
        Access::of(&self.world())
    }

    /// What somebody may do in the whole cluster.
    pub(crate) fn rights(&self, who: &Principal) -> RuleSet {
        self.access().effective(who, &Scope::Cluster)
    }

    pub(crate) fn rules_of(&self, role: &str) -> Vec<Rule> {
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
            if **kind == CLUSTER_ROLE || **kind == ROLE {
                world.roles.retain(|key, _| !(key.namespace() == meta.namespace && last(key.name())));
            } else if **kind == CLUSTER_ROLE_BINDING || **kind == ROLE_BINDING {
                world.bindings.retain(|key, _| !(key.namespace() == meta.namespace && last(key.name())));
            }
        }
        Event::All(..) | Event::Unserved(_) => panic!("no write does this"),
    }
}

/// Writes in words; reports are not writes to anybody's rights.
pub(crate) fn words(ops: &[Op]) -> Vec<String> {
    let rights = ops.iter().filter(|op| op.phase != Phase::Report);
    rights.map(|op| format!("{} {}", op.verb(), op.object)).collect()
}
