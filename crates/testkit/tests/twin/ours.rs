//! Our server.

use std::path::PathBuf;

use anyhow::Result;
use rolewright_server::{Controllers, Listening, Settings};
use rolewright_testkit::apiserver::ApiServer;
use tokio::sync::oneshot;

use crate::audited::Logs;
use crate::target::Target;

/// A running twin. It ends when this is dropped.
pub(crate) struct Ours {
    pub(crate) target: Target,
    /// Kept for as long as it is asked.
    kept: Kept,
}

impl Ours {
    /// Whether this one writes an audit log to compare.
    pub(crate) fn audits(&self) -> bool {
        matches!(self.kept, Kept::Embedded { .. })
    }
}

enum Kept {
    Elsewhere,
    Real { _server: Box<ApiServer> },
    Embedded { _end: oneshot::Sender<()> },
}

/// The server that is compared with Kubernetes: the embedded one.
///
/// `ROLEWRIGHT_TWIN` may name another: `self` for a second real server, which shows that the comparison itself is right,
/// or the kubeconfig of a server that runs already.
pub(crate) async fn ours(logs: &Logs) -> Result<Option<Ours>> {
    match std::env::var("ROLEWRIGHT_TWIN") {
        Ok(twin) if twin == "self" => second_real_server().await,
        Ok(kubeconfig) => {
            let target = Target::from_kubeconfig(&PathBuf::from(kubeconfig)).await?;
            Ok(Some(Ours { target, kept: Kept::Elsewhere }))
        }
        Err(_) => embedded(logs).await.map(Some),
    }
}

async fn embedded(logs: &Logs) -> Result<Ours> {
    // WHY: the testbed runs no publisher of the authority's certificate.
    let controllers = Controllers { root_ca: false, ..Controllers::default() };
    let settings = Settings {
        controllers,
        admin_token: Some("twin".to_owned()),
        audit_log: Some(logs.ours()),
        ..Settings::default()
    };
    let listening = Listening::start(([127, 0, 0, 1], 0).into(), settings).await?;
    let file = std::env::temp_dir().join(format!("rolewright-twin-{}.kubeconfig", listening.address.port()));
    listening.write_kubeconfig(&file)?;
    let target = Target::from_kubeconfig(&file).await;
    std::fs::remove_file(&file)?;
    let (end, ended) = oneshot::channel();
    tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    Ok(Ours { target: target?, kept: Kept::Embedded { _end: end } })
}

/// Kubernetes against itself.
pub(crate) async fn second_real_server() -> Result<Option<Ours>> {
    let Some(server) = ApiServer::start("the second real API server")? else { return Ok(None) };
    let target = Target::from_kubeconfig(&server.ready.kubeconfig).await?;
    Ok(Some(Ours { target, kept: Kept::Real { _server: Box::new(server) } }))
}
