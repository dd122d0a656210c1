//! Restarts, and restarts with other settings: nobody's access is lost on the way.

use anyhow::{Context, Result, ensure};
use rolewright_plan::crossplane::{FamilyRoles, Manage, Settings, UserRoles};

use crate::guard::Guard;
use crate::matrix::{Matrix, Question};
use crate::place::{self, Place, Running};
use crate::story::said;

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
