//! client-go's informers: their stores become what the server has, whatever happens to their watches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use rolewright_server::Controllers;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::process::Process;
use crate::servers::{self, Home};

const LIMIT: Duration = Duration::from_mins(1);
/// Informers that run side by side.
const TOGETHER: usize = 4;
const RESOURCES: [(&str, &str); 6] = [
    ("configmaps", "/api/v1"),
    ("secrets", "/api/v1"),
    ("serviceaccounts", "/api/v1"),
    ("deployments", "/apis/apps/v1"),
    ("rolebindings", "/apis/rbac.authorization.k8s.io/v1"),
    ("roles", "/apis/rbac.authorization.k8s.io/v1"),
];
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

type Stores = BTreeMap<String, BTreeMap<String, Value>>;

/// How a client is set up.
#[derive(Clone, Copy, Debug)]
struct Setup {
    name: &'static str,
    kind: &'static str,
    content_type: &'static str,
    watch_list: bool,
}

const SETUPS: [Setup; 8] = [
    Setup { name: "typed", kind: "typed", content_type: "application/json", watch_list: true },
    Setup { name: "typed-list", kind: "typed", content_type: "application/json", watch_list: false },
    Setup {
        name: "proto",
        kind: "typed",
        content_type: "application/vnd.kubernetes.protobuf,application/json",
        watch_list: true,
    },
    Setup {
        name: "proto-list",
        kind: "typed",
        content_type: "application/vnd.kubernetes.protobuf,application/json",
        watch_list: false,
    },
    Setup { name: "dynamic", kind: "dynamic", content_type: "", watch_list: true },
    Setup { name: "dynamic-list", kind: "dynamic", content_type: "", watch_list: false },
    Setup { name: "metadata", kind: "metadata", content_type: "", watch_list: true },
    Setup { name: "metadata-list", kind: "metadata", content_type: "", watch_list: false },
];

#[derive(Deserialize)]
struct Seen {
    #[serde(default)]
    stores: Stores,
    #[serde(default)]
    events: BTreeMap<String, BTreeMap<String, usize>>,
    requests: BTreeMap<String, usize>,
}

