//! When the sandbox should end.

use std::io;
use std::time::Duration;

use rolewright_server::Server;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Signals within it count once.
const MOMENT: Duration = Duration::from_millis(500);

/// How often somebody wanted it to end, from the first moment on.
#[derive(Clone)]
pub(super) struct Wishes(watch::Receiver<usize>);

impl Wishes {
    /// Hears Ctrl-C, SIGTERM, and a terminal that is closed; the last is nothing to one that is detached.
    pub(super) fn hear(detached: bool) -> io::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let (count, wishes) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                let wanted = tokio::select! {
                    _ = interrupt.recv() => true,
                    _ = terminate.recv() => true,
                    _ = hangup.recv() => !detached,
                };
                if wanted {
                    count.send_modify(|count| *count += 1);
                }
            }
        });
        Ok(Self(wishes))
    }

    /// Done when there is one.
    pub(super) async fn first(mut self) {
        // Whoever counts does not end before us.
        let _ = self.0.wait_for(|count| *count > 0).await;
    }

    /// Done when there is another one after a while: whoever ends a group of processes tells some of them twice.
    async fn another(mut self) {
        tokio::time::sleep(MOMENT).await;
        self.0.mark_unchanged();
        let _ = self.0.changed().await;
    }

    /// The end of a sandbox that also ends when it cannot store, or when nobody reads it any more.
    pub(super) fn of(self, server: Server, left: watch::Receiver<bool>) -> Ending {
        Ending { wishes: self, alive: Some((server, left)) }
    }
}

/// How a sandbox ends.
pub(super) struct Ending {
    wishes: Wishes,
    alive: Option<(Server, watch::Receiver<bool>)>,
}

impl Ending {
    /// Done when the sandbox should end; the second time, when its end should not be waited for.
    pub(super) fn next(&mut self) -> impl Future<Output = ()> + use<> {
        let (wishes, alive) = (self.wishes.clone(), self.alive.take());
        async move {
            let Some((server, mut left)) = alive else { return wishes.another().await };
            tokio::select! {
                () = wishes.first() => {}
                _ = server.failed() => {}
                _ = left.wait_for(|left| *left) => {}
            }
        }
    }
}
