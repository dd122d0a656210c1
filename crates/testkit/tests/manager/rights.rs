//! The manager under exactly the rights that `rolewright manifests rbac` prints.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_core::aggregate::fit::Fitter;
use rolewright_plan::Module;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::rights::Identity;
use rolewright_testkit::grants;
use rolewright_testkit::place::rights::{self, Day};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::place::{PATIENCE, Place, modules, rbac, with};

/// Both modes of aggregation: alone as it comes, and with grants where it does Kubernetes' job.
pub(crate) async fn exactly_enough(place: &Place) -> Result<()> {
    place.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rights"}})).await?;
    for works in [Works::Observes, Works::Writes] {
        rights::exactly_enough(place, &works).await.with_context(|| format!("{works:?}"))?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Works {
    Observes,
    Writes,
}

impl Day for Works {
    fn modules(&self) -> Vec<Box<dyn Module>> {
        match self {
            Self::Observes => vec![Box::new(ClusterRoleAggregation::new(Mode::default(), Fitter::default()))],
            Self::Writes => modules(),
        }
    }

    async fn tidy_up(&self, place: &Place) -> Result<()> {
        tidy_up(place).await
    }

    async fn before(&self, _: &Place, _: &Identity) -> Result<()> {
        Ok(())
    }

    async fn work(&self, place: &Place) -> Result<()> {
        match self {
            Self::Observes => observe(place).await,
            Self::Writes => day(place).await,
        }
    }
}

/// Who only observes tells what is wrong, here roles that select each other, and leaves it so.
async fn observe(place: &Place) -> Result<()> {
    let circle = |name: &str, of: &str, selects: &str| {
        let selector = json!({"matchLabels": {selects: "true"}});
        let fields = json!({"metadata": {"labels": {of: "true"}},
            "aggregationRule": {"clusterRoleSelectors": [selector]}});
        with(rbac("ClusterRole", name), fields)
    };
    place.apply(&circle("rights-gathering", "rights-one", "rights-other")).await?;
    place.apply(&circle("rights-leaf", "rights-other", "rights-one")).await?;
    told(place, "AggregationCycle").await
}

/// Everything that a manager has to do: grant, widen, bind elsewhere, revoke, aggregate, complain.
async fn day(place: &Place) -> Result<()> {
    let rules = |verbs: &[&str]| json!([{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]);
    let users = json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "ann"}]);
    let grant = |spec: Value| grants::grant("rights", &with(json!({"subjects": users}), spec));
    let ready = |status: &'static str| {
        move |grant: &Value| {
            let conditions = grant["status"]["conditions"].as_array();
            conditions.is_some_and(|all| {
                all.iter()
                    .any(|one| one["status"] == status && one["observedGeneration"] == grant["metadata"]["generation"])
            })
        }
    };
    let wish = grant(json!({"rules": rules(&["get"])}));
    place.apply(&wish).await?;
    place.until("a grant", &wish, ready("True")).await?;
    place.apply(&grant(json!({"rules": rules(&["get", "list"]), "namespaces": ["rights"]}))).await?;
    place.until("a grant in a namespace", &wish, ready("True")).await?;
    place.until_gone(&rbac("ClusterRoleBinding", "grant-rights")).await?;
    place.apply(&grant(json!({"role": "view"}))).await?;
    place.until("a grant of a role", &wish, ready("True")).await?;
    place.until_gone(&rbac("ClusterRole", "grant-rights")).await?;
    place.until_gone(&rbac("RoleBinding", "rights/grant-rights")).await?;
    let gathering = with(
        rbac("ClusterRole", "rights-gathering"),
        json!({"aggregationRule": {"clusterRoleSelectors": [
            {"matchLabels": {"rights": "true"}},
        ]}}),
    );
    place.apply(&gathering).await?;
    let leaf = with(
        rbac("ClusterRole", "rights-leaf"),
        json!({"metadata": {"labels": {"rights": "true"}}, "rules": rules(&["get"])}),
    );
    place.apply(&leaf).await?;
    place.until("a union", &gathering, |role| role["rules"] == rules(&["get"])).await?;
    // Somebody else's object of the name that is needed: that is an event.
    place.apply(&with(rbac("ClusterRole", "grant-rights-taken"), json!({"rules": rules(&["get"])}))).await?;
    let taken = grants::grant("rights-taken", &json!({"rules": rules(&["list"]), "subjects": users}));
    place.apply(&taken).await?;
    place.until("a refusal", &taken, ready("False")).await?;
    told(place, "NameTaken").await
}

async fn told(place: &Place, reason: &str) -> Result<()> {
    let start = Instant::now();
    while place.events(reason).await? == 0 {
        ensure!(start.elapsed() < PATIENCE, "nobody tells `{reason}`");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Takes away what a day leaves, for the next one to begin anew.
async fn tidy_up(place: &Place) -> Result<()> {
    let objects = [
        grants::grant("rights", &json!({})),
        grants::grant("rights-taken", &json!({})),
        rbac("ClusterRole", "rights-gathering"),
        rbac("ClusterRole", "rights-leaf"),
        rbac("ClusterRole", "grant-rights-taken"),
        rbac("ClusterRole", "grant-rights"),
        rbac("ClusterRoleBinding", "grant-rights"),
        rbac("ClusterRoleBinding", "grant-rights-taken"),
        rbac("RoleBinding", "rights/grant-rights"),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"namespace": "rolewright-system", "name": "rolewright"}}),
    ];
    for object in &objects {
        if place.get(object).await?.is_some() {
            // The garbage collector may be faster.
            let _ = place.delete(object).await;
            place.until_gone(object).await?;
        }
    }
    place.forget_events().await
}
