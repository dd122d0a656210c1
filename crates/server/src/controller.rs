//! What the server does on its own: namespaces are furnished and cleared, objects go with their owners, and volumes when
//! nobody has them.
//!
//! Controllers act through the same calls as clients, as the server's own user.

mod collect;
pub(crate) mod definition;
mod expire;
mod namespace;
pub(crate) mod protect;
mod tokens;

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::Server;
use crate::authn::Identity;
use crate::catalog::Served;
use crate::cluster::ObjectName;
use crate::http::request::RequestInfo;
use crate::query::Query;
use crate::registry::Call;
use crate::server::admin;
use crate::status::Failure;
use crate::strategy::Object;

/// The ConfigMap with the authority's certificate.
pub(crate) const ROOT_CA: &str = "kube-root-ca.crt";

/// Sees to it that a namespace has its account `default` at once, for who cannot wait for the controller.
pub(crate) fn furnish_account(server: &Server, name: &str) {
    if server.settings().controllers.service_accounts {
        namespace::furnish_account(server, name);
    }
}

/// Starts the task that does the work as it comes.
pub(crate) fn start(server: &Server) {
    tokio::spawn(expire::run(server.clone()));
    if server.settings().controllers.account_tokens {
        tokio::spawn(tokens::run(server.clone()));
    }
    let server = server.clone();
    tokio::spawn(async move {
        loop {
            work(&server).await;
            tokio::select! {
                () = server.cluster().work.notified() => {}
                () = server.ended() => return,
            }
        }
    });
}

async fn work(server: &Server) {
    loop {
        let work = server.cluster().take_work();
        if work.definitions.is_empty() && work.namespaces.is_empty() && work.objects.is_empty() {
            return;
        }
        for name in work.definitions {
            definition::sync(server, &name);
            tokio::task::yield_now().await;
        }
        for name in work.namespaces {
            namespace::sync(server, &name);
            tokio::task::yield_now().await;
        }
        for at in work.objects {
            protect::sync(server, &at);
            if server.settings().controllers.garbage_collection {
                collect::sync(server, &at);
            }
            tokio::task::yield_now().await;
        }
    }
}

/// A call of the server to itself.
struct Own<'a> {
    server: &'a Server,
    info: RequestInfo,
    identity: Identity,
}

impl<'a> Own<'a> {
    /// None if the definition of the object is gone, and the object with it.
    fn on(server: &'a Server, at: &ObjectName, verb: &str, subresource: &str) -> Option<(Self, Arc<Served>)> {
        let served = server.catalog().stored_in(at.collection)?;
        let info = RequestInfo {
            verb: verb.to_owned(),
            is_resource: true,
            named_group: !served.group.is_empty(),
            group: served.group.to_string(),
            version: served.version.to_string(),
            namespace: at.namespace.to_string(),
            resource: served.plural.to_string(),
            name: at.name.to_string(),
            subresource: subresource.to_owned(),
            ..RequestInfo::default()
        };
        Some((Self { server, info, identity: Identity::new(admin()) }, served))
    }

    fn call<'b>(&'b self, served: &'b Arc<Served>, agent: &'b str, body: &Value) -> Call<'b> {
        Call {
            server: self.server,
            served,
            info: &self.info,
            identity: &self.identity,
            query: Query::default(),
            accept: None,
            content_type: Some("application/json"),
            user_agent: agent,
            body: if body.is_null() { bytes::Bytes::new() } else { body.to_string().into() },
            warnings: RefCell::default(),
            sent: RefCell::default(),
        }
    }
}

/// Deletes an object if it is still the one that was looked at.
pub(crate) fn delete(server: &Server, at: &ObjectName, uid: &str, propagation: &str, agent: &str) {
    let Some((own, served)) = Own::on(server, at, "delete", "") else { return };
    let body = json!({
        "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation, "preconditions": {"uid": uid},
    });
    // Whoever deleted or replaced it first has done the work.
    let _ = own.call(&served, agent, &body).delete();
}

/// Changes an object.
pub(crate) fn change(
    server: &Server,
    at: &ObjectName,
    subresource: &str,
    agent: &str,
    make: &dyn Fn(Object) -> Result<Object, Failure>,
) {
    // An object that is gone needs no change.
    let _ = try_change(server, at, subresource, agent, make);
}

/// The same for who has to know what became of it.
pub(crate) fn try_change(
    server: &Server,
    at: &ObjectName,
    subresource: &str,
    agent: &str,
    make: &dyn Fn(Object) -> Result<Object, Failure>,
) -> Result<(), Failure> {
    let Some((own, served)) = Own::on(server, at, "update", subresource) else { return Ok(()) };
    own.call(&served, agent, &Value::Null).make(make)
}

/// Changes an object in the name of nobody.
pub(crate) fn change_for_nobody(
    server: &Server,
    at: &ObjectName,
    subresource: &str,
    make: &dyn Fn(Object) -> Result<Object, Failure>,
) {
    let Some((own, served)) = Own::on(server, at, "update", subresource) else { return };
    // An object that is gone needs no change.
    let _ = own.call(&served, "", &Value::Null).make_for_nobody(make);
}
