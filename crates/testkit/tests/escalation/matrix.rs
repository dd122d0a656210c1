//! Everybody tries everything in every way, on both servers.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use rolewright_core::{Name, Rule, User};
use rolewright_testkit::oracle::Oracle;
use serde_json::{Value, json};

use crate::actors::{Actor, Trust, actors};
use crate::rights::{gained, held, reviewed, world};
use crate::servers::{Answer, Ask, Both, Target};
use crate::things::{Object, PRIZES, Thing, prize};
use crate::ways::Way;
use crate::{NAMESPACE, RBAC};

/// Attempts under way at a time.
const TOGETHER: usize = 24;

/// Somebody tries something.
struct Attempt {
    actor: Actor,
    way: Way,
    object: Object,
    before: Vec<Ask>,
    asks: Vec<Ask>,
}

pub(crate) async fn every_way_is_guarded(both: &Both) -> Result<()> {
    let mut oracle = Oracle::start("the escalation suite")?.context("a real server comes with the oracle")?;
    let (actors, attempts) = attempts(&mut oracle)?;
    for target in [&both.real, &both.ours] {
        set_up(target, &actors).await?;
    }
    let before = (reviews(&both.real, &actors).await?, reviews(&both.ours, &actors).await?);
    ensure!(before.0 == before.1, "the servers disagree before anything was tried: {}", json!([before.0, before.1]));

    let tried = stream::iter(&attempts).map(|attempt| attempt.run(both)).buffered(TOGETHER);
    let outcomes: Vec<Outcome> = tried.try_collect().await?;
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for outcome in &outcomes {
        *statuses.entry(outcome.status).or_default() += 1;
    }
    // One of each way is enough to see what is wrong.
    let apart: BTreeMap<String, &str> = attempts
        .iter()
        .zip(&outcomes)
        .filter_map(|(attempt, outcome)| {
            Some((format!("{:?} {:?}", attempt.way, attempt.object.thing), outcome.difference.as_deref()?))
        })
        .collect();
    println!("escalation: {} attempts, by status of the real server: {statuses:?}", attempts.len());
    ensure!(
        apart.is_empty(),
        "attempts differ in {} ways:\n{}",
        apart.len(),
        apart.into_values().collect::<Vec<_>>().join("\n")
    );

    for (name, target) in [("the real server", &both.real), ("our server", &both.ours)] {
        nobody_gained(target, &actors).await.context(name)?;
    }
    let after = (reviews(&both.real, &actors).await?, reviews(&both.ours, &actors).await?);
    ensure!(after == before, "reviews say that somebody's rights changed");
    Ok(())
}

/// The whole matrix, and who is in it.
fn attempts(oracle: &mut Oracle) -> Result<(Vec<Actor>, Vec<Attempt>)> {
    let mut cells: Vec<(Thing, Way, &'static str)> = Vec::new();
    for thing in Thing::PLAIN {
        cells.extend(Way::ALL.map(|way| (thing, way, "secrets")));
        for prize in PRIZES.into_iter().filter(|prize| *prize != "secrets") {
            cells.extend([Way::Post, Way::Merge].map(|way| (thing, way, prize)));
        }
    }
    cells.retain(|(thing, _, prize)| *thing != Thing::LocalBinding || *prize != "paths");
    let few = ["nobody", "writer", "exact", "escalator", "all-but-paths", "everything"];
    let aggregated: Vec<_> =
        Thing::AGGREGATED.into_iter().flat_map(|thing| Way::SOME.map(|way| (thing, way, "secrets"))).collect();
    // Those who only differ in what they hold go the same ways as the others.
    let alike = ["reader", "paths", "mistaken", "all-but-paths"];
    let mut tries = Vec::new();
    let mut named = Vec::new();
    for actor in actors(Vec::new()) {
        let more = few.contains(&actor.name).then_some(&aggregated);
        for &(thing, way, prize) in cells.iter().chain(more.into_iter().flatten()) {
            if alike.contains(&actor.name) && !Way::SOME.contains(&way) {
                continue;
            }
            let name = format!("n{}", tries.len());
            if actor.name == "escalator-one" && tries.len() % 2 == 0 {
                named.push(Name::from(&*name));
            }
            tries.push((actor.name, way, Object { thing, name, prize, accomplice: actor.accomplice() }));
        }
    }
    let actors = actors(named);
    let mut attempts = Vec::new();
    for (name, way, object) in tries {
        let actor = actors.iter().find(|actor| actor.name == name).context("the same people")?.clone();
        let mut before = object.around();
        if way.changes() {
            before.push(Ask::new("POST", object.collection(), &object.plain()));
        }
        let asks = way.asks(&object, oracle)?;
        attempts.push(Attempt { actor, way, object, before, asks });
    }
    Ok((actors, attempts))
}

async fn set_up(target: &Target, actors: &[Actor]) -> Result<()> {
    target.must(&Ask::new("POST", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}}))).await?;
    for name in PRIZES {
        let role = json!({"metadata": {"name": format!("prize-{name}")}, "rules": prize(name)});
        target.must(&Ask::new("POST", format!("{RBAC}/clusterroles"), &role)).await?;
        if name != "paths" {
            target.must(&Ask::new("POST", format!("{RBAC}/namespaces/{NAMESPACE}/roles"), &role)).await?;
        }
    }
    for actor in actors {
        actor.set_up(target).await?;
    }
    for actor in actors {
        actor.settled(target).await?;
    }
    Ok(())
}

