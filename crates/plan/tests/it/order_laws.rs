//! News of a cluster come late, twice and in the wrong order; what is known, and what is written, must not depend on it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rolewright_core::aggregate::fit::Fitter;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::rbac::{CLUSTER_ROLE, RoleBody};
use rolewright_plan::simulation::Simulation;
use rolewright_plan::{Engine, Event, Live, Meta, Module, Time};
use serde_json::json;

const NAMES: usize = 5;
const LABELS: usize = 3;

/// What somebody does to one of the roles.
#[derive(Clone, Debug)]
enum Step {
    Set { name: usize, labels: u8, selects: u8, resources: u8 },
    Delete { name: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let set = (0..NAMES, any::<u8>(), prop_oneof![Just(0), any::<u8>()], any::<u8>())
        .prop_map(|(name, labels, selects, resources)| Step::Set { name, labels, selects, resources });
    prop_oneof![4 => set, 1 => (0..NAMES).prop_map(|name| Step::Delete { name })]
}

/// One thing that a watch tells.
#[derive(Clone, Debug)]
enum News {
    Set(Live),
    Gone(Meta),
}

impl News {
    fn revision(&self) -> u64 {
        match self {
            Self::Set(Live { meta, .. }) | Self::Gone(meta) => meta.resource_version,
        }
    }

    fn event(&self) -> Event {
        match self {
            Self::Set(live) => Event::Set(&CLUSTER_ROLE, live.clone()),
            Self::Gone(meta) => Event::Gone(&CLUSTER_ROLE, meta.clone()),
        }
    }
}

fn bits(bits: u8) -> impl Iterator<Item = usize> {
    (0..LABELS).filter(move |bit| bits & (1 << bit) != 0)
}

/// The history of a cluster: what a watch from its start would tell, and what is there at each revision.
fn history(steps: &[Step]) -> (Vec<News>, Vec<BTreeMap<usize, Live>>) {
    let mut state: BTreeMap<usize, Live> = BTreeMap::new();
    let (mut news, mut states) = (Vec::new(), vec![state.clone()]);
    for (revision, step) in (1_u64..).zip(steps) {
        match step {
            Step::Set { name, labels, selects, resources } => {
                let uid = state.get(name).map_or_else(|| format!("uid-{revision}"), |live| live.meta.uid.to_string());
                let labels: BTreeMap<String, &str> = bits(*labels).map(|bit| (format!("l{bit}"), "true")).collect();
                let rules: Vec<_> = bits(*resources)
                    .map(|bit| json!({"apiGroups": [""], "resources": [format!("r{bit}")], "verbs": ["get"]}))
                    .collect();
                let selectors: Vec<_> =
                    bits(*selects).map(|bit| json!({"matchLabels": {format!("l{bit}"): "true"}})).collect();
                let mut object = json!({
                    "metadata": {"name": format!("n{name}"), "uid": uid, "resourceVersion": revision.to_string(), "labels": labels},
                    "rules": rules,
                });
                if !selectors.is_empty() {
                    object["aggregationRule"] = json!({"clusterRoleSelectors": selectors});
                }
                let live = Live::read(&CLUSTER_ROLE, &object).unwrap();
                state.insert(*name, live.clone());
                news.push(News::Set(live));
            }
            Step::Delete { name } => {
                if let Some(live) = state.remove(name) {
                    news.push(News::Gone(Meta { resource_version: revision, ..live.meta }));
                }
            }
        }
        states.push(state.clone());
    }
    (news, states)
}

fn engine(mode: Mode) -> Engine {
    Engine::new([Box::new(ClusterRoleAggregation::new(mode, Fitter::default())) as Box<dyn Module>])
}

/// Everything that is known, in words.
fn known(engine: &Engine) -> Vec<String> {
    let row = |live: &Live| {
        let Meta { name, uid, labels, resource_version, .. } = &live.meta;
        format!("{name} {uid} {resource_version} {labels:?} {:?}", live.body::<RoleBody>())
    };
    engine.snapshot().all(&CLUSTER_ROLE).map(row).collect()
}

/// What every role holds once all plans are followed, whoever wrote it when.
fn settled(engine: &mut Engine) -> Vec<String> {
    Simulation::on(engine.snapshot()).settle(engine, Time(1_000_000));
    let again = Simulation::on(engine.snapshot()).settle(engine, Time(2_000_000));
    assert!(again.is_empty(), "a second pass writes: {again:?}");
    engine.mark_all(Time(2_000_000));
    let again = Simulation::on(engine.snapshot()).settle(engine, Time(3_000_000));
    assert!(again.is_empty(), "a full pass writes: {again:?}");
    let row = |live: &Live| format!("{} {:?}", live.meta.name, live.body::<RoleBody>());
    engine.snapshot().all(&CLUSTER_ROLE).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_order_of_news_makes_no_difference(
        steps in prop::collection::vec(step(), 0..25),
        (listed, order) in (any::<prop::sample::Index>(), prop::collection::vec(any::<(prop::sample::Index, bool)>(), 0..60)),
        listed_again in any::<bool>(),
    ) {
        let (news, states) = history(&steps);
        let all = |state: &BTreeMap<usize, Live>| Event::All(&CLUSTER_ROLE, state.values().cloned().collect());

        let mut clean = engine(Mode::Exclusive);
        clean.take([all(states.last().unwrap())], Time(0));

        // A list of some revision, then everything that is to be told from there on, shuffled and with repetitions.
        let mut messy = engine(Mode::Exclusive);
        let revision = listed.index(states.len());
        let news: Vec<&News> = news.iter().filter(|news| news.revision() > u64::try_from(revision).unwrap()).collect();
        messy.take([all(states.get(revision).unwrap())], Time(0));
        if listed_again {
            messy.take([all(states.last().unwrap())], Time(1));
        } else {
            let mut told = news.clone();
            for (place, twice) in &order {
                if told.is_empty() {
                    break;
                }
                let at = place.index(told.len());
                let one = if *twice { told[at] } else { told.remove(at) };
                messy.take([one.event()], Time(1));
            }
            messy.take(news.iter().map(|news| news.event()), Time(1));
        }
        prop_assert_eq!(known(&messy), known(&clean));
        prop_assert_eq!(settled(&mut messy), settled(&mut clean));
    }

    #[test]
    fn whoever_observes_never_writes(steps in prop::collection::vec(step(), 0..25)) {
        let (_, states) = history(&steps);
        let mut engine = engine(Mode::Observe);
        for state in &states {
            engine.take([Event::All(&CLUSTER_ROLE, state.values().cloned().collect())], Time(0));
            let written = Simulation::on(engine.snapshot()).settle(&mut engine, Time(1_000_000));
            prop_assert!(written.is_empty(), "{:?}", written);
        }
    }
}
