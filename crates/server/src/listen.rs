//! The server on a socket: an authority of its own, HTTPS, and what a client needs to get in.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use hyper_util::service::TowerToHyperService;
use rolewright_core::subject::SUPERUSER_GROUP;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::credentials;
use crate::kubeconfig::Kubeconfig;
use crate::server::{Server, Settings, StartError};
use crate::store;
use crate::tls::{Authority, Issued, Limits, Tls, TlsError, serve};

/// A server that listens but does not answer yet: [`run`](Self::run) makes it.
pub struct Listening {
    /// The server.
    pub server: Server,
    /// Where it listens.
    pub address: SocketAddr,
    authority: Authority,
    admin: Issued,
    token: Option<String>,
    listener: TcpListener,
    tls: Tls,
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address cannot be had.
    #[error("cannot listen on `{address}`")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What went wrong.
        source: io::Error,
    },
    /// No certificates could be made.
    #[error("cannot make the server's certificates")]
    Tls(#[from] TlsError),
    /// The server cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl Listening {
    /// Starts a server on an address; port 0 takes a free one.
    pub async fn start(address: SocketAddr, settings: Settings) -> Result<Self, ListenError> {
        Self::on(Self::bind(address).await?, settings)
    }

    /// Takes an address, for [`Listening::on`]: whoever connects waits until that has started.
    pub async fn bind(address: SocketAddr) -> Result<TcpListener, ListenError> {
        TcpListener::bind(address).await.map_err(|source| ListenError::Bind { address, source })
    }

    /// Starts a server on an address that it has. Its controllers run as tasks of the current tokio runtime.
    pub fn on(listener: TcpListener, mut settings: Settings) -> Result<Self, ListenError> {
        let unknown = |source| ListenError::Bind { address: SocketAddr::from(([0, 0, 0, 0], 0)), source };
        let address = listener.local_addr().map_err(unknown)?;
        let now = crate::time::now();
        // The store comes first: its lock keeps others from the folder, and it says whether the folder is ours at all.
        let store = settings.data.as_ref().map(store::open).transpose().map_err(StartError::from)?;
        let authority = match &settings.data {
            Some(data) => credentials::authority(&data.folder, now).map_err(StartError::from)?,
            None => Authority::generate(now)?,
        };
        let mut hosts: Vec<String> =
            ["localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"]
                .map(str::to_owned)
                .into();
        let own = address.ip().to_string();
        if !address.ip().is_unspecified() && !hosts.contains(&own) {
            hosts.push(own);
        }
        let serving = authority.issue_server(&hosts, now)?;
        let admin = authority.issue_client("kubernetes-admin", [SUPERUSER_GROUP], now)?;
        let tls = Tls::new(&authority, &serving)?;
        settings.root_ca = Some(authority.certificate_pem().to_owned());
        let token = settings.admin_token.clone();
        let server = Server::on(settings, store)?;
        Ok(Self { server, address, authority, admin, token, listener, tls })
    }

    /// `https://127.0.0.1:6443`
    pub fn url(&self) -> String {
        let ip =
            if self.address.ip().is_unspecified() { "127.0.0.1".to_owned() } else { self.address.ip().to_string() };
        if ip.contains(':') {
            format!("https://[{ip}]:{}", self.address.port())
        } else {
            format!("https://{ip}:{}", self.address.port())
        }
    }

    /// Writes a kubeconfig for a member of `system:masters`, readable by its owner alone.
    pub fn write_kubeconfig(&self, path: &std::path::Path) -> io::Result<()> {
        self.config("rolewright", &self.url()).write(path)
    }

    /// The same as a value, with this name for its cluster, context and user.
    pub fn kubeconfig(&self, name: &str) -> Value {
        self.config(name, &self.url()).to_json()
    }

    fn config<'a>(&'a self, name: &'a str, server: &'a str) -> Kubeconfig<'a> {
        Kubeconfig {
            name,
            server,
            authority_pem: self.authority.certificate_pem(),
            token: self.token.as_deref(),
            certificate: self.token.is_none().then_some(&self.admin),
            namespace: "default",
        }
    }

    /// The certificate of the authority that signed the server's.
    pub fn authority_pem(&self) -> &str {
        self.authority.certificate_pem()
    }

    /// A client certificate for a user with groups.
    pub fn client_certificate<'g>(
        &self,
        user: &str,
        groups: impl IntoIterator<Item = &'g str>,
    ) -> Result<Issued, TlsError> {
        self.authority.issue_client(user, groups, crate::time::now())
    }

    /// Answers until `shutdown` is done, or until something cannot be stored ([`Server::failure`]).
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let service = TowerToHyperService::new(self.server.router());
        let (server, closing) = (self.server.clone(), self.server.clone());
        let ended = async move {
            tokio::select! {
                () = shutdown => {}
                _ = server.failed() => {}
            }
            // Watches end at once, so that nobody waits for them.
            server.end();
        };
        serve(self.listener, self.tls, Limits::default(), service, ended).await;
        closing.close().await;
    }
}
