//! Random lives of three candidates on a bad network: never two lead, and in the end one does.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube::Client;
use rolewright_controller::lease::{Leadership, Settings};
use rolewright_testkit::embedded::{Server, admin};
use rolewright_testkit::fault::{FaultLayer, Plan};
use tokio::time::{Instant, sleep, timeout};
use tower::Layer;

use super::Running;
use crate::places::in_process;

const SCHEDULES: u64 = 200;

struct Dice(u64);

impl Dice {
    /// A number below `most`.
    fn roll(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// A candidate, and the network that it is on.
struct Member {
    running: Running,
    faults: FaultLayer,
}

struct Schedule<'s> {
    server: &'s Server,
    seed: u64,
    dice: Dice,
    members: Vec<Member>,
    /// Candidates that died. A process that only looks dead could still write while it thinks that it leads.
    ghosts: Vec<Leadership>,
    born: u64,
}

impl Schedule<'_> {
    fn join(&mut self) -> Result<()> {
        self.born += 1;
        let plan = Plan {
            conflict: 80,
            busy: 50,
            broken: 120,
            late: 60,
            dropped: 150,
            stall: Duration::from_secs(1 + self.dice.roll(20)),
            ..Plan::default()
        };
        // Some lose the server for good at some write.
        let plan =
            if self.dice.roll(4) == 0 { plan.killing(1 + self.dice.roll(20), self.dice.roll(2) == 0) } else { plan };
        let faults = FaultLayer::new(self.seed ^ (self.born << 32), plan);
        let client = Client::new(faults.layer(self.server.router_as(admin())), "default");
        let settings = Settings {
            duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            ..Settings::new("default", format!("lease-{}", self.seed), format!("member-{}", self.born))
        };
        self.members.push(Member { running: Running::start(client, settings)?, faults });
        Ok(())
    }

    fn leaders(&self) -> usize {
        let living = self.members.iter().map(|member| &member.running.leadership);
        living.chain(&self.ghosts).filter(|leadership| leadership.is_leader()).count()
    }

    /// Lets time pass and looks all the while.
    async fn pass(&self, duration: Duration) -> Result<()> {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            sleep(Duration::from_millis(200)).await;
            ensure!(self.leaders() <= 1, "two lead in schedule {}", self.seed);
        }
        Ok(())
    }

    async fn step(&mut self) -> Result<()> {
        let pause = Duration::from_millis(self.dice.roll(15_000));
        self.pass(pause).await?;
        if self.members.is_empty() {
            return self.join();
        }
        let chosen = usize::try_from(self.dice.roll(self.members.len() as u64))?;
        match self.dice.roll(6) {
            0 => {
                let member = self.members.swap_remove(chosen);
                self.ghosts.push(member.running.die());
                self.join()?;
            }
            1 => {
                let member = self.members.swap_remove(chosen);
                self.ghosts.push(member.running.leadership.clone());
                // Others go on meanwhile.
                tokio::spawn(member.running.end());
                self.join()?;
            }
            2 if self.members.len() < 4 => self.join()?,
            _ => {}
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn two_never_lead_at_once() -> Result<()> {
    let server = in_process()?;
    let mut terms = 0;
    for seed in 0..SCHEDULES {
        let dice = Dice(seed);
        let mut schedule = Schedule { server: &server, seed, dice, members: Vec::new(), ghosts: Vec::new(), born: 0 };
        schedule.join()?;
        schedule.join()?;
        for _ in 0..8 {
            schedule.step().await?;
        }
        // Whoever lost the server for good is replaced; then the network is well again.
        schedule.join()?;
        for member in &schedule.members {
            member.faults.quiet();
        }
        let end = Instant::now() + Duration::from_mins(1);
        while schedule.leaders() == 0 || schedule.ghosts.iter().any(Leadership::is_leader) {
            ensure!(Instant::now() < end, "nobody leads at the end of schedule {seed}");
            schedule.pass(Duration::from_secs(1)).await?;
        }
        for member in schedule.members {
            terms += member.running.leadership.term().unwrap_or(0);
            // Its network may be gone for good.
            let _ = timeout(Duration::from_mins(2), member.running.end()).await;
        }
    }
    assert!(terms >= SCHEDULES, "{terms} terms");
    server.end();
    Ok(())
}
