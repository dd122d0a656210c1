//! A stand-in for a reconciler: it acts as the account that was made for it, with a token that the server gave out for it.

use anyhow::{Context, Result};
use kube::api::{DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use rolewright_testkit::place::Place;
use serde_json::{Value, json};

use crate::place::{HOME, account};

/// One who acts as a reconciler's account.
#[derive(Clone)]
pub(crate) struct Reconciler {
    client: Client,
}

/// What somebody may try. Nothing of it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    List(&'static str, &'static str),
    Create(&'static str, &'static str),
    /// A binding to cluster-admin.
    BindAdmin,
}

/// Everything that is tried: what roles in tests give, where they give it and where not.
pub(crate) const DEEDS: [Deed; 9] = [
    Deed::List("ConfigMap", "shop"),
    Deed::List("ConfigMap", "bank"),
    Deed::List("ConfigMap", ""),
    Deed::Create("ConfigMap", "shop"),
    Deed::Create("ConfigMap", "bank"),
    Deed::List("Secret", "shop"),
    Deed::List("Secret", "bank"),
    Deed::List("Secret", ""),
    Deed::BindAdmin,
];

impl Reconciler {
    /// One who acts as this account, once it is there.
    pub(crate) async fn of(place: &Place, name: &str) -> Result<Self> {
        place.until("an account", &account(name), |_| true).await?;
        let path = format!("/api/v1/namespaces/{HOME}/serviceaccounts/{name}/token");
        let wish = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}});
        let request = http::Request::post(path).header("content-type", "application/json");
        let answer: Value = place.client.request(request.body(serde_json::to_vec(&wish)?)?).await?;
        let token = answer.pointer("/status/token").and_then(Value::as_str).context("a token")?;
        Ok(Self { client: place.client_with(token)? })
    }

    fn api(&self, api_version: &str, kind: &str, namespace: &str) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        if namespace.is_empty() {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), namespace, &resource)
        }
    }

    /// Whether it may do something: it is tried.
    pub(crate) async fn may(&self, deed: Deed) -> Result<bool> {
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        let done = match deed {
            Deed::List(kind, namespace) => {
                self.api(version_of(kind), kind, namespace).list(&ListParams::default().limit(1)).await.map(drop)
            }
            Deed::Create(kind, namespace) => {
                let object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "tried"}});
                let object: DynamicObject = serde_json::from_value(object)?;
                self.api("v1", kind, namespace).create(&dry, &object).await.map(drop)
            }
            Deed::BindAdmin => {
                let object: DynamicObject = serde_json::from_value(json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                    "metadata": {"name": "tried"}, "subjects": [],
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}}))?;
                let api = self.api("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "");
                api.create(&dry, &object).await.map(drop)
            }
        };
        allowed(done)
    }

    /// Everything that it may do of what is tried.
    pub(crate) async fn may_do(&self) -> Result<Vec<Deed>> {
        let mut all = Vec::new();
        for deed in DEEDS {
            if self.may(deed).await? {
                all.push(deed);
            }
        }
        Ok(all)
    }

    /// Changes a sync, or its status; the error is the server's.
    pub(crate) async fn change(&self, sync: &Value, patch: &Value, status: bool) -> kube::Result<()> {
        let text = |pointer: &str| sync.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let api = self.api("configsync.gke.io/v1beta1", text("/kind"), text("/metadata/namespace"));
        let name = text("/metadata/name");
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        if status {
            api.patch_status(name, &params, &patch).await.map(drop)
        } else {
            api.patch(name, &params, &patch).await.map(drop)
        }
    }

    /// Whether it may do the same as [`Self::change`].
    pub(crate) async fn may_change(&self, sync: &Value, patch: &Value, status: bool) -> Result<bool> {
        allowed(self.change(sync, patch, status).await)
    }

    /// Creates an object and does not keep it; the error is the server's.
    pub(crate) async fn create(&self, object: &Value) -> Result<kube::Result<()>> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let api = self.api(text("/apiVersion"), text("/kind"), text("/metadata/namespace"));
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        Ok(api.create(&dry, &serde_json::from_value(object.clone())?).await.map(drop))
    }
}

/// The version in which a kind is asked for.
fn version_of(kind: &str) -> &'static str {
    match kind {
        "RootSync" | "RepoSync" => "configsync.gke.io/v1beta1",
        "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
        _ => "v1",
    }
}

/// Whether a request was allowed; what else may go wrong is an error.
fn allowed(done: kube::Result<()>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        // Whoever has no account any more has no rights either.
        Err(kube::Error::Api(status)) if matches!(status.code, 401 | 403) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
