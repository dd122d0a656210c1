//! The layer of faults under kube's own watcher: whatever it injects, a correct client gets over it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, ResourceExt};
use rolewright_testkit::embedded::admin;
use rolewright_testkit::fault::{Fault, FaultLayer, Plan};
use serde_json::json;
use tokio::time::{Instant, sleep};
use tower::Layer;

use crate::places::{client_of, in_process};

type Versions = BTreeMap<String, Option<String>>;

#[tokio::test(start_paused = true)]
async fn a_reflector_holds_what_is_there() -> Result<()> {
    let mut met = BTreeSet::new();
    for seed in 0..20_u64 {
        let server = in_process()?;
        let faults = FaultLayer::new(seed, Plan::rough());
        let faulty = Client::new(faults.layer(server.router_as(admin())), "default");
        let (store, writer) = reflector::store();
        let watch = watcher(Api::<ConfigMap>::namespaced(faulty, "default"), watcher::Config::default().page_size(3));
        let watch = tokio::spawn(watch.default_backoff().reflect(writer).for_each(|_| async {}));
        let objects: Api<ConfigMap> = Api::namespaced(client_of(&server), "default");
        for step in 0..150_u64 {
            let (name, pick) = (format!("n{}", (seed + step * 7) % 11), (seed ^ (step * 13)) % 5);
            if pick == 0 {
                // It may not be there.
                let _ = objects.delete(&name, &DeleteParams::default()).await;
            } else {
                let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"step": step.to_string()}});
                objects.patch(&name, &PatchParams::apply("test"), &Patch::Apply(map)).await?;
            }
            sleep(Duration::from_millis(pick * 40)).await;
        }
        faults.quiet();
        let there: Versions = versions(objects.list(&ListParams::default()).await?.items.iter());
        let end = Instant::now() + Duration::from_mins(2);
        loop {
            let state = store.state();
            let known = versions(state.iter().map(AsRef::as_ref));
            if known == there {
                break;
            }
            ensure!(Instant::now() < end, "seed {seed}: {known:?} is not {there:?}");
            sleep(Duration::from_secs(1)).await;
        }
        watch.abort();
        server.end();
        met.extend(faults.counts().faults.into_keys());
    }
    for fault in [Fault::Cut, Fault::Doubled, Fault::Swapped, Fault::Gone, Fault::Broken, Fault::Dropped] {
        ensure!(met.contains(&fault), "{fault:?} was not met");
    }
    Ok(())
}

fn versions<'o>(objects: impl Iterator<Item = &'o ConfigMap>) -> Versions {
    objects.map(|object| (object.name_any(), object.resource_version())).collect()
}
