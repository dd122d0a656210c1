//! Which cluster, and who we are there.

use std::path::Path;

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
pub use kube::Client;
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Config};
use rolewright_core::User;
use thiserror::Error;

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// A kubeconfig that cannot be used.
    #[error("the kubeconfig cannot be used")]
    Kubeconfig(#[source] kube::config::KubeconfigError),
    /// Neither a kubeconfig nor the environment of a pod.
    #[error("there is neither a kubeconfig nor a service account")]
    Nothing(#[source] kube::config::InferConfigError),
    /// A client cannot be made.
    #[error("the cluster cannot be reached")]
    Client(#[source] kube::Error),
}

/// Connects as kubectl does: to the cluster of `context`, or of the current one, in `kubeconfig`, or in `KUBECONFIG`, or in
/// the home folder; without any of them as a pod.
pub async fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Client, ConnectError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let mut config = match (kubeconfig, context) {
        (Some(file), _) => {
            let kubeconfig = Kubeconfig::read_from(file).map_err(ConnectError::Kubeconfig)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(ConnectError::Kubeconfig)?
        }
        (None, Some(_)) => Config::from_kubeconfig(&options).await.map_err(ConnectError::Kubeconfig)?,
        (None, None) => Config::infer().await.map_err(ConnectError::Nothing)?,
    };
    // Whoever asks decides what to do about a server that is busy.
    config.default_retry = false;
    Client::try_from(config).map_err(ConnectError::Client)
}

/// Who the API server takes us for.
pub async fn whoami(client: &Client) -> kube::Result<User> {
    let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
    let review = reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await?;
    let user = review.status.and_then(|status| status.user_info).unwrap_or_default();
    Ok(User::new(user.username.unwrap_or_default(), user.groups.unwrap_or_default()))
}
