//! What would happen: the manifests are put on the world, and the modules follow until nothing is left to write.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use rolewright_core::diff::{Change, diff};
use rolewright_core::{Name, User};
use rolewright_plan::aggregation::Mode;
use rolewright_plan::engine::{News, Next};
use rolewright_plan::rights::{Identity, Rights};
use rolewright_plan::simulation::Simulation;
use rolewright_plan::{
    Code, Diagnostic, Engine, Event, Kind, Live, Module, ObjectRef, Op, Severity, Snapshot, Time, Write,
};

use super::PlanArgs;
use super::preflight::{self, Footing, Verdict};
use crate::modules;
use crate::world::{self, Place, Written};

/// Longer than any module waits before it calls something wrong.
const PATIENCE: Duration = Duration::from_hours(1);

/// All that a plan shows.
pub(super) struct Review {
    /// What could not be read.
    pub(super) missing: Vec<String>,
    /// Kinds of manifests that were not looked at.
    pub(super) ignored: BTreeSet<String>,
    /// Whether there are manifests at all.
    pub(super) has_files: bool,
    /// What the manifests add, change and remove.
    pub(super) files: Vec<FileChange>,
    /// What Kubernetes' own controllers do about it.
    pub(super) cluster: Vec<Done>,
    /// What the manager does about it.
    pub(super) manager: Vec<Done>,
    /// Who gains and loses what.
    pub(super) access: Vec<Change>,
    /// Whether the manager may, and by what rights.
    pub(super) manager_verdict: Verdict,
    pub(super) footing: Footing,
    /// Whether the user may; `None` if nobody knows who it is.
    pub(super) your_verdict: Option<Verdict>,
    /// Whom that is about.
    pub(super) user: Option<User>,
    /// What is wrong once all is done.
    pub(super) problems: Vec<Diagnostic>,
}

/// Whether an object comes, changes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    Add,
    Change,
    Remove,
}

/// What the manifests do to an object.
pub(super) struct FileChange {
    pub(super) sign: Sign,
    pub(super) object: ObjectRef,
    /// Where it is written.
    pub(super) file: String,
    pub(super) before: Option<Live>,
    pub(super) after: Option<Live>,
    /// What the API server would say against it, whoever asks.
    pub(super) faults: Vec<String>,
}

/// What is written to an object, in the end.
pub(super) struct Done {
    pub(super) sign: Sign,
    pub(super) object: ObjectRef,
    pub(super) because: String,
}

impl Review {
    pub(super) fn of(args: &PlanArgs) -> Result<Self> {
        let place =
            args.world.load(args.modules.build().iter().flat_map(|module| module.watches()).map(|watch| watch.kind))?;
        Ok(Self::on(place, args))
    }

    fn on(place: Place, args: &PlanArgs) -> Self {
        let exclusive = args.modules.aggregates();
        let waits = place.live || !place.has_files;
        let is_unsettled = waits || place.is_fresh;
        let drift = if waits && !exclusive { drift(&place.ground) } else { Vec::new() };
        let mode = if exclusive { Mode::Exclusive } else { Mode::Foretell };
        let mut modules: Vec<Box<dyn Module>> = vec![Box::new(modules::aggregation(mode))];
        modules.extend(args.modules.build_others());
        let by_kubernetes = |module: usize| module == 0 && !exclusive;
        let identity = Identity {
            namespace: args.manager_namespace.clone(),
            name: args.manager_name.clone(),
            ..Identity::default()
        };
        let enabled = args.modules.build();
        let rights = Rights::of(enabled.iter().map(|module| &**module), &identity);

        let mut engine = Engine::new(modules);
        engine.take(place.ground, Time(0));
        engine.mark_all(Time(0));
        let as_is = world::rbac_of(engine.snapshot());
        let now = Time(0) + PATIENCE;
        let pending = Simulation::on(engine.snapshot()).settle(&mut engine, now);
        // What somebody wrote down as the base is meant to be settled; a cluster may wait for its manager.
        let counts = |module: usize| !by_kubernetes(module) && is_unsettled;
        let mut written: Vec<(usize, Op)> = pending.into_iter().filter(|(module, _)| counts(*module)).collect();
        let before = if written.is_empty() { world::rbac_of(engine.snapshot()) } else { as_is };

        let files = changes(engine.snapshot(), &place.files, &place.replaced);
        engine.take(events(engine.snapshot(), &files), now);
        written.extend(Simulation::on(engine.snapshot()).settle(&mut engine, now));
        let after = world::rbac_of(engine.snapshot());

        let user = args.user(place.me);
        let managers: Vec<&Op> =
            written.iter().filter(|(module, _)| !by_kubernetes(*module)).map(|(_, op)| op).collect();
        let world = preflight::applied(before.clone(), &files);
        let footing = Footing::in_world(&world, &identity, place.live, place.missing.is_empty());
        let world = footing.stand(world, &rights, &identity);
        let manager_verdict = preflight::manager(&world, &identity, &managers, &engine);
        let your_verdict = user.as_ref().map(|user| preflight::user(&before, user, &files));
        let (cluster, manager): (Vec<_>, Vec<_>) = written.into_iter().partition(|(module, _)| by_kubernetes(*module));
        let mut problems = standing(engine.news());
        problems.extend(drift);
        problems.sort();
        Self {
            missing: place.missing,
            ignored: place.ignored,
            has_files: place.has_files,
            access: diff(&before, &after),
            cluster: done(cluster),
            manager: done(manager),
            files,
            manager_verdict,
            footing,
            your_verdict,
            user,
            problems,
        }
    }

