//! Restarts, and restarts with other settings: nobody's access is lost on the way.

use anyhow::{Context, Result, ensure};
use rolewright_plan::crossplane::{Boundary, FamilyRoles, Manage, Settings, UserRoles};
use rolewright_testkit::manifest::{rbac, with};
use serde_json::{Value, json};

use crate::guard::Guard;
use crate::matrix::{Matrix, Question};
use crate::place::{self, Place, Running};
use crate::platform::{PROVIDERS, Provider, role_ref, user};
use crate::story::{EC2, EC2_LESS, said};

/// A provider that says it is of the family.
const STRANGER: Provider =
    Provider { name: "stranger", served: &["thefts.stranger.example.org"], managed: &[], ..PROVIDERS[3] };

/// The last step of the story: what everybody may do from now on.
pub(crate) const NOW: &str = "renamed";

/// A manager that starts on what another one left has nothing to write.
pub(crate) async fn restart(place: &Place, settings: &Settings) -> Result<()> {
    let manager = rested(place, settings).await?;
    let counts = manager.requests.counts();
    ensure!(counts.writes == 0, "{counts:?}");
    manager.end().await
}

async fn rested(place: &Place, settings: &Settings) -> Result<Running> {
    let manager = place::manage(place, settings)?;
    manager.rest().await?;
    Ok(manager)
}

/// What somebody does all the time.
pub(crate) fn used() -> Vec<Question> {
    let questions = [
        ("core", "create xdatabases.acme.io"),
        ("core", "get vpcs.ec2.aws.example.org"),
        ("admin", "create clusterrolebindings.rbac.authorization.k8s.io"),
        ("admin", "delete apps.acme.io"),
        ("edit", "create releases.helm.example.org"),
        ("view", "get landscapes.acme.io"),
        ("browse", "get xdatabases.acme.io"),
        ("t1e", "create databases.acme.io in team-1"),
        ("t1v", "get databases.acme.io in team-1"),
        ("t5e", "create observabilities.LONG in team-5"),
    ];
    questions.iter().map(|(subject, text)| Question::new(subject, text)).collect()
}

/// Who gathers people's roles changes, and changes back.
pub(crate) async fn user_roles(place: &Place, settings: &Settings) -> Result<()> {
    let guard = Guard::start(place, used());
    let other = match settings.user_roles {
        UserRoles::Aggregated => UserRoles::Materialized,
        UserRoles::Materialized => UserRoles::Aggregated,
    };
    for user_roles in [other, settings.user_roles] {
        let manager = rested(place, &Settings { user_roles, ..settings.clone() }).await?;
        said(place, NOW).await.with_context(|| format!("{user_roles:?}"))?;
        manager.end().await?;
    }
    guard.end().await?;
    restart(place, settings).await
}

/// How families share changes, and changes back.
pub(crate) async fn family_roles(place: &Place, settings: &Settings) -> Result<()> {
    let asked = [
        ("ec2", "update roles.iam.aws.example.org"),
        ("ec2", "update vpcs.ec2.aws.example.org"),
        ("iam", "get vpcs.ec2.aws.example.org"),
        ("aws", "update vpcs.ec2.aws.example.org/finalizers"),
        ("irsa", "get providerconfigs.aws.example.org"),
        ("irsa", "create secrets"),
        ("edit", "delete vpcs.ec2.aws.example.org"),
        ("core", "delete instances.rds.aws.example.org"),
    ];
    let guard = Guard::start(place, asked.iter().map(|(subject, text)| Question::new(subject, text)).collect());
    for family_roles in [FamilyRoles::Shared, FamilyRoles::Replicated] {
        let settings = Settings { family_roles, ..settings.clone() };
        let manager = rested(place, &settings).await?;
        said(place, NOW).await.with_context(|| format!("{family_roles:?}"))?;
        manager.end().await?;
        restart(place, &settings).await.with_context(|| format!("{family_roles:?}"))?;
    }
    guard.end().await?;
    restart(place, settings).await
}

