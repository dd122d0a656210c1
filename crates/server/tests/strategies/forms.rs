//! The two forms of events, as the real API server shows them.

use anyhow::{Result, ensure};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use rolewright_server::kinds::event::{to_core, to_events_v1};
use rolewright_server::strategy::Object;
use rolewright_testkit::apiserver::{ApiServer, Client};
use serde_json::{Value, json};

const CORE: &str = "/api/v1/namespaces/default/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const EVENTS: usize = 200;

#[test]
fn events_have_two_forms() -> Result<()> {
    let Some(server) = ApiServer::start("the two forms of events")? else { return Ok(()) };
    let mut client = server.client()?;
    let mut runner = TestRunner::deterministic();
    let mut made = 0;
    for i in 0..EVENTS {
        let name = format!("e{i}");
        let (path, mut event) = match i % 2 {
            0 => (CORE, crate::events::core(0.3).new_tree(&mut runner).unwrap().current()),
            _ => (NEW, crate::events::new(0.02).new_tree(&mut runner).unwrap().current()),
        };
        event["metadata"] = json!({"name": name});
        if client.post(path, &event)?.status != 201 {
            continue;
        }
        made += 1;
        let (core, new) = (get(&mut client, CORE, &name)?, get(&mut client, NEW, &name)?);
        for (ours, theirs) in
            [(to_events_v1(&core), &new), (to_core(&new), &core), (to_events_v1(&new), &new), (to_core(&core), &core)]
        {
            ensure!(ours == *theirs, "ours       {}\nKubernetes {}", Value::from(ours), Value::from(theirs.clone()));
        }
    }
    ensure!(made > EVENTS / 10, "only {made} events are valid");
    server.stop()
}

fn get(client: &mut Client, path: &str, name: &str) -> Result<Object> {
    let answer = client.get(&format!("{path}/{name}"))?;
    ensure!(answer.status == 200, "{answer:?}");
    Ok(serde_json::from_value(answer.body)?)
}