impl Seen {
    fn requests(&self, name: &str) -> usize {
        self.requests.get(name).copied().unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_become_what_the_server_has() -> Result<()> {
    let Some(real) = servers::real().await? else { return Ok(()) };
    let folder = servers::folder("informers")?;
    let ours = servers::ours(Controllers { root_ca: false, ..Controllers::default() }, &folder).await?;
    forget(&ours).await?;
    let homes = [Arc::new(real), Arc::new(ours)];
    let all = homes.iter().flat_map(|home| SETUPS.map(|setup| (home.clone(), setup)));
    let runs = stream::iter(all).map(|(home, setup)| async move {
        let about = format!("{} {}", home.name, setup.name);
        tokio::spawn(live(home, setup)).await?.context(about)
    });
    runs.buffer_unordered(TOGETHER).try_collect::<Vec<()>>().await?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Changes a large config map until the server forgets how config maps began.
async fn forget(ours: &Home) -> Result<()> {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let text = "x".repeat(900 << 10);
    let made = ours.send("POST", MAPS, Some(&json!({"metadata": {"name": "large"}, "data": {"a": text}}))).await?;
    ensure!(made.0 == 201, "{made:?}");
    for round in 0..50 {
        let label = json!({"metadata": {"labels": {"round": round.to_string()}}});
        ours.send("PATCH", &format!("{MAPS}/large"), Some(&label)).await?;
    }
    ours.send("DELETE", &format!("{MAPS}/large"), None).await?;
    Ok(())
}

/// The life of one client.
async fn live(home: Arc<Home>, setup: Setup) -> Result<()> {
    let namespace = format!("informers-{}", setup.name);
    let made = home.send("POST", "/api/v1/namespaces", Some(&json!({"metadata": {"name": namespace}}))).await?;
    ensure!(made.0 == 201, "{made:?}");
    write(&home, &namespace, "before").await?;
    let watch_list = format!("--watch-list={}", setup.watch_list);
    let mut arguments = vec!["--namespace", &namespace, "--kind", setup.kind, "--watch-seconds", "1", &watch_list];
    if !setup.content_type.is_empty() {
        arguments.extend(["--content-type", setup.content_type]);
    }
    let mut process = Process::start(&home, "informers", &arguments)?;
    process.line().context("in sync")?;
    let begun = converged(&home, &namespace, setup, &mut process).await?;
    ensure!((begun.requests("watch-list") > 0) == setup.watch_list, "{:?}", begun.requests);
    ensure!((begun.requests("list") > 0) != setup.watch_list, "{:?}", begun.requests);
    if setup.content_type.starts_with(PROTOBUF) {
        // Ours has only JSON, which is what the client names second.
        let answered = if home.name == "real" { PROTOBUF } else { "application/json" };
        ensure!(begun.requests(answered) > 0, "{:?}", begun.requests);
    }
    write(&home, &namespace, "live").await?;
    converged(&home, &namespace, setup, &mut process).await?;

    let _: Seen = process.ask(json!({"op": "cut"}))?;
    write(&home, &namespace, "cut").await?;
    converged(&home, &namespace, setup, &mut process).await?;

    // Every watch begins again before all history. The real server still knows it all; ours has forgotten config maps.
    let cut = converged(&home, &namespace, setup, &mut process).await?;
    let _: Seen = process.ask(json!({"op": "rewind"}))?;
    write(&home, &namespace, "rewound").await?;
    if home.name == "ours" {
        let begun = |seen: &Seen| seen.requests("list") + seen.requests("watch-list");
        waited(&mut process, |seen| seen.requests("expired") > 0 && begun(seen) > begun(&cut))
            .await
            .context("410 makes it begin again")?;
    }
    let again = converged(&home, &namespace, setup, &mut process).await?;

    waited(&mut process, |seen| seen.requests("watch") >= again.requests("watch") + 2 * RESOURCES.len())
        .await
        .context("the server ends watches, and the client watches on")?;
    write(&home, &namespace, "late").await?;
    converged(&home, &namespace, setup, &mut process).await?;
    // What comes and goes between two watches was never there for the client; what it has seen must go for it as well.
    for (resource, api) in RESOURCES {
        let gone = home.send("DELETE", &format!("{api}/namespaces/{namespace}/{resource}/stays-late"), None).await?;
        ensure!(gone.0 == 200, "{gone:?}");
    }
    let end = converged(&home, &namespace, setup, &mut process).await?;
    for (resource, counts) in &end.events {
        let count = |event: &str| counts.get(event).copied().unwrap_or_default();
        let there = end.stores.get(resource).map_or(0, BTreeMap::len);
        ensure!(count("add") - count("delete") == there, "{resource}: {counts:?}, {there} there");
        ensure!(count("update") > 0 && count("delete") > 0, "{resource}: {counts:?}");
    }
    process.end()
}

/// Creates, changes, replaces and deletes something of every kind; what stays is told apart by `round`.
async fn write(home: &Home, namespace: &str, round: &str) -> Result<()> {
    for (resource, api) in RESOURCES {
        let at = format!("{api}/namespaces/{namespace}/{resource}");
        for name in ["stays", "changes", "goes", "comes-again"] {
            let object = object(resource, &format!("{name}-{round}"));
            let made = home.send("POST", &at, Some(&object)).await?;
            ensure!(made.0 == 201, "{made:?}");
        }
        let label = json!({"metadata": {"labels": {"round": round}}});
        for (method, name, body, code) in [
            ("PATCH", "changes", Some(&label), 200),
            ("DELETE", "goes", None, 200),
            ("DELETE", "comes-again", None, 200),
        ] {
            let done = home.send(method, &format!("{at}/{name}-{round}"), body).await?;
            ensure!(done.0 == code, "{done:?}");
        }
        let again = home.send("POST", &at, Some(&object(resource, &format!("comes-again-{round}")))).await?;
        ensure!(again.0 == 201, "{again:?}");
    }
    Ok(())
}

fn object(resource: &str, name: &str) -> Value {
    let metadata = json!({"name": name});
    match resource {
        "configmaps" => json!({"metadata": metadata, "data": {"a": "b"}}),
        "secrets" => json!({"metadata": metadata, "stringData": {"a": "b"}}),
        "serviceaccounts" => json!({"metadata": metadata}),
        "deployments" => json!({"metadata": metadata, "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        }}),
        "roles" => {
            json!({"metadata": metadata, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})
        }
        _ => json!({"metadata": metadata, "subjects": [{"kind": "User", "name": "alice"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}}),
    }
}

/// What the server has, by resource and key.
async fn listed(home: &Home, namespace: &str, setup: Setup) -> Result<Stores> {
    let mut stores = Stores::new();
    for (resource, api) in RESOURCES {
        let (status, list) = home.send("GET", &format!("{api}/namespaces/{namespace}/{resource}"), None).await?;
        ensure!(status == 200, "{list}");
        let items = list["items"].as_array().context("a list")?.iter().map(|item| {
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            (format!("{namespace}/{name}"), comparable(item, setup))
        });
        stores.insert(resource.to_owned(), items.collect());
    }
    Ok(stores)
}

/// Only dynamic clients keep the kind, and those of metadata keep only that.
fn comparable(object: &Value, setup: Setup) -> Value {
    if setup.kind == "metadata" {
        return object["metadata"].clone();
    }
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        members.remove("apiVersion");
        members.remove("kind");
    }
    object
}

/// Waits until the stores are what the server has.
async fn converged(home: &Home, namespace: &str, setup: Setup, process: &mut Process) -> Result<Seen> {
    let start = Instant::now();
    loop {
        let expected = listed(home, namespace, setup).await?;
        let mut seen: Seen = process.ask(json!({"op": "stores"}))?;
        for object in seen.stores.values_mut().flat_map(BTreeMap::values_mut) {
            *object = comparable(object, setup);
        }
        if seen.stores == expected {
            return Ok(seen);
        }
        if start.elapsed() > LIMIT {
            let differing = expected.iter().find_map(|(resource, objects)| {
                let stored = seen.stores.get(resource)?;
                (stored != objects).then(|| format!("{resource}\nserver {objects:?}\nstore {stored:?}"))
            });
            anyhow::bail!("the store does not become what the server has: {}", differing.unwrap_or_default());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn waited(process: &mut Process, done: impl Fn(&Seen) -> bool) -> Result<Seen> {
    let start = Instant::now();
    loop {
        let seen: Seen = process.ask(json!({"op": "stores"}))?;
        if done(&seen) {
            return Ok(seen);
        }
        ensure!(start.elapsed() < LIMIT, "in vain: {:?}", seen.requests);
        sleep(Duration::from_millis(50)).await;
    }
}
