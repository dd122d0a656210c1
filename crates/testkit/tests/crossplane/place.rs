//! Servers with Crossplane's kinds on them, where somebody aggregates roles as in every cluster.

use anyhow::{Context, Result};
use http::Request;
use rolewright_plan::crossplane;
use rolewright_testkit::manifest::is_established;
use rolewright_testkit::peers::{Crossplane, Project};
pub(crate) use rolewright_testkit::place::{PATIENCE, Place, Running, is_idle};
use serde_json::json;

pub(crate) const SUITE: &str = "crossplane";

/// The definitions of Crossplane's that say something about permissions.
const USED: [&str; 3] = [
    "compositeresourcedefinitions.apiextensions.crossplane.io",
    "managedresourcedefinitions.apiextensions.crossplane.io",
    "providerrevisions.pkg.crossplane.io",
];

/// Our server, with its own aggregation.
pub(crate) async fn ours() -> Result<Option<Place>> {
    let place = Place::embedded(SUITE, rolewright_server::Settings::default())?;
    Ok(with_kinds(&place).await?.then_some(place))
}

/// The real server with Kubernetes' controllers.
pub(crate) async fn real() -> Result<Option<Place>> {
    let Some(place) = bare().await? else { return Ok(None) };
    Ok(with_kinds(&place).await?.then_some(place))
}

/// The same without kinds. Who sets an owner that cannot go before must be allowed to finish it.
pub(crate) async fn bare() -> Result<Option<Place>> {
    let strict = "enable-admission-plugins=OwnerReferencesPermissionEnforcement";
    Place::kubernetes(SUITE, &["--arg".to_owned(), strict.to_owned()]).await
}

/// Installs Crossplane's kinds; false where they are not known.
async fn with_kinds(place: &Place) -> Result<bool> {
    let Some(crossplane) = Crossplane::find(SUITE)? else { return Ok(false) };
    for file in crossplane.definitions(Project::Crossplane)? {
        let text = std::fs::read_to_string(&file)?;
        let name = text.lines().find_map(|line| line.strip_prefix("  name: ")).context("a definition has a name")?;
        if !USED.contains(&name) {
            continue;
        }
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=tests");
        let request = Request::patch(path).header("content-type", "application/apply-patch+yaml");
        place.client.request_text(request.body(text.clone().into_bytes())?).await?;
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name}});
        place.until("a kind", &definition, is_established).await?;
    }
    Ok(true)
}

/// Starts a manager of Crossplane's permissions.
pub(crate) fn manage(place: &Place, settings: &crossplane::Settings) -> Result<Running> {
    place.manage(vec![Box::new(crossplane::Crossplane::new(settings.clone()))])
}
