//! Our server.

use std::path::PathBuf;

use anyhow::Result;
use rolewright_testkit::apiserver::ApiServer;

use crate::target::Target;

/// A running twin. It ends when this is dropped.
pub(crate) struct Ours {
    pub(crate) target: Target,
    /// Kept for as long as it is asked.
    _server: Option<ApiServer>,
}

/// The server that is compared with Kubernetes; nothing where there is none yet.
///
/// `ROLEWRIGHT_TWIN` may name another: `self` for a second real server, which shows that the comparison itself is right,
/// or the kubeconfig of a server that runs already.
pub(crate) async fn ours() -> Result<Option<Ours>> {
    match std::env::var("ROLEWRIGHT_TWIN") {
        Ok(twin) if twin == "self" => second_real_server().await,
        Ok(kubeconfig) => {
            let target = Target::from_kubeconfig(&PathBuf::from(kubeconfig)).await?;
            Ok(Some(Ours { target, _server: None }))
        }
        // The embedded server comes here: its service in a `kube::Client`, and its superuser's token.
        Err(_) => Ok(None),
    }
}

/// Kubernetes against itself.
pub(crate) async fn second_real_server() -> Result<Option<Ours>> {
    let Some(server) = ApiServer::start("the second real API server")? else { return Ok(None) };
    let target = Target::from_kubeconfig(&server.ready.kubeconfig).await?;
    Ok(Some(Ours { target, _server: Some(server) }))
}
