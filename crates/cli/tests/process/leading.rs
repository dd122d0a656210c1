//! One of several leads.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::time::sleep;

use crate::front::{Entry, Front, Journal};
use crate::place::{Place, ROLES, gathered, gathering, numbered};
use crate::process::Manager;

/// A leader is killed and the next one ends; each time another goes on, and never do two write.
pub(crate) async fn succession(place: &Place) -> Result<()> {
    let journal = Journal::default();
    let fronts = [
        Front::new(place, "first", &journal).await?,
        Front::new(place, "second", &journal).await?,
        Front::new(place, "third", &journal).await?,
    ];
    let start = |front: &Front| Manager::start(&place.kubeconfig_of(&front.url)?, &["--lease-name", "succession"]);
    place.role("succession", gathering("succession")).await?;
    let first = start(&fronts[0])?;
    first.says("leading").await?;
    let second = start(&fronts[1])?;
    second.says("somebody else leads").await?;
    let mut work = Work { place, journal: &journal, number: 0 };
    work.until_written_by("first").await?;

    let began = Instant::now();
    first.signal("KILL")?;
    ensure!(first.ended().await?.code.is_none(), "it is dead");
    work.until_written_by("second").await?;
    println!("  killed, and followed after {:.1} s", began.elapsed().as_secs_f64());

    let third = start(&fronts[2])?;
    third.says("somebody else leads").await?;
    let began = Instant::now();
    second.end_well().await?;
    third.says("leading").await?;
    println!("  ended, and followed after {:.2} s", began.elapsed().as_secs_f64());
    work.until_written_by("third").await?;
    third.end_well().await?;
    check(&journal.lock().unwrap())
}

/// Somebody who changes roles all the time.
struct Work<'w> {
    place: &'w Place,
    journal: &'w Journal,
    number: u32,
}

impl Work<'_> {
    /// Goes on until a change was followed by this one.
    async fn until_written_by(&mut self, who: &'static str) -> Result<()> {
        let start = Instant::now();
        loop {
            self.number += 1;
            self.place.role("succession-part", gathered("succession-part", "succession", self.number)).await?;
            if self.journal.lock().unwrap().contains(&Entry::Done(who, 200)) {
                let rules = numbered(self.number);
                self.place
                    .until("the last change", &format!("{ROLES}/succession"), |role| role["rules"] == rules)
                    .await?;
                return Ok(());
            }
            ensure!(start.elapsed() < crate::PATIENCE, "{who} never writes: {:?}", self.journal.lock().unwrap());
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Whoever writes holds the lease, from before the write is sent until it is answered.
fn check(journal: &[Entry]) -> Result<()> {
    let mut holder = None;
    for entry in journal {
        match entry {
            Entry::Lease(who, true) => holder = Some(*who),
            // What another has taken meanwhile is not given back.
            Entry::Lease(who, false) => holder = holder.filter(|holder| holder != who),
            Entry::Began(who) | Entry::Done(who, _) => {
                ensure!(holder == Some(who), "{who} writes while {holder:?} leads: {journal:#?}");
            }
        }
    }
    Ok(())
}
