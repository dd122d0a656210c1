//! Which cluster, and who we are there.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::config::{InferConfigError, KubeConfigOptions, Kubeconfig};
use kube::runtime::watcher;
use kube::{Api, Config};
pub use kube::{Client, Error as ClientError};
use rolewright_core::User;
use tokio::time::timeout;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A kubeconfig that cannot be used.
    #[error("the kubeconfig cannot be used")]
    Kubeconfig(#[source] kube::config::KubeconfigError),
    /// Neither a kubeconfig nor the environment of a pod.
    #[error("there is neither a kubeconfig nor a service account: {0}; hint: --kubeconfig FILE")]
    Nothing(String),
    /// The environment of a pod, in which something is missing.
    #[error(
        "this is a pod whose service account cannot be used: {0}; hint: automountServiceAccountToken gives it one, or \
         --kubeconfig FILE"
    )]
    Account(String),
    /// A client cannot be made.
    #[error("the cluster `{url}` cannot be used: {why}")]
    Unusable {
        /// Where it should be.
        url: String,
        /// Why.
        why: String,
    },
    /// Nobody is there.
    #[error("the cluster `{url}` cannot be reached: {why}")]
    Unreachable {
        /// Where it should be.
        url: String,
        /// Why.
        why: String,
    },
    /// The server does not know us.
    #[error("the cluster `{url}` does not accept our credentials: {why}")]
    Stranger {
        /// Where it is.
        url: String,
        /// The server's words.
        why: String,
    },
}

/// How long a cluster may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(10);

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
        (None, None) => match Config::infer().await {
            Ok(config) => config,
            Err(error) => return Err(nothing(&error)),
        },
    };
    // Whoever asks decides what to do about a server that is busy.
    config.default_retry = false;
    let url = config.cluster_url.to_string();
    let client = Client::try_from(config);
    let client = client.map_err(|error| ConnectError::Unusable { url: url.clone(), why: root_cause(&error) })?;
    reach(&client, url).await?;
    Ok(client)
}

/// Why there is neither: outside of a pod what is wrong is the kubeconfig, inside it is the service account.
fn nothing(error: &InferConfigError) -> ConnectError {
    let in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").and_then(|_| Config::incluster().err());
    match in_pod {
        Some(account) => ConnectError::Account(account.to_string()),
        None => ConnectError::Nothing(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
    }
}

/// Everybody may ask which version it is. A server that is busy or ill is there all the same.
async fn reach(client: &Client, url: String) -> Result<(), ConnectError> {
    match timeout(PATIENCE, client.apiserver_version()).await {
        Ok(Err(kube::Error::Api(status))) if status.code == 401 => {
            Err(ConnectError::Stranger { url, why: status.message.clone() })
        }
        Ok(Ok(_) | Err(kube::Error::Api(_))) => Ok(()),
        Ok(Err(error)) => Err(ConnectError::Unreachable { url, why: root_cause(&error) }),
        Err(_) => {
            Err(ConnectError::Unreachable { url, why: format!("no answer within {} seconds", PATIENCE.as_secs()) })
        }
    }
}

/// What is at the bottom of an error: what is above it only says what was tried.
pub(crate) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    loop {
        if let Some(kube::Error::Api(status)) = deepest.downcast_ref() {
            return status.message.clone();
        }
        if let Some(watcher::Error::WatchError(status)) = deepest.downcast_ref() {
            return status.message.clone();
        }
        match deepest.source() {
            Some(source) => deepest = source,
            None => return deepest.to_string(),
        }
    }
}

/// Who the API server takes us for.
pub async fn whoami(client: &Client) -> kube::Result<User> {
    let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
    let review = reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await?;
    let user = review.status.and_then(|status| status.user_info).unwrap_or_default();
    Ok(User::new(user.username.unwrap_or_default(), user.groups.unwrap_or_default()))
}
