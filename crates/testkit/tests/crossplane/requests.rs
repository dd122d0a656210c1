//! What providers ask for beyond their resources, as those of Crossplane before v2 can.

use anyhow::Result;
use rolewright_plan::crossplane::Settings;
use rolewright_testkit::manifest::{rbac, with};
use serde_json::{Value, json};

use crate::matrix::Question;
use crate::model::world;
use crate::place::{self, Place, SUITE};
use crate::platform::PROVIDERS;

#[tokio::test(flavor = "multi_thread")]
async fn requests_on_our_server() -> Result<()> {
    let place = Place::embedded(SUITE, rolewright_server::Settings::default())?;
    place.step("what providers ask for", bounded(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_on_the_real_server() -> Result<()> {
    let Some(place) = place::bare().await? else { return Ok(()) };
    place.step("what providers ask for", bounded(&place)).await
}

/// A ClusterRole is the limit, which Kubernetes gathers by labels as in Crossplane's chart: it covers what is asked for, less
/// of it, and nothing. What the provider's own resources need is never in question.
async fn bounded(place: &Place) -> Result<()> {
    world::begin(place).await?;
    let helm = PROVIDERS[0];
    helm.install(place).await?;
    let asked = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]});
    place.report(&helm.object(), &with(helm.status(), json!({"permissionRequests": [asked]}))).await?;
    let manager = place::manage(place, &Settings { boundary_role: Some("limit".into()), ..Settings::default() })?;
    let own = Question::new("helm", "update releases.helm.example.org");
    own.until(place, true).await?;
    let questions = ["get pods", "list pods"].map(|text| Question::new("helm", text));
    for question in &questions {
        question.until(place, false).await?;
    }
    for (verbs, answers) in [
        (Some(json!(["get", "list", "watch"])), [true, true]),
        (Some(json!(["get"])), [true, false]),
        (Some(json!(["*"])), [true, true]),
        (None, [false, false]),
    ] {
        match verbs {
            Some(verbs) => limited(place, &verbs).await?,
            None => place.delete(&component()).await?,
        }
        for (question, answer) in questions.iter().zip(answers) {
            question.until(place, answer).await?;
        }
        own.until(place, true).await?;
    }
    manager.rest().await?;
    manager.end().await
}

fn component() -> Value {
    with(rbac("ClusterRole", "limit-pods"), json!({"metadata": {"labels": {"limit": "true"}}}))
}

async fn limited(place: &Place, verbs: &Value) -> Result<()> {
    let selector = json!({"matchLabels": {"limit": "true"}});
    let limit = json!({"aggregationRule": {"clusterRoleSelectors": [selector]}});
    place.apply(&with(rbac("ClusterRole", "limit"), limit)).await?;
    let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": verbs});
    place.apply(&with(component(), json!({"rules": [rule]}))).await?;
    Ok(())
}
