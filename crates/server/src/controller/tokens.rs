//! Secrets with the token of a service account: they are filled, put right, and go with their account.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{change, delete};
use crate::Server;
use crate::authn::secret_token;
use crate::cluster::{ChangeKind, Collection, Entry, ObjectName, Page, Position};
use crate::registry::set_meta;
use crate::server::{LAST_USED, today};
use crate::strategy::{Object, fields};

const TYPE: &str = "kubernetes.io/service-account-token";
const NAME: &str = "kubernetes.io/service-account.name";
const UID: &str = "kubernetes.io/service-account.uid";
const AGENT: &str = "kube-controller-manager";
const SERVER: &str = "kube-apiserver";

/// The two collections, and up to where they are followed.
struct Follower {
    server: Server,
    secrets: Collection,
    accounts: Collection,
    position: Option<Position>,
}

/// What has to be looked at.
#[derive(Default)]
struct Work {
    /// Secrets, by namespace and name.
    secrets: BTreeSet<(String, String)>,
    /// Secrets that are gone: their accounts may list them.
    gone: Vec<(String, String, Object)>,
}

pub(super) async fn run(server: Server) {
    let find = |plural: &str| server.catalog().find("", "v1", plural).map(|served| served.collection);
    let (Some(secrets), Some(accounts)) = (find("secrets"), find("serviceaccounts")) else { return };
    let subscribe = |collection| server.cluster().subscribe(collection);
    let (Some(mut secret), Some(mut account)) = (subscribe(secrets), subscribe(accounts)) else { return };
    let mut follower = Follower { server: server.clone(), secrets, accounts, position: None };
    loop {
        follower.step();
        tokio::select! {
            changed = secret.changed() => if changed.is_err() { return },
            changed = account.changed() => if changed.is_err() { return },
            () = server.shown().some.notified() => follower.mark(),
            () = server.ended() => return,
        }
    }
}

impl Follower {
    /// Looks at what has changed, or at everything where that is not known.
    fn step(&mut self) {
        let work = self.changes();
        for (namespace, name) in &work.secrets {
            self.sync(namespace, name);
        }
        for (namespace, name, secret) in &work.gone {
            self.unlist(namespace, name, secret);
        }
    }

    fn changes(&mut self) -> Work {
        let mut work = Work::default();
        let state = self.server.cluster().read();
        let since = self.position.replace(state.revision());
        let name = |entry: &Entry| (entry.namespace.to_string(), entry.name.to_string());
        let table = state.table(self.secrets);
        let logs =
            since.and_then(|since| Some((table.log().after(since)?, state.table(self.accounts).log().after(since)?)));
        let Some((secrets, accounts)) = logs else {
            work.secrets = table.entries(&Page::default()).map(|entry| name(entry)).collect();
            return work;
        };
        for change in secrets {
            if change.kind == ChangeKind::Deleted {
                let (namespace, secret) = name(&change.new);
                work.gone.push((namespace, secret, change.new.object()));
            } else {
                work.secrets.insert(name(&change.new));
            }
        }
        for change in accounts.filter(|change| change.kind == ChangeKind::Deleted) {
            let page = Page { namespace: &change.new.namespace, after: None };
            work.secrets.extend(table.entries(&page).map(|entry| name(entry)));
        }
        work
    }

    fn sync(&self, namespace: &str, name: &str) {
        let Some(entry) = self.entry(self.secrets, namespace, name).filter(|entry| !entry.deleting) else { return };
        let secret = entry.object();
        if !is_token(&secret) {
            return;
        }
        let at = at(self.secrets, namespace, name);
        match self.account(namespace, &secret) {
            None => delete(&self.server, &at, &entry.uid, "Background", AGENT),
            Some(account) if self.filled(&secret, &account).is_some() => {
                change(&self.server, &at, "", AGENT, &|secret| Ok(self.filled(&secret, &account).unwrap_or(secret)));
            }
            Some(_) => {}
        }
    }

    /// The secret with all that it should have; nothing if it has that.
    fn filled(&self, secret: &Object, account: &Entry) -> Option<Object> {
        if !is_token(secret) {
            return None;
        }
        let is = |key: &str| fields::text(secret, &["data", key]);
        let certificate = self.server.settings().root_ca.as_ref().map(|pem| STANDARD.encode(pem));
        let certificate = certificate.filter(|certificate| is("ca.crt") != certificate);
        let namespace = is("namespace").is_empty().then(|| STANDARD.encode(account.namespace.as_str()));
        let name = fields::text(secret, &["metadata", "name"]);
        let sign = || {
            secret_token(self.server.authenticator().issuer(), &account.namespace, (&account.name, &account.uid), name)
        };
        let token = if is("token").is_empty() { sign() } else { None };
        if certificate.is_none() && namespace.is_none() && token.is_none() {
            return None;
        }
        let mut filled = secret.clone();
        for (key, value) in [("ca.crt", certificate), ("namespace", namespace), ("token", token)] {
            if let Some(value) = value {
                fields::set(&mut filled, &["data", key], value);
            }
        }
        fields::set(&mut filled, &["metadata", "annotations", NAME], account.name.as_str());
        fields::set(&mut filled, &["metadata", "annotations", UID], account.uid.as_str());
        Some(filled)
    }

    /// The account that a secret is for, if it is still that one.
    fn account(&self, namespace: &str, secret: &Object) -> Option<std::sync::Arc<Entry>> {
        let annotation = |key: &str| fields::text(secret, &["metadata", "annotations", key]);
        let account = self.entry(self.accounts, namespace, annotation(NAME))?;
        let uid = annotation(UID);
        (uid.is_empty() || uid == account.uid.as_str()).then_some(account)
    }

    /// An account does not list a secret that is gone.
    fn unlist(&self, namespace: &str, name: &str, secret: &Object) {
        let account = is_token(secret).then(|| self.account(namespace, secret)).flatten();
        let Some(account) = account else { return };
        let lists = |entry: &Value| entry.get("name").is_some_and(|listed| listed == name);
        let listed = |object: &Object| {
            object.get("secrets").and_then(Value::as_array).is_some_and(|list| list.iter().any(lists))
        };
        if !listed(&account.object()) {
            return;
        }
        let at = at(self.accounts, namespace, &account.name);
        change(&self.server, &at, "", AGENT, &|mut object| {
            if let Some(list) = object.get_mut("secrets").and_then(Value::as_array_mut) {
                list.retain(|entry| !lists(entry));
            }
            Ok(object)
        });
    }

    /// Secrets remember the day on which their token was shown last.
    fn mark(&self) {
        for (namespace, name) in self.server.shown().take() {
            let at = at(self.secrets, &namespace, &name);
            change(&self.server, &at, "", SERVER, &|mut secret| {
                let labels = secret.get("metadata").and_then(|metadata| metadata.get("labels")).cloned();
                let mut labels = labels.filter(Value::is_object).unwrap_or_else(|| json!({}));
                crate::json::put(&mut labels, LAST_USED, today());
                set_meta(&mut secret, "labels", labels);
                Ok(secret)
            });
        }
    }

    fn entry(&self, collection: Collection, namespace: &str, name: &str) -> Option<std::sync::Arc<Entry>> {
        self.server.cluster().read().table(collection).get(namespace, name).cloned()
    }
}

fn is_token(secret: &Object) -> bool {
    fields::text(secret, &["type"]) == TYPE
}

fn at(collection: Collection, namespace: &str, name: &str) -> ObjectName {
    ObjectName { collection, namespace: namespace.into(), name: name.into() }
}