    /// Whether something speaks against it.
    pub(super) fn has_findings(&self) -> bool {
        let refused = |verdict: &Verdict| !verdict.refused.is_empty();
        self.access.iter().any(|change| !change.lost.is_empty())
            || self.files.iter().any(|change| !change.faults.is_empty())
            || refused(&self.manager_verdict)
            || self.your_verdict.as_ref().is_some_and(refused)
            || self.problems.iter().any(|problem| problem.code.severity() == Severity::Error)
    }

    /// How many objects come, change and go.
    pub(super) fn counts(&self) -> [usize; 3] {
        let accepted = self.files.iter().filter(|change| change.faults.is_empty());
        let signs = accepted.map(|change| change.sign);
        let signs: Vec<Sign> = signs.chain(self.cluster.iter().chain(&self.manager).map(|done| done.sign)).collect();
        [Sign::Add, Sign::Change, Sign::Remove].map(|sign| signs.iter().filter(|other| **other == sign).count())
    }

    /// How many subjects gain something, and how many lose something.
    pub(super) fn subjects(&self) -> [usize; 2] {
        let whose = |wanted: fn(&Change) -> bool| {
            let changes = self.access.iter().filter(|change| wanted(change));
            changes.map(|change| &change.principal).collect::<BTreeSet<_>>().len()
        };
        [whose(|change| !change.gained.is_empty()), whose(|change| !change.lost.is_empty())]
    }
}

/// What Kubernetes' controller has not done in all this time, told by the module that observes it.
fn drift(ground: &[Event]) -> Vec<Diagnostic> {
    let mut engine = Engine::new([Box::new(modules::aggregation(Mode::Observe)) as Box<dyn Module>]);
    engine.take(ground.iter().map(copy), Time(0));
    while let Next::Job(job) = engine.next(Time(0) + PATIENCE) {
        engine.finish(job, Vec::new(), Time(0) + PATIENCE);
    }
    let mut found = standing(engine.news());
    found.retain(|diagnostic| diagnostic.code == Code::AggregationDrift);
    found
}

fn copy(event: &Event) -> Event {
    match event {
        Event::Set(kind, live) => Event::Set(kind, live.clone()),
        Event::Gone(kind, meta) => Event::Gone(kind, meta.clone()),
        Event::All(kind, objects) => Event::All(kind, objects.clone()),
        Event::Unserved(kind) => Event::Unserved(kind),
    }
}

/// The problems that are there at the end.
fn standing(news: Vec<News>) -> Vec<Diagnostic> {
    let mut standing = BTreeSet::new();
    for news in news {
        match news {
            News::Raised(_, diagnostic) => drop(standing.insert(diagnostic)),
            News::Cleared(_, diagnostic) => drop(standing.remove(&diagnostic)),
            News::Converged(..) => {}
        }
    }
    standing.into_iter().collect()
}

