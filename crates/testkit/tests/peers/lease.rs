//! Both managers at the same time: they share a lease, and whoever does not hold it only looks on.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rolewright_controller::run::{Leases, Process, RunError, run};
use rolewright_controller::{Settings, lease};
use rolewright_plan::Module;
use rolewright_plan::crossplane::Crossplane as OurModule;
use rolewright_testkit::manifest::counted;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::module::stock;
use crate::scene::{self, Scene};
use crate::servers::{Home, PATIENCE, eventually};
use crate::takeover::{Watchman, generated, handed_back, is_marked, marked, met, taken_over};
use crate::world::{HOME, Way};

/// Our whole process.
struct OurProcess {
    metrics: SocketAddr,
    end: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), RunError>>,
}

impl OurProcess {
    fn start(home: &Home) -> Result<Self> {
        // Nobody else takes a port so soon after it was free.
        let metrics = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let seconds = Duration::from_secs;
        // What is left beyond our term is what a write may take.
        let lease = lease::Settings {
            duration: seconds(16),
            renew_deadline: seconds(6),
            retry: seconds(1),
            ..lease::Settings::new(HOME, "rolewright", lease::identity(Some("peers")))
        };
        let process = Process {
            manager: Settings { discovery: Duration::from_millis(50), ..Settings::default() },
            leases: Leases::All(lease),
            listen: Some(metrics),
            instance: "peers".to_owned(),
            grace: seconds(10),
        };
        let modules: Vec<Box<dyn Module>> = vec![Box::new(OurModule::new(stock()))];
        let (end, ended) = oneshot::channel::<()>();
        let mut ended = Some(ended);
        // Only one signal ever comes.
        let signal = move || {
            let ended = ended.take();
            async move {
                match ended {
                    Some(ended) => drop(ended.await),
                    None => std::future::pending().await,
                }
            }
        };
        let ended = tokio::spawn(run(home.client.clone(), modules, process, signal));
        Ok(Self { metrics, end, ended })
    }

    /// What a metric counts, over the lines that contain `part`.
    async fn counted(&self, name: &str, part: &str) -> Result<u64> {
        let mut stream = TcpStream::connect(self.metrics).await?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: peers\r\nconnection: close\r\n\r\n").await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        Ok(counted(&text, name, part))
    }

    async fn is_told_of_peer(&self) -> Result<bool> {
        Ok(self.counted("rolewright_engine_problems", "PeerActive").await.unwrap_or_default() > 0)
    }

    async fn end(self) -> Result<()> {
        let _ = self.end.send(());
        timeout(PATIENCE, self.ended).await.context("our process does not end")???;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_hold_the_lease_only_plans() -> Result<()> {
    scene::play("lease", story).await
}

async fn story(scene: Scene<'_>) -> Result<()> {
    let Scene { crossplane, home, .. } = scene;
    let world = scene.begin().await?;
    let mut peer = crossplane.rbac_elected(&home.kubeconfig, &scene.log(1))?;
    let theirs = met(home, &world, Way::Theirs).await?;

    let ours = OurProcess::start(home)?;
    eventually("word of the peer", || async {
        Ok(if ours.is_told_of_peer().await? { Ok(()) } else { Err(format!("{}: nothing is said", home.name)) })
    })
    .await?;
    let events = format!("/apis/events.k8s.io/v1/namespaces/{HOME}/events");
    home.until(&events, |answer| answer.body.to_string().contains("\"PeerActive\"")).await?;
    let world = marked(home, &world, "theirs").await?;
    met(home, &world, Way::Theirs).await?;
    for (name, object) in generated(home).await? {
        ensure!(!is_marked(&object), "{}: {name} was written beside Crossplane's manager: {object:#}", home.name);
    }
    ensure!(ours.counted("rolewright_apply_writes_total", "").await? == 0, "{}: nothing is written", home.name);
    // Our names and labels differ from theirs, so there is something that it would write.
    let withheld = ours.counted("rolewright_engine_withheld_writes", "crossplane").await?;
    ensure!(withheld > 0, "{}: something is planned", home.name);
    peer.alive()?;
    scene.said("ours only planned");

    let watchman = Watchman::start(home, &theirs);
    peer.end()?;
    taken_over(home).await.context("the lease of Crossplane's manager runs out")?;
    watchman.end().await?;
    ensure!(!ours.is_told_of_peer().await?, "{}: the peer is gone", home.name);
    let withheld = ours.counted("rolewright_engine_withheld_writes", "crossplane").await?;
    ensure!(withheld == 0, "{}: {withheld} writes are left to nobody", home.name);
    scene.said("ours took over when the lease ran out");

    let mut peer = crossplane.rbac_elected(&home.kubeconfig, &scene.log(2))?;
    let world = marked(home, &world, "ours").await?;
    met(home, &world, Way::Ours).await?;
    let waits = || std::fs::read_to_string(scene.log(2));
    eventually("Crossplane's manager to wait", || async {
        let text = waits()?;
        Ok(if text.contains("leader lease") { Ok(()) } else { Err(text) })
    })
    .await?;
    for (name, object) in generated(home).await? {
        ensure!(is_marked(&object), "{}: {name} was written beside ours: {object:#}", home.name);
    }
    ensure!(!waits()?.contains("Starting Controller"), "{}: Crossplane's manager works beside ours", home.name);
    scene.said("Crossplane's manager waited");
    let watchman = Watchman::start(home, &theirs);
    ours.end().await?;
    handed_back(home).await.context("ours lets go of the lease")?;
    watchman.end().await?;
    peer.alive()?;
    peer.end()?;
    scene.said("Crossplane's manager took it back");
    Ok(())
}
