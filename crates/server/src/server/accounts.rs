//! What the authenticator looks up in the cluster.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::sync::Notify;

use crate::authn::{Accounts, INVALID_SINCE, Live, Referred};
use crate::catalog::Catalog;
use crate::cluster::Cluster;
use crate::registry::meta;
use crate::strategy::{Object, fields};
use crate::time;

/// Says when the token of a secret was shown last.
pub(crate) const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";

/// Secrets whose tokens were shown for the first time today.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    names: Mutex<BTreeSet<(String, String)>>,
    pub(crate) some: Notify,
}

impl Shown {
    /// Hands them out and forgets them.
    pub(crate) fn take(&self) -> BTreeSet<(String, String)> {
        std::mem::take(&mut self.names.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Service accounts, and what their tokens are bound to, as they are stored now.
pub(super) struct StoredAccounts {
    pub(super) cluster: Arc<Cluster>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) shown: Arc<Shown>,
}

impl Accounts for StoredAccounts {
    fn find(&self, kind: Referred, namespace: &str, name: &str) -> Option<Live> {
        let served = self.catalog.find("", "v1", kind.resource())?;
        let entry = self.cluster.read().table(served.collection).get(namespace, name).cloned()?;
        let mut live = Live { uid: entry.uid.to_string(), ..Live::default() };
        if !entry.deleting && kind == Referred::Node {
            return Some(live);
        }
        let object = entry.object();
        live.deleted = meta(&object, "deletionTimestamp").parse().ok();
        match kind {
            Referred::Pod => {
                fields::text(&object, &["spec", "serviceAccountName"]).clone_into(&mut live.service_account);
                fields::text(&object, &["spec", "nodeName"]).clone_into(&mut live.node);
            }
            Referred::Secret => {
                live.token = decoded(fields::text(&object, &["data", "token"]));
                live.marked = entry.label(INVALID_SINCE).is_some_and(|since| !since.is_empty());
            }
            Referred::ServiceAccount => live.secrets = listed(&object),
            Referred::Node => {}
        }
        Some(live)
    }

    fn shown(&self, namespace: &str, secret: &str) {
        let Some(secrets) = self.catalog.find("", "v1", "secrets") else { return };
        let entry = self.cluster.read().table(secrets.collection).get(namespace, secret).cloned();
        let Some(entry) = entry.filter(|entry| entry.label(LAST_USED) != Some(today().as_str())) else { return };
        let name = (entry.namespace.to_string(), entry.name.to_string());
        if self.shown.names.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
            self.shown.some.notify_one();
        }
    }
}

/// The day, as the label has it.
pub(crate) fn today() -> String {
    let now = time::seconds(time::now());
    now.split_once('T').map_or_else(String::new, |(day, _)| day.to_owned())
}

fn decoded(text: &str) -> String {
    STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn listed(account: &Object) -> Vec<String> {
    let list = account.get("secrets").and_then(Value::as_array);
    let names = list.into_iter().flatten().filter_map(|secret| secret.get("name")?.as_str());
    names.map(str::to_owned).collect()
}
