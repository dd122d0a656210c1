//! The server as a value: state, catalog, identities, and the way a request takes through them.

mod accounts;
mod settings;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use rolewright_core::{Request, User};
use tokio::sync::watch;

use self::accounts::StoredAccounts;
pub(crate) use self::accounts::{LAST_USED, Shown, today};
pub use self::settings::{Controllers, Settings};
use crate::authn::{
    Authenticator, DEFAULT_ISSUER, Identity, Impersonated, Impersonation, ImpersonationModes, Issuer, SigningKey,
};
use crate::catalog::Catalog;
use crate::cluster::{Cluster, Collection, Entry, Journal, Transaction};
use crate::fairness::Fairness;
use crate::http::dispatch;
use crate::http::request::RequestInfo;
use crate::status::{Failure, GroupResource};
use crate::store::{self, Store, StoreError};
use crate::{bootstrap, controller, credentials, restore};

/// A running server. Clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    cluster: Arc<Cluster>,
    catalog: Arc<Catalog>,
    namespaces: Collection,
    definitions: Collection,
    settings: Settings,
    authenticator: Authenticator,
    impersonation: ImpersonationModes,
    audit: Option<crate::audit::Audit>,
    openapi: crate::openapi::Documents,
    shown: Arc<Shown>,
    discovery: crate::http::discovery::Kept,
    naming: controller::definition::Naming,
    fairness: Fairness,
    /// Who holds one more is an open watch.
    watches: Arc<()>,
    ended: watch::Sender<bool>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Server")
    }
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No key could be made.
    #[error("cannot make the key that signs tokens")]
    Key(#[from] crate::authn::KeyError),
    /// The audit log cannot be written.
    #[error("cannot write the audit log `{}`", path.display())]
    Audit {
        /// Where it should be.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// What was stored cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A key cannot be kept.
    #[error(transparent)]
    Credential(#[from] credentials::CredentialError),
    /// No thread can be had.
    #[error("cannot start the thread that stores")]
    Thread(#[source] std::io::Error),
}

impl Server {
    /// A server with what its folder keeps, or else with a fresh cluster: the roles, bindings and namespaces that every
    /// cluster has. Its controllers run as tasks of the current tokio runtime.
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let store = settings.data.as_ref().map(store::open).transpose()?;
        Self::on(settings, store)
    }

    /// The same with a store of the caller's.
    pub fn start_on(settings: Settings, store: Box<dyn Store>) -> Result<Self, StartError> {
        Self::on(settings, Some(store))
    }

    pub(crate) fn on(settings: Settings, store: Option<Box<dyn Store>>) -> Result<Self, StartError> {
        let catalog = Arc::new(Catalog::built_in());
        let journal = store.is_some().then(Journal::new);
        let cluster = Arc::new(Cluster::new(catalog.built_in_collections(), settings.guard, journal));
        if !settings.controllers.aggregation {
            cluster.leave_aggregation();
        }
        if let Some(store) = store {
            restore::start(&cluster, &catalog, store)?;
        }
        let issuer = Arc::new(Issuer {
            name: DEFAULT_ISSUER.to_owned(),
            audiences: vec![DEFAULT_ISSUER.to_owned()],
            key: match &settings.data {
                Some(data) => credentials::signing_key(&data.folder)?,
                None => SigningKey::generate()?,
            },
        });
        let shown = Arc::new(Shown::default());
        let accounts = StoredAccounts { cluster: cluster.clone(), catalog: catalog.clone(), shown: shown.clone() };
        let accounts = Arc::new(accounts);
        let mut authenticator = Authenticator::new(issuer, accounts);
        if let Some(token) = &settings.admin_token {
            authenticator = authenticator.with_token(token, Identity::new(admin()));
        }
        let audit = match &settings.audit_log {
            Some(path) => Some(
                crate::audit::Audit::open(path).map_err(|source| StartError::Audit { path: path.clone(), source })?,
            ),
            None => None,
        };
        let collection = |group: &str, plural: &str| {
            catalog.find(group, "v1", plural).map_or(Collection::at(0), |served| served.collection)
        };
        let namespaces = collection("", "namespaces");
        let definitions = collection("apiextensions.k8s.io", "customresourcedefinitions");
        let openapi = crate::openapi::Documents::of(&catalog);
        let ended = watch::Sender::new(false);
        let server = Self(Arc::new(Inner {
            cluster,
            catalog,
            namespaces,
            definitions,
            settings,
            authenticator,
            impersonation: ImpersonationModes::default(),
            audit,
            openapi,
            shown,
            discovery: crate::http::discovery::Kept::default(),
            naming: controller::definition::Naming::default(),
            fairness: Fairness::new(),
            watches: Arc::default(),
            ended,
        }));
        controller::definition::recall(&server);
        bootstrap::fill(&server);
        controller::start(&server);
        Ok(server)
    }

    /// The server as a service that knows nobody: requests are who their headers and certificates say.
    pub fn router(&self) -> Router {
        let server = self.clone();
        Router::new().fallback(move |request| dispatch::handle(server.clone(), None, request))
    }

    /// The server as a service for one user, without a socket: `kube::Client::new(server.router_as(user), "default")`.
    /// Headers that impersonate work as they do for everybody.
    pub fn router_as(&self, user: User) -> Router {
        let server = self.clone();
        let identity = Arc::new(Identity::new(user));
        Router::new().fallback(move |request| dispatch::handle(server.clone(), Some(identity.clone()), request))
    }

    /// How many watches of clients are open.
    pub fn watches(&self) -> usize {
        Arc::strong_count(&self.0.watches) - 1
    }

    /// Held by every watch as long as it is open.
    pub(crate) fn count_watch(&self) -> Arc<()> {
        self.0.watches.clone()
    }

    /// Ends the controllers and every watch.
    pub fn end(&self) {
        self.0.ended.send_replace(true);
    }

    /// Ends the server for good: what waits to be stored is, and then its data is free for another.
    pub async fn close(&self) {
        self.end();
        if let Some(journal) = self.cluster().journal() {
            journal.close();
            journal.closed().await;
        }
    }

    /// What could not be stored, if anything.
    pub fn failure(&self) -> Option<String> {
        self.cluster().journal().and_then(|journal| journal.failure()).map(|why| why.to_string())
    }

    /// Done when something could not be stored; says what. The server must end then: nothing more is acknowledged.
    pub async fn failed(&self) -> String {
        match self.cluster().journal() {
            Some(journal) => journal.failed().await.to_string(),
            None => std::future::pending().await,
        }
    }

    /// Secrets whose tokens were shown.
    pub(crate) fn shown(&self) -> &Shown {
        &self.0.shown
    }

    /// Done when the server ends.
    pub(crate) async fn ended(&self) {
        let mut ended = self.0.ended.subscribe();
        // The sender lives as long as the server, which this borrows.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.0.cluster
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// Who has which name among the definitions.
    pub(crate) fn naming(&self) -> &controller::definition::Naming {
        &self.0.naming
    }

    pub(crate) fn discovery(&self) -> &crate::http::discovery::Kept {
        &self.0.discovery
    }

    pub(crate) fn openapi(&self) -> &crate::openapi::Documents {
        &self.0.openapi
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn authenticator(&self) -> &Authenticator {
        &self.0.authenticator
    }

    pub(crate) fn audit(&self) -> Option<&crate::audit::Audit> {
        self.0.audit.as_ref()
    }

    pub(crate) fn fairness(&self) -> &Fairness {
        &self.0.fairness
    }

    /// Where namespaces are.
    pub(crate) fn namespaces(&self) -> Collection {
        self.0.namespaces
    }

    /// Where definitions are.
    pub(crate) fn definitions(&self) -> Collection {
        self.0.definitions
    }

    /// Tells the controllers of a write that may concern them.
    pub(crate) fn note(&self, transaction: &mut Transaction<'_>, collection: Collection, entry: &Entry) {
        if collection == self.definitions() {
            transaction.wake_definition(&entry.name);
        } else if let Some(served) = self.catalog().stored_in(collection)
            && let Some(definition) = served.ending()
        {
            transaction.wake_definition(definition);
        }
        if collection == self.namespaces() {
            transaction.wake_namespace(&entry.name);
        } else if !entry.namespace.is_empty() {
            let namespace = transaction.state().table(self.namespaces()).get("", &entry.namespace);
            let ends = namespace.is_some_and(|namespace| namespace.deleting);
            if ends || entry.name == "default" || entry.name == controller::ROOT_CA {
                transaction.wake_namespace(&entry.namespace);
            }
        }
    }

    /// Who this user becomes for this request, if they may.
    pub(crate) fn impersonate(
        &self,
        identity: &Identity,
        wanted: &Impersonation,
        info: &RequestInfo,
    ) -> Result<Impersonated, Failure> {
        let state = self.cluster().read();
        let authorizer = &state.rights.authorizer;
        self.0.impersonation.impersonate(identity, wanted, &info.to_request(), |user, request| {
            if authorizer.allows(user, request) { Ok(()) } else { Err(authorizer.explain(user, request).text()) }
        })
    }

    /// Whether this user may do this; the answer that they get if not.
    pub(crate) fn authorize(&self, identity: &Identity, info: &RequestInfo) -> Result<(), Failure> {
        let state = self.cluster().read();
        let request = info.to_request();
        if state.rights.authorizer.allows(&identity.user, &request) {
            return Ok(());
        }
        // Only now, when it is worth reading, is the reason made.
        let reason = state.rights.authorizer.explain(&identity.user, &request).text();
        Err(refusal(identity, info, &reason))
    }
}

/// The user that the server itself and in-process tests act as.
pub fn admin() -> User {
    User::authenticated("kubernetes-admin", [rolewright_core::subject::SUPERUSER_GROUP])
}

fn refusal(identity: &Identity, info: &RequestInfo, reason: &str) -> Failure {
    let user = &identity.user.name;
    let mut why = if info.is_resource {
        let resource = if info.subresource.is_empty() {
            info.resource.clone()
        } else {
            format!("{}/{}", info.resource, info.subresource)
        };
        let place = if info.namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace \"{}\"", info.namespace)
        };
        format!("User {user:?} cannot {} resource {resource:?} in API group {:?} {place}", info.verb, info.group)
    } else {
        format!("User {user:?} cannot {} path {:?}", info.verb, info.path)
    };
    if !reason.is_empty() {
        why = format!("{why}: {reason}");
    }
    let on = GroupResource { group: &info.group, resource: &info.resource };
    Failure::forbidden(on, &info.name, why)
}

impl RequestInfo {
    /// The question that RBAC answers.
    pub(crate) fn to_request(&self) -> Request<'_> {
        if !self.is_resource {
            return Request::url(&self.verb, &self.path);
        }
        Request::resource(&self.verb, &self.group, &self.resource)
            .subresource(&self.subresource)
            .in_namespace(&self.namespace)
            .named(&self.name)
    }
}
