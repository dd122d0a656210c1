//! Beginning and ending.

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::front::{Entry, Front, Journal, What};
use crate::place::{Place, ROLES, gathered, gathering, numbered};
use crate::process::{Manager, PATIENT};

/// Alive at once, ready when everything was listed.
pub(crate) async fn listed(place: &Place) -> Result<()> {
    let front = Front::new(place, "one", &Journal::default()).await?;
    front.hold(What::Lists);
    let manager = Manager::start(&place.kubeconfig_of(&front.url)?, &["--lease-name", "listed"])?;
    front.has_one().await?;
    ensure!(manager.ask("/livez").await? == (200, "ok".to_owned()));
    let (status, why) = manager.ask("/readyz").await?;
    ensure!(status == 503 && why.contains("not everything has been listed yet"), "{status} {why}");
    front.release();
    manager.until("/readyz", 200).await?;
    manager.end_well().await
}

/// Who is told that somebody was faster looks again, and gets there.
pub(crate) async fn conflicts(place: &Place) -> Result<()> {
    let journal = Journal::default();
    let front = Front::new(place, "one", &journal).await?;
    let manager = Manager::start(&place.kubeconfig_of(&front.url)?, &["--lease-name", "conflicts"])?;
    manager.until("/readyz", 200).await?;
    front.refuse(3);
    place.role("conflicts", gathering("conflicts")).await?;
    place.role("conflicts-part", gathered("conflicts-part", "conflicts", 1)).await?;
    place.until("the rules", &format!("{ROLES}/conflicts"), |role| role["rules"] == numbered(1)).await?;
    let (_, metrics) = manager.ask("/metrics").await?;
    let counted = metrics.lines().find(|line| line.contains("outcome=\"conflict\"")).unwrap_or_default();
    ensure!(counted.starts_with("rolewright_apply_writes_total{") && counted.ends_with(" 3"), "{metrics}");
    manager.end_well().await
}

/// A write that is under way is waited for, and only then is the lease given back.
pub(crate) async fn in_order(place: &Place) -> Result<()> {
    let journal = Journal::default();
    let front = Front::new(place, "one", &journal).await?;
    let manager =
        Manager::start(&place.kubeconfig_of(&front.url)?, &[&["--lease-name", "in-order"][..], &PATIENT].concat())?;
    manager.until("/readyz", 200).await?;
    manager.says("leading").await?;
    front.hold(What::Answers);
    place.role("in-order", gathering("in-order")).await?;
    place.role("in-order-part", gathered("in-order-part", "in-order", 1)).await?;
    front.has_one().await?;
    manager.signal("TERM")?;
    manager.says("ending").await?;
    // Whoever asks is still answered, and nobody else may lead.
    ensure!(manager.ask("/livez").await?.0 == 200);
    ensure!(!place.holder("in-order").await?.is_empty(), "the lease is held while something is written");
    front.release();
    let ended = manager.ended().await?;
    ensure!(ended.code == Some(0), "{ended:#?}");
    ensure!(ended.last().contains("gave the lease back"), "{ended:#?}");
    ensure!(place.holder("in-order").await?.is_empty(), "the lease is free");
    let journal = journal.lock().unwrap().clone();
    let answered = journal.iter().rposition(|entry| matches!(entry, Entry::Done(_, 200)));
    let free = journal.iter().position(|entry| *entry == Entry::Lease("one", false));
    ensure!(answered.is_some() && answered < free, "{journal:?}");
    Ok(())
}

/// A second signal does not wait, and says what it did not wait for.
pub(crate) async fn at_once(place: &Place) -> Result<()> {
    let front = Front::new(place, "one", &Journal::default()).await?;
    let mut manager =
        Manager::start(&place.kubeconfig_of(&front.url)?, &[&["--lease-name", "at-once"][..], &PATIENT].concat())?;
    manager.says("leading").await?;
    manager.until("/readyz", 200).await?;
    front.hold(What::Answers);
    place.role("at-once", gathering("at-once")).await?;
    place.role("at-once-part", gathered("at-once-part", "at-once", 1)).await?;
    front.has_one().await?;
    manager.signal("INT")?;
    let line: Value = manager.says("ending").await?;
    ensure!(line["level"] == "INFO", "{line}");
    let mut ended = None;
    // The first may not have been taken note of when the second comes.
    for _ in 0..100 {
        manager.signal("INT")?;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        if manager.has_ended()? {
            ended = Some(());
            break;
        }
    }
    ensure!(ended.is_some(), "it does not end");
    let ended = manager.ended().await?;
    ensure!(ended.code == Some(4), "{ended:#?}");
    ensure!(ended.last().starts_with("error: interrupted while these tasks were ending: "), "{ended:#?}");
    ensure!(ended.last().contains("manager"), "{ended:#?}");
    front.release();
    Ok(())
}