async fn reviews(target: &Target, actors: &[Actor]) -> Result<BTreeMap<&'static str, Value>> {
    let all = stream::iter(actors).map(|actor| async { anyhow::Ok((actor.name, reviewed(target, actor.name).await?)) });
    all.buffered(TOGETHER).try_collect().await
}

struct Outcome {
    status: u16,
    difference: Option<String>,
}

impl Attempt {
    async fn run(&self, both: &Both) -> Result<Outcome> {
        let (theirs, ours) = tokio::try_join!(self.on(&both.real), self.on(&both.ours))?;
        let status = theirs.last().map(|answer| answer.status).unwrap_or_default();
        let difference = (theirs != ours).then(|| {
            let text = |answers: &[Answer]| {
                answers.iter().map(|a| format!("{} {}", a.status, a.body)).collect::<Vec<_>>().join(" | ")
            };
            format!(
                "{} · {:?} · {:?} · {}\n  real {}\n  ours {}",
                self.actor.name,
                self.object.thing,
                self.way,
                self.object.prize,
                text(&theirs),
                text(&ours)
            )
        });
        Ok(Outcome { status, difference })
    }

    async fn on(&self, target: &Target) -> Result<Vec<Answer>> {
        for ask in &self.before {
            target.must(ask).await?;
        }
        let mut answers = Vec::new();
        for ask in &self.asks {
            let answer = target.send(&self.actor.who(), ask).await?;
            answers.push(self.comparable(answer));
        }
        Ok(answers)
    }

    /// An answer without what must differ.
    fn comparable(&self, mut answer: Answer) -> Answer {
        if answer.body["kind"] == "Status" && answer.body["status"] == "Success" {
            answer.body["details"]["uid"].take();
        }
        if let Some(metadata) = answer.body["metadata"].as_object_mut() {
            for member in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
                metadata.remove(member);
            }
        }
        for item in answer.body["items"].as_array_mut().into_iter().flatten() {
            item["metadata"] = item["metadata"]["name"].take();
        }
        if answer.body["metadata"].get("resourceVersion").is_some() {
            answer.body["metadata"]["resourceVersion"].take();
        }
        // The controller of the real server takes its time.
        if Thing::AGGREGATED.contains(&self.object.thing) && answer.status < 300 {
            answer.body["rules"].take();
        }
        if self.way == Way::PostGenerated {
            let prefix = format!("{}-", self.object.name);
            let text = answer.body.to_string();
            let drawn = |part: &str| {
                let suffix = part.bytes().take_while(u8::is_ascii_alphanumeric).count();
                let (suffix, rest) = part.split_at(suffix);
                format!("{}{rest}", if suffix.len() == 5 { "xxxxx" } else { suffix })
            };
            let mut parts = text.split(prefix.as_str());
            let first = parts.next().unwrap_or_default().to_owned();
            let whole = std::iter::once(first).chain(parts.map(drawn)).collect::<Vec<_>>().join(&prefix);
            answer.body = serde_json::from_str(&whole).unwrap_or_default();
        }
        answer
    }
}

/// From the objects that are there now: everybody holds what they held, and their accomplices no more than that and what
/// they were trusted with.
async fn nobody_gained(target: &Target, actors: &[Actor]) -> Result<()> {
    let world = world(target).await?.aggregated();
    let places = ["", NAMESPACE, "default"];
    let anonymous = held(&world, &User::authenticated("stranger", [] as [&str; 0]), &places);
    for actor in actors {
        let user = |name: &str| held(&world, &User::authenticated(name, [] as [&str; 0]), &places);
        let mut start: BTreeMap<String, Vec<Rule>> = anonymous.clone();
        for (place, rules) in &mut start {
            if !actor.local || place == NAMESPACE {
                rules.extend(actor.rules.iter().cloned());
            }
        }
        let more = gained(&start, &user(actor.name));
        ensure!(more.is_empty(), "{} holds more than at the start: {more:?}", actor.name);
        let less = gained(&user(actor.name), &start);
        ensure!(less.is_empty(), "{} holds less than at the start: {less:?}", actor.name);
        let one: Vec<Rule> = serde_json::from_value(prize("secrets"))?;
        let mut more = gained(&start, &user(&actor.accomplice()));
        match actor.trust {
            Trust::None => {}
            Trust::One => more.retain(|(_, rules)| !rolewright_core::covers(&one, rules).is_empty()),
            Trust::Namespace => more.retain(|(place, _)| place != NAMESPACE),
            Trust::All => more.clear(),
        }
        ensure!(more.is_empty(), "{} got rights that {} does not hold: {more:?}", actor.accomplice(), actor.name);
    }
    Ok(())
}
