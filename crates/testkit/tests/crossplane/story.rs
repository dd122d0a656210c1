//! A platform is installed, and then all that happens to platforms happens to it. After each step everybody's access is
//! what the table says.

use anyhow::{Context, Result, ensure};
use rolewright_plan::crossplane::Settings;
use rolewright_testkit::manifest::{rbac, with};
use serde_json::{Value, json};

use crate::guard::Guard;
use crate::matrix::{Matrix, Question};
use crate::place::{Place, manage};
use crate::platform::{self, Definition, PROVIDERS, Provider, Scope, managed, served, team};

/// The second revision of a provider, with one resource more.
const HELM_2: Provider = Provider {
    revision: 2,
    served: &["releases.helm.example.org", "providerconfigs.helm.example.org", "charts.helm.example.org"],
    ..PROVIDERS[0]
};
const K8S: Provider = PROVIDERS[1];
/// The same provider under another name.
const KUBE: Provider = Provider { name: "kube", ..K8S };
const S3: Provider = PROVIDERS[3];
pub(crate) const EC2: Provider = PROVIDERS[4];
/// The same without one of its resources.
pub(crate) const EC2_LESS: Provider = Provider { served: &["vpcs.ec2.aws.example.org"], ..EC2 };
const RDS: Provider = PROVIDERS[5];

/// Everything that happens.
pub(crate) async fn story(place: &Place, settings: &Settings) -> Result<()> {
    let manager = manage(place, settings)?;
    platform::install(place).await?;
    said(place, "installed").await?;
    upgrade(place).await?;
    K8S.deactivate(place).await?;
    said(place, "deactivated").await?;
    delete(place).await?;
    shrink(place).await?;
    pause(place).await?;
    rename(place).await?;
    manager.rest().await?;
    manager.end().await
}

/// Whether everybody's access is what the table says of a step.
pub(crate) async fn said(place: &Place, step: &str) -> Result<()> {
    Matrix::after(step)?.holds(place).await.with_context(|| step.to_owned())
}

