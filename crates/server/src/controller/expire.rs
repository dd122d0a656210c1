//! Events end an hour after they were last written, as in Kubernetes, whose storage forgets them.

use std::time::Duration;

use serde_json::json;

use super::Own;
use crate::Server;
use crate::cluster::{ObjectName, Page};

/// How long an event is kept.
const LIFE: Duration = Duration::from_hours(1);
/// How often somebody looks.
const EVERY: Duration = Duration::from_mins(1);
const AGENT: &str = "kube-apiserver";

pub(super) async fn run(server: Server) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => expire(&server, crate::time::now()),
            () = server.ended() => return,
        }
    }
}

fn expire(server: &Server, now: jiff::Timestamp) {
    let Some(events) = server.catalog().find("", "v1", "events") else { return };
    let old: Vec<_> = {
        let (state, all) = (server.cluster().read(), Page::default());
        let entries = state.table(events.collection).entries(&all);
        entries.filter(|entry| u64::from(entry.written) + LIFE.as_secs() <= seconds(now)).cloned().collect()
    };
    for entry in old {
        let at =
            ObjectName { collection: events.collection, namespace: entry.namespace.clone(), name: entry.name.clone() };
        let preconditions = json!({"uid": entry.uid, "resourceVersion": entry.revision.to_string()});
        let body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions});
        let Some((own, _)) = Own::on(server, &at, "delete", "") else { return };
        // Whoever wrote it anew in the meantime gave it another hour.
        let _ = own.call(&events, AGENT, &body).delete();
    }
}

fn seconds(time: jiff::Timestamp) -> u64 {
    u64::try_from(time.as_second()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, bootstrap};

    #[tokio::test]
    async fn an_event_lives_for_an_hour_and_nothing_else_ends() {
        let server = Server::start(Settings::default()).unwrap();
        let metadata = json!({"name": "seen", "namespace": "default"});
        let involved = json!({"kind": "Namespace", "name": "default", "namespace": "default"});
        bootstrap::store(&server, "", "events", "test", json!({"metadata": metadata, "involvedObject": involved}));
        bootstrap::store(&server, "", "configmaps", "test", json!({"metadata": metadata}));
        let there = |plural: &str| {
            let collection = server.catalog().find("", "v1", plural).unwrap().collection;
            server.cluster().read().table(collection).get("default", "seen").is_some()
        };
        let minutes = |minutes: i64| crate::time::now() + jiff::SignedDuration::from_mins(minutes);
        expire(&server, minutes(59));
        assert!(there("events"));
        expire(&server, minutes(61));
        assert!(!there("events"));
        assert!(there("configmaps"));
    }
}