/// What the manifests do to what is there, in their order; what goes, goes last.
fn changes(snapshot: &Snapshot, files: &[Written], replaced: &[Written]) -> Vec<FileChange> {
    let earlier: BTreeMap<&ObjectRef, &Written> = replaced.iter().map(|written| (&written.object, written)).collect();
    let mut changes = Vec::new();
    for written in files {
        let before = snapshot.get(&written.object);
        let after = written.over(before, earlier.get(&written.object).copied());
        let sign = match before {
            None => Sign::Add,
            Some(before) if same(written.object.kind, before, &after) => continue,
            Some(_) => Sign::Change,
        };
        changes.push(FileChange {
            sign,
            object: written.object.clone(),
            file: written.manifest.file().to_owned(),
            faults: world::faults(&after, before),
            before: before.cloned(),
            after: Some(after),
        });
    }
    let kept: BTreeSet<&ObjectRef> = files.iter().map(|written| &written.object).collect();
    for written in replaced.iter().filter(|written| !kept.contains(&written.object)) {
        if let Some(before) = snapshot.get(&written.object) {
            changes.push(FileChange {
                sign: Sign::Remove,
                object: written.object.clone(),
                file: written.manifest.file().to_owned(),
                before: Some(before.clone()),
                after: None,
                faults: Vec::new(),
            });
        }
    }
    changes
}

/// Whether an object says the same as another, whenever it was stored.
fn same(kind: &Kind, a: &Live, b: &Live) -> bool {
    a.meta.labels == b.meta.labels
        && a.meta.annotations == b.meta.annotations
        && matches!((&a.body, &b.body), (Ok(one), Ok(other)) if kind.is_same(one, other))
}

/// The same as news of a cluster.
fn events(snapshot: &Snapshot, files: &[FileChange]) -> Vec<Event> {
    let kinds: Vec<_> = snapshot.sizes().map(|(kind, _)| kind).collect();
    let newest = kinds.iter().flat_map(|kind| snapshot.all(kind)).map(|live| live.meta.resource_version).max();
    // What the API server refuses does not happen.
    let accepted = files.iter().filter(|change| change.faults.is_empty());
    let event = |(version, change): (u64, &FileChange)| match (&change.after, &change.before) {
        (Some(after), _) => {
            let mut live = after.clone();
            live.meta.resource_version = version;
            if live.meta.uid.is_empty() {
                live.meta.uid = Name::from(format!("written-{version}"));
            }
            Some(Event::Set(change.object.kind, live))
        }
        (None, Some(before)) => {
            let mut meta = before.meta.clone();
            meta.resource_version = version;
            Some(Event::Gone(change.object.kind, meta))
        }
        (None, None) => None,
    };
    (newest.unwrap_or(0) + 1..).zip(accepted).filter_map(event).collect()
}

/// What becomes of each object, in the order in which they are first written.
fn done(written: Vec<(usize, Op)>) -> Vec<Done> {
    let mut places: BTreeMap<ObjectRef, usize> = BTreeMap::new();
    let mut all: Vec<Option<Done>> = Vec::new();
    for (_, Op { object, write, because, .. }) in written {
        let sign = match write {
            Write::Create(_) => Sign::Add,
            Write::Delete { .. } => Sign::Remove,
            Write::Report { .. } => continue,
            Write::Inherit { .. }
            | Write::Hold { .. }
            | Write::Release { .. }
            | Write::Ungather { .. }
            | Write::Update { .. }
            | Write::Rules { .. }
            | Write::Replace { .. } => Sign::Change,
        };
        let place = *places.entry(object.clone()).or_insert_with(|| {
            all.push(None);
            all.len() - 1
        });
        let Some(slot) = all.get_mut(place) else { continue };
        let sign = match (slot.as_ref().map(|done| done.sign), sign) {
            (Some(Sign::Add), Sign::Change) => Sign::Add,
            (Some(Sign::Remove), Sign::Add) => Sign::Change,
            (_, sign) => sign,
        };
        // First wider, then narrower: both are said.
        let because = match slot.take() {
            Some(before) if before.sign == Sign::Change && sign == Sign::Change && before.because != because => {
                format!("{}, {because}", before.because)
            }
            _ => because,
        };
        *slot = Some(Done { sign, object, because });
    }
    all.into_iter().flatten().collect()
}
