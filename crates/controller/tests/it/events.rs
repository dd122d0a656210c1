//! Events on both servers: told once, by no more than the right to create them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::api::{ListParams, PostParams};
use kube::client::ClientBuilder;
use kube::{Api, Client};
use rolewright_controller::events::{Teller, telling};
use rolewright_controller::metrics::Metrics;
use rolewright_plan::{Code, Diagnostic, ObjectRef, rbac};
use rolewright_testkit::embedded::admin;
use rolewright_testkit::fault::{FaultLayer, Plan};
use serde_json::json;
use tower::Layer;

use crate::places::{both, client_of, eventually, in_process};

fn start(client: Client) -> (Teller, Arc<Metrics>) {
    let metrics = Arc::new(Metrics::default());
    let (teller, telling) = telling(client, "pod-1_0123", metrics.clone());
    tokio::spawn(telling.run(std::future::pending()));
    (teller, metrics)
}

/// How many events ended like this.
fn counted(metrics: &Metrics, outcome: &str) -> u32 {
    let start = format!("rolewright_events_sent_total{{outcome=\"{outcome}\"}} ");
    let text = metrics.encode();
    text.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |count| count.parse().unwrap())
}

fn cycle(role: &str) -> Diagnostic {
    Diagnostic::new(
        Code::AggregationCycle,
        ObjectRef::cluster(&rbac::CLUSTER_ROLE, role),
        "`a` selects `b` selects `a`",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_told_once() -> Result<()> {
    for place in both().await? {
        let client = place.client().await?;
        may_create_events(&client).await?;
        let teller = place.client_as("teller").await?;
        let events: Api<Event> = Api::namespaced(client.clone(), "default");
        // Who asks too early is refused: RBAC's own caches may lag.
        let (first, metrics) = start(teller.clone());
        let warm_up =
            Diagnostic::new(Code::Paused, ObjectRef::namespaced(&rbac::ROLE, "default", "ci"), "one write waits");
        eventually("a first event", async || {
            first.tell("aggregation", &warm_up, "uid-0");
            Ok((counted(&metrics, "created") > 0).then_some(()))
        })
        .await
        .context(place.name)?;
        first.tell("aggregation", &cycle("system:a"), "uid-1");
        eventually("a second event", async || Ok((counted(&metrics, "created") == 2).then_some(()))).await?;

        // The next process says the same.
        let (second, metrics) = start(teller);
        second.tell("aggregation", &cycle("system:a"), "uid-1");
        eventually("an event that is known", async || Ok((counted(&metrics, "known") == 1).then_some(()))).await?;
        // The same words about another object are news.
        second.tell("aggregation", &cycle("system:a"), "uid-2");
        eventually("an event", async || Ok((counted(&metrics, "created") == 1).then_some(()))).await?;
        // What is over and comes back is news as well, each time; who starts anew tells only the first again.
        for told in 2..4 {
            second.is_over(&cycle("system:a"));
            second.tell("aggregation", &cycle("system:a"), "uid-2");
            eventually("an event again", async || Ok((counted(&metrics, "created") == told).then_some(()))).await?;
        }
        assert_eq!(counted(&metrics, "known"), 1);
        // What the server does not take is not tried again.
        let lost =
            Diagnostic::new(Code::Paused, ObjectRef::namespaced(&rbac::ROLE, "nowhere", "ci"), "one write waits");
        second.tell("aggregation", &lost, "uid-3");
        eventually("a failure", async || Ok((counted(&metrics, "failed") == 1).then_some(()))).await?;

        let mut stored: Vec<Event> = events.list(&ListParams::default()).await?.items;
        let uid = |event: &Event| event.regarding.as_ref().and_then(|object| object.uid.clone());
        // Other tests tell things, too.
        stored.retain(|event| uid(event).is_some_and(|uid| uid.starts_with("uid-")));
        stored.sort_by_key(uid);
        let uids: Vec<_> = stored.iter().filter_map(|event| event.regarding.as_ref()?.uid.as_deref()).collect();
        assert_eq!(uids, ["uid-0", "uid-1", "uid-2", "uid-2", "uid-2"], "{}", place.name);
        let event = &stored[1];
        assert_eq!(event.note.as_deref(), Some("`a` selects `b` selects `a` (RW0102)"));
        assert_eq!(event.reason.as_deref(), Some("AggregationCycle"));
        assert_eq!(event.type_.as_deref(), Some("Warning"));
        assert_eq!(event.reporting_controller.as_deref(), Some("rolewright.io/aggregation"));
        assert_eq!(event.reporting_instance.as_deref(), Some("pod-1_0123"));
    }
    Ok(())
}

/// Lets the user `teller` create events and nothing else.
async fn may_create_events(client: &Client) -> Result<()> {
    let rules = json!([{"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]}]);
    let role = json!({"metadata": {"name": "teller"}, "rules": rules});
    let binding = json!({
        "metadata": {"name": "teller"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "teller"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "teller"}],
    });
    let roles: Api<ClusterRole> = Api::all(client.clone());
    roles.create(&PostParams::default(), &serde_json::from_value(role)?).await?;
    let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
    bindings.create(&PostParams::default(), &serde_json::from_value(binding)?).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_of_any_kind_are_taken_by_both_servers() -> Result<()> {
    for place in both().await? {
        // Over a layer as the model suite puts it.
        let faults = FaultLayer::new(1, Plan::default());
        let client = ClientBuilder::try_from(place.config().await?)?.with_layer(&faults).build();
        let (teller, metrics) = start(client);
        let messages = ["", "é\u{1f512}\n\ttwo lines", &"long ".repeat(1000), &"\u{1f512}".repeat(999)];
        for (index, message) in messages.iter().enumerate() {
            let object = ObjectRef::cluster(&rbac::CLUSTER_ROLE, "Any:Name/With%Odd Letters".replace('/', "-"));
            teller.tell("aggregation", &Diagnostic::new(Code::Refused, object, *message), &format!("odd-{index}"));
        }
        eventually("all of them", async || {
            assert_eq!(counted(&metrics, "failed"), 0, "{}", place.name);
            Ok((counted(&metrics, "created") == 4).then_some(()))
        })
        .await?;
        assert_eq!(faults.counts().writes, 4);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn busy_servers_are_asked_again_and_floods_are_dropped() -> Result<()> {
    let server = in_process()?;
    let plan = Plan { busy: 150, broken: 150, dropped: 150, retry_after: 1, ..Plan::default() };
    let faults = FaultLayer::new(5, plan);
    let client = Client::new(faults.layer(server.router_as(admin())), "default");
    let metrics = Arc::new(Metrics::default());
    let (teller, telling) = telling(client, "pod-1", metrics.clone());
    // Nobody sends yet.
    for index in 0..600 {
        teller.tell("aggregation", &cycle("system:a"), &format!("uid-{index}"));
    }
    assert_eq!(counted(&metrics, "dropped"), 600 - 512);
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let run = tokio::spawn(telling.run(async {
        let _ = ended.await;
    }));
    let sum = || ["created", "known", "failed"].map(|outcome| counted(&metrics, outcome)).iter().sum::<u32>();
    while sum() < 512 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let events: Api<Event> = Api::namespaced(client_of(&server), "default");
    let stored = events.list(&ListParams::default()).await?.items.len();
    let told = usize::try_from(counted(&metrics, "created") + counted(&metrics, "known"))?;
    // A write whose answers are all lost counts as failed and may be stored all the same.
    assert!(told <= stored && told > 450, "{told} told, {stored} stored");
    // What waits at the end is dropped, and counted.
    for index in 0..100 {
        teller.tell("aggregation", &cycle("system:b"), &format!("uid-{index}"));
    }
    drop(end);
    run.await?;
    assert_eq!(sum() + counted(&metrics, "dropped"), 700);
    server.end();
    Ok(())
}
