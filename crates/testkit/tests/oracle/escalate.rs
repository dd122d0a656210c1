//! The refusal of rights that the user does not hold, word for word.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rolewright_core::escalation::confirm_held;
use rolewright_core::{Authorizer, Name, Rule, User, World};
use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::strategy::{ask_seed, rules, world};
use rolewright_testkit::wire::Objects;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::unordered::messages;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Case {
    world: Objects,
    queries: Vec<Query>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Query {
    user: Name,
    groups: Vec<Name>,
    namespace: Name,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Verdict>,
}

#[derive(Deserialize)]
struct Verdict {
    ok: bool,
    #[serde(default)]
    message: String,
}

#[test]
fn refusals_read_as_kubernetes_words_them() {
    let query = (ask_seed(), rules(2), any::<prop::sample::Index>(), 0..3_u8);
    let cases = (world(), prop::collection::vec(query, 1..20)).prop_map(|(world, seeds)| {
        let queries = seeds.into_iter().map(|(seed, own, pick, how)| {
            let ask = seed.resolve(&world);
            // Rules of some role of the world are held more often than random ones.
            let roles: Vec<_> = world.roles.values().collect();
            let rules = if how > 0 && !roles.is_empty() { pick.get(&roles).rules.clone() } else { own };
            Query { user: ask.user, groups: ask.groups, namespace: ask.namespace, rules }
        });
        Case { queries: queries.collect(), world: (&world).into() }
    });
    compare("escalation", decisions() / 100, cases, |oracle, case| {
        let _: Value = oracle.ask("load", json!({"world": case.world}))?;
        let authorizer = Authorizer::new(&World::from(case.world.clone()));
        let answer: Answer = oracle.ask("confirm_no_escalation", json!({"queries": case.queries}))?;
        for (query, theirs) in case.queries.iter().zip(answer.results) {
            let user = User { name: query.user.clone(), groups: query.groups.clone() };
            let held = authorizer.rules_for(&user, &query.namespace);
            let ours = confirm_held(&user, &held, &query.rules).err().map_or(String::new(), |e| e.to_string());
            if ours.is_empty() != theirs.ok || parts(&ours) != parts(&theirs.message) {
                return Ok(Some(format!("{query:?}: ours `{ours}`, Kubernetes `{}`", theirs.message)));
            }
        }
        Ok(None)
    });
}

/// The message, and the resolution errors behind it, whose order depends on Kubernetes' caches.
fn parts(message: &str) -> (&str, BTreeSet<String>) {
    let (message, errors) = message.split_once("; resolution errors: ").unwrap_or((message, ""));
    let errors = errors.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(errors);
    (message, messages(errors))
}