/// How far providers may go changes, and then they are free again.
pub(crate) async fn boundary(place: &Place, settings: &Settings) -> Result<()> {
    let limit = |verbs: &[&str]| {
        let rule = json!({"apiGroups": ["ec2.aws.example.org"], "resources": ["*"], "verbs": verbs});
        with(rbac("ClusterRole", "limit"), json!({"rules": [rule]}))
    };
    // Nobody but providers is bounded.
    let guard = Guard::start(place, used());
    let bounded = Settings { boundary: Boundary::All, boundary_role: Some("limit".into()), ..settings.clone() };
    let manager = place::manage(place, &bounded)?;
    let asked = ["get vpcs.ec2.aws.example.org", "update vpcs.ec2.aws.example.org", "create secrets"];
    let asked = asked.map(|text| Question::new("ec2", text));
    for (limit, answers) in [
        (None, [false, false, false]),
        (Some(limit(&["get", "update"])), [true, true, false]),
        (Some(limit(&["get"])), [true, false, false]),
    ] {
        if let Some(limit) = &limit {
            place.apply(limit).await?;
        }
        for (question, answer) in asked.iter().zip(answers) {
            question.until(place, answer).await.with_context(|| format!("{limit:?}"))?;
        }
    }
    place.delete(&limit(&[])).await?;
    asked[0].until(place, false).await?;
    manager.end().await?;
    let manager = rested(place, settings).await?;
    said(place, NOW).await?;
    manager.end().await?;
    guard.end().await
}

/// Somebody else's provider says that it is of the family, and is told that it is not, until its publisher is trusted.
pub(crate) async fn strangers(place: &Place, settings: &Settings) -> Result<()> {
    let manager = rested(place, settings).await?;
    let mut stranger = STRANGER.object();
    stranger["spec"]["image"] = json!("xpkg.example.org/other/provider-stranger:v1");
    place.apply(&stranger).await?;
    STRANGER.establish(place).await?;
    STRANGER.start(place).await?;
    let own = Question::new("stranger", "update thefts.stranger.example.org");
    own.until(place, true).await?;
    let condition = |live: &Value| {
        let all = live["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|condition| condition["type"] == "PermissionsReady").unwrap_or_default()
    };
    let told = |live: &Value| condition(live)["status"] == "False" && condition(live)["reason"] == "FamilyStranger";
    place.until("a stranger is told", &stranger, told).await?;
    let others = Question::new("stranger", "update vpcs.ec2.aws.example.org");
    ensure!(!others.answer(place).await?, "a stranger reaches what the family brings");
    manager.end().await?;
    let trusted = vec![["acme", "other"].map(|name| format!("xpkg.example.org/{name}").into()).to_vec()];
    let manager = place::manage(place, &Settings { trusted, ..settings.clone() })?;
    others.until(place, true).await?;
    place.until("nothing is wrong any more", &stranger, |live| !told(live)).await?;
    manager.end().await?;
    let manager = rested(place, settings).await?;
    others.until(place, false).await?;
    place.delete(&stranger).await?;
    own.until(place, false).await?;
    manager.rest().await?;
    said(place, NOW).await?;
    manager.end().await
}

/// Somebody binds a role of a family's member: they get what it brings, now and later, and nothing of its relatives.
pub(crate) async fn binders(place: &Place, settings: &Settings) -> Result<()> {
    let manager = rested(place, settings).await?;
    let asked = |text: &str| Question::new("nobody", &format!("{text}.aws.example.org in team-1"));
    let relatives = asked("update roles.iam");
    let role = format!("crossplane:provider:{}:aggregate-to-edit", EC2.id());
    let fields = json!({"roleRef": role_ref(&role), "subjects": user("nobody")});
    let binding = with(rbac("RoleBinding", "team-1/tests-binder"), fields);
    place.apply(&binding).await?;
    asked("update vpcs.ec2").until(place, true).await?;
    place.report(&EC2.object(), &EC2.status()).await?;
    asked("update subnets.ec2").until(place, true).await?;
    manager.rest().await?;
    ensure!(!relatives.answer(place).await?, "a binding gives what nobody was asked about");
    place.delete(&binding).await?;
    place.report(&EC2.object(), &EC2_LESS.status()).await?;
    manager.rest().await?;
    said(place, NOW).await?;
    manager.end().await
}

/// Less is kept, and then more again.
pub(crate) async fn manage(place: &Place, settings: &Settings) -> Result<()> {
    let levels = [(Manage::Basic, "basic"), (Manage::ServiceAccounts, "service accounts"), (Manage::All, NOW)];
    let mut before = NOW;
    for (manage, step) in levels {
        let (was, will) = (Matrix::after(before)?, Matrix::after(step)?);
        // What both levels give is there all the time.
        let kept = Matrix::both(&was, &will).into_iter().step_by(17).collect();
        let guard = Guard::start(place, kept);
        let manager = rested(place, &Settings { manage, ..settings.clone() }).await?;
        will.holds(place).await.with_context(|| step.to_owned())?;
        guard.end().await.with_context(|| step.to_owned())?;
        manager.end().await?;
        restart(place, &Settings { manage, ..settings.clone() }).await.with_context(|| step.to_owned())?;
        before = step;
    }
    Ok(())
}