/// What nobody may lose while a provider changes.
fn used(by: &[&'static str], what: &[&str]) -> Vec<Question> {
    by.iter().flat_map(|subject| what.iter().map(|text| Question::new(subject, text))).collect()
}

/// Crossplane deactivates an old revision before the new one has anything.
async fn upgrade(place: &Place) -> Result<()> {
    let read = ["get releases.helm.example.org", "watch providerconfigs.helm.example.org"];
    let write = ["create releases.helm.example.org", "delete providerconfigs.helm.example.org"];
    let mut questions = used(&["core", "admin", "edit", "view"], &read);
    questions.extend(used(&["core", "admin", "edit"], &write));
    let guard = Guard::start(place, questions);
    let helm = PROVIDERS[0];
    helm.deactivate(place).await?;
    place.apply(&HELM_2.object()).await?;
    said(place, "upgrading").await?;
    HELM_2.establish(place).await?;
    HELM_2.start(place).await?;
    said(place, "upgraded").await?;
    guard.end().await
}

/// A member of the family, a definition, what a namespace enables, and a whole namespace go.
async fn delete(place: &Place) -> Result<()> {
    let leaver = with(
        platform::namespace("leaver"),
        json!({"metadata": {"annotations": {"rbac.crossplane.io/xdatabases.acme.io": "xrd-enabled"}}}),
    );
    place.apply(&leaver).await?;
    let roles = ["edit", "view"].map(|role| rbac("ClusterRole", &format!("crossplane-ns-leaver-{role}")));
    for role in &roles {
        place.until("a role of a namespace", role, |role| role["metadata"]["uid"].is_string()).await?;
    }
    place.delete(&leaver).await?;
    for role in &roles {
        place.until_gone(role).await?;
    }
    place.delete(&S3.object()).await?;
    let caches = Definition { plural: "xcaches", group: "acme.io", scope: Scope::Claimed };
    place.delete(&caches.object()).await?;
    place
        .merge(&team(4), &json!({"metadata": {"annotations": {"rbac.crossplane.io/xdatabases.acme.io": null}}}))
        .await?;
    said(place, "deleted").await?;
    for role in ["edit", "view"] {
        place.until_gone(&rbac("ClusterRole", &format!("crossplane-ns-team-4-{role}"))).await?;
    }
    for role in ["aggregate-to-edit", "aggregate-to-view", "system"] {
        place.until_gone(&rbac("ClusterRole", &format!("crossplane:provider:{}:{role}", S3.id()))).await?;
    }
    place.until_gone(&rbac("ClusterRoleBinding", &format!("crossplane:provider:{}:system", S3.id()))).await?;
    // What it brought goes with it, sooner or later.
    place.until_gone(&served("buckets.s3.aws.example.org")).await?;
    place.until_gone(&managed("objectlocks.s3.aws.example.org")).await
}

/// A provider and a namespace want less.
async fn shrink(place: &Place) -> Result<()> {
    place.report(&EC2.object(), &EC2_LESS.status()).await?;
    place.delete(&served("subnets.ec2.aws.example.org")).await?;
    place.merge(&team(2), &json!({"metadata": {"annotations": {"rbac.crossplane.io/xcaches.acme.io": null}}})).await?;
    place.merge(&team(3), &json!({"metadata": {"annotations": {"rbac.crossplane.io/xrds": "apps.acme.io"}}})).await?;
    said(place, "shrunk").await
}

/// On behalf of what is paused nothing is written.
async fn pause(place: &Place) -> Result<()> {
    let pause = |key: &str, value: Value| json!({"metadata": {"annotations": {key: value}}});
    let queues = Definition { plural: "xqueues", group: "acme.io", scope: Scope::Claimed };
    let role = rbac("ClusterRole", "crossplane:composite:xqueues.acme.io:aggregate-to-view");
    place.merge(&queues.object(), &pause("rolewright.io/paused", json!("true"))).await?;
    place.merge(&RDS.object(), &pause("crossplane.io/paused", json!("true"))).await?;
    // A namespace that is paused enables something in vain.
    let paused = json!({"rolewright.io/paused": "true", "rbac.crossplane.io/jobs.acme.io": "xrd-enabled"});
    place.merge(&team(8), &json!({"metadata": {"annotations": paused}})).await?;
    // Somebody takes what viewers had, a provider gets another account, and both stay so.
    place.merge(&role, &json!({"rules": []})).await?;
    let deployment = RDS.owned(place, RDS.deployment("irsa")).await?;
    place.apply(&deployment).await?;
    place.delete(&RDS.account()).await?;
    said(place, "paused").await?;
    // What comes after what was paused is done, so the manager has seen all of it.
    let enabled = json!({"metadata": {"annotations": {"rbac.crossplane.io/jobs.acme.io": "xrd-enabled"}}});
    place.merge(&team(7), &enabled).await?;
    Question::new("t7e", "create jobs.acme.io in team-7").until(place, true).await?;
    let in_vain = ("t8e", "create jobs.acme.io in team-8");
    for (subject, text) in [("view", "get xqueues.acme.io"), ("irsa", "get instances.rds.aws.example.org"), in_vain] {
        ensure!(!Question::new(subject, text).answer(place).await?, "{subject} may not {text}");
    }
    place.merge(&queues.object(), &pause("rolewright.io/paused", Value::Null)).await?;
    place.merge(&RDS.object(), &pause("crossplane.io/paused", Value::Null)).await?;
    let jobs = Question::new(in_vain.0, in_vain.1);
    place.merge(&team(8), &pause("rolewright.io/paused", Value::Null)).await?;
    jobs.until(place, true).await?;
    place.merge(&team(8), &pause("rbac.crossplane.io/jobs.acme.io", Value::Null)).await?;
    jobs.until(place, false).await?;
    said(place, "resumed").await
}

/// A package and a definition get other names.
async fn rename(place: &Place) -> Result<()> {
    let mut questions = used(&["core", "admin", "edit", "view"], &["get objects.k8s.example.org"]);
    questions.extend(used(&["core", "admin", "edit"], &["delete objects.k8s.example.org"]));
    let guard = Guard::start(place, questions);
    KUBE.install(place).await?;
    Question::new("kube", "update objects.k8s.example.org").until(place, true).await?;
    place.delete(&K8S.object()).await?;
    let topics = Definition { plural: "xtopics", group: "acme.io", scope: Scope::Claimed };
    let streams = Definition { plural: "xstreams", ..topics };
    place.delete(&topics.object()).await?;
    place.apply(&streams.object()).await?;
    place
        .merge(&team(6), &json!({"metadata": {"annotations": {"rbac.crossplane.io/xrds": "xstreams.acme.io"}}}))
        .await?;
    said(place, "renamed").await?;
    guard.end().await
}
