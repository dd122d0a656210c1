//! The manager under exactly the rights that `rolewright manifests rbac --modules crossplane --manage LEVEL` prints.

mod day;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::Api;
use kube::api::PostParams;
use rolewright_core::subject::User;
use rolewright_plan::Module;
use rolewright_plan::crossplane::{Crossplane, FamilyRoles, Manage, Settings, UserRoles};
use rolewright_plan::rights::Identity;
use rolewright_testkit::place::rights::{self, Day};
use rolewright_testkit::requests::Requests;
use serde_json::json;

use crate::place::{PATIENCE, Place};
use crate::platform::{SYSTEM, namespace};

/// Each level, both ways in which families share, and both in which people's roles are gathered.
pub(crate) async fn exactly_enough(place: &Place) -> Result<()> {
    for name in [SYSTEM, "rights"] {
        place.apply(&namespace(name)).await?;
    }
    let of = |manage| Settings { manage, ..Settings::default() };
    for settings in [
        of(Manage::All),
        Settings { family_roles: FamilyRoles::Shared, ..of(Manage::All) },
        Settings { user_roles: UserRoles::Materialized, ..of(Manage::All) },
        of(Manage::Basic),
        of(Manage::ServiceAccounts),
    ] {
        let level = format!("{:?}, {:?}, {:?}", settings.manage, settings.family_roles, settings.user_roles);
        rights::exactly_enough(place, &Works(settings)).await.with_context(|| level)?;
    }
    Ok(())
}

struct Works(Settings);

impl Day for Works {
    fn modules(&self) -> Vec<Box<dyn Module>> {
        vec![Box::new(Crossplane::new(self.0.clone()))]
    }

    /// Who shares differs in what it reads, which is seen; who gathers for people needs no more than who does not.
    fn is_thorough(&self) -> bool {
        self.0.family_roles == FamilyRoles::Replicated && self.0.user_roles == UserRoles::Aggregated
    }

    async fn tidy_up(&self, place: &Place) -> Result<()> {
        day::tidy_up(place, &Identity::default()).await
    }

    async fn before(&self, place: &Place, identity: &Identity) -> Result<()> {
        day::before(place).await?;
        known(place, identity).await
    }

    async fn work(&self, place: &Place) -> Result<()> {
        day::work(place, &self.0).await
    }
}

/// Waits until the server knows the kinds of owners: until then it refuses what would hold up their deletion.
async fn known(place: &Place, identity: &Identity) -> Result<()> {
    let client = place.client_as(&User::service_account(&identity.namespace, &identity.name), &Requests::default())?;
    let roles: Api<ClusterRole> = Api::all(client);
    for kind in [day::DEFINED.object(), day::BRINGING.object()] {
        let owner = place.get(&kind).await?.context("the owner is there")?;
        let mut role = json!({"metadata": {"name": "rights-known"}});
        role["metadata"]["ownerReferences"] = json!([{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
            "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true}]);
        let role: ClusterRole = serde_json::from_value(role)?;
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        let start = Instant::now();
        while let Err(error) = roles.create(&dry, &role).await {
            if !error.to_string().contains("RESTMapping") {
                break;
            }
            ensure!(start.elapsed() < PATIENCE, "the server does not know `{}`", owner["kind"]);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}
