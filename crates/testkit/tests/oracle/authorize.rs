//! Decisions, rules of a user, and who may.

use std::cell::RefCell;

use proptest::prelude::*;
use rolewright_core::authorize::Reach;
use rolewright_core::{Authorizer, Rule, Subject, World};
use rolewright_testkit::ask::Ask;
use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::features::Features;
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::{ask_seed, world};
use rolewright_testkit::wire::Objects;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::unordered::{differ_as_bags, messages};

const ASKS_PER_WORLD: u32 = 100;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Case {
    world: Objects,
    asks: Vec<Ask>,
}

fn case(asks: u32) -> impl Strategy<Value = Case> {
    (world(), prop::collection::vec(ask_seed(), 1..=asks as usize)).prop_map(|(world, seeds)| Case {
        world: (&world).into(),
        asks: seeds.iter().map(|seed| seed.resolve(&world)).collect(),
    })
}

fn load(oracle: &mut Oracle, case: &Case) -> anyhow::Result<(World, Authorizer)> {
    let _: Value = oracle.ask("load", json!({"world": case.world}))?;
    let world = World::from(case.world.clone());
    let authorizer = Authorizer::new(&world);
    Ok((world, authorizer))
}

#[derive(Deserialize)]
struct Answers<T> {
    results: Vec<T>,
}

#[derive(Deserialize)]
struct Answer {
    allowed: bool,
    #[serde(default)]
    reason: String,
}

#[test]
fn decisions_and_their_reasons_equal_kubernetes() {
    let features = RefCell::new(Features::default());
    // Worlds have between 1 and 100 questions, 50 on average; a tenth more worlds makes sure of the number.
    let worlds = decisions().div_ceil(ASKS_PER_WORLD / 2) * 11 / 10;
    let deep = |oracle: &mut Oracle, case: &Case| {
        let (world, authorizer) = load(oracle, case)?;
        let answers: Answers<Answer> = oracle.ask("authorize", json!({"requests": case.asks}))?;
        let mut features = features.borrow_mut();
        features.count_world(&world);
        for (ask, theirs) in case.asks.iter().zip(answers.results) {
            let decision = authorizer.explain(&ask.user(), &ask.request());
            features.count_decision(ask, &decision);
            let indexed = authorizer.allows(&ask.user(), &ask.request());
            if indexed != theirs.allowed || decision.allowed != theirs.allowed {
                let explained = decision.allowed;
                let Answer { allowed, reason } = theirs;
                return Ok(Some(format!(
                    "{ask:?}: index {indexed}, rules {explained}, Kubernetes {allowed} `{reason}`"
                )));
            }
            // Kubernetes reports whichever reason its cache yields first; ours are all of them.
            let known = match theirs.reason.strip_prefix("RBAC: ") {
                None => theirs.reason.is_empty() && (decision.superuser || decision.unresolved.is_empty()),
                Some(_) if theirs.allowed => decision.reasons.iter().any(|r| r.to_string() == theirs.reason),
                Some(errors) => messages(errors) == decision.unresolved.iter().map(ToString::to_string).collect(),
            };
            if !known {
                return Ok(Some(format!("{ask:?}: `{}` is not among {:?}", theirs.reason, decision.text())));
            }
        }
        Ok(None)
    };
    compare("authorize", worlds, case(ASKS_PER_WORLD), deep);
    let features = features.into_inner();
    if features.get("worlds") == 0 {
        return;
    }
    println!("{features}");
    assert_eq!(features.absent(), Vec::<&str>::new(), "features that no case had");
    let (allowed, all) = (features.get("allowed"), features.get("decisions"));
    assert!(allowed * 10 >= all * 3, "only {allowed} of {all} decisions are allows");
    assert!(all >= u64::from(decisions()), "only {all} decisions were compared");
}

#[test]
fn rules_of_a_user_equal_kubernetes() {
    #[derive(Deserialize)]
    struct Theirs {
        rules: Option<Vec<Rule>>,
        errors: Option<Vec<String>>,
    }
    compare("rules_for", decisions() / 50, case(10), |oracle, case| {
        let (_, authorizer) = load(oracle, case)?;
        let answers: Answers<Theirs> = oracle.ask("rules_for", json!({"queries": case.asks}))?;
        for (ask, theirs) in case.asks.iter().zip(answers.results) {
            let effective = authorizer.rules_for(&ask.user(), &ask.namespace);
            let ours: Vec<Rule> = effective.rules().cloned().collect();
            let errors: Vec<String> = effective.unresolved.iter().map(ToString::to_string).collect();
            let difference = differ_as_bags("rules", &ours, &theirs.rules.unwrap_or_default())
                .or_else(|| differ_as_bags("errors", &errors, &theirs.errors.unwrap_or_default()));
            if let Some(difference) = difference {
                return Ok(Some(format!("{ask:?}: {difference}")));
            }
        }
        Ok(None)
    });
}

#[test]
fn who_can_equals_kubernetes() {
    #[derive(Deserialize)]
    struct Theirs {
        subjects: Option<Vec<Subject>>,
        #[serde(default)]
        error: String,
    }
    compare("who_can", decisions() / 50, case(10), |oracle, case| {
        let (_, authorizer) = load(oracle, case)?;
        let answers: Answers<Theirs> = oracle.ask("who_can", json!({"requests": case.asks}))?;
        for (ask, theirs) in case.asks.iter().zip(answers.results) {
            let (holders, unresolved) = authorizer.who_can(&ask.request(), Reach::Request);
            let ours: Vec<Subject> = holders.into_iter().map(|holder| holder.subject).collect();
            let errors = unresolved.iter().map(ToString::to_string).collect();
            let difference = differ_as_bags("subjects", &ours, &theirs.subjects.unwrap_or_default()).or_else(|| {
                (messages(&theirs.error) != errors).then(|| format!("ours {errors:?}, Kubernetes {}", theirs.error))
            });
            if let Some(difference) = difference {
                return Ok(Some(format!("{ask:?}: {difference}")));
            }
        }
        Ok(None)
    });
}
