//! Whether we lead, for everybody who must know.

use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A time on two clocks. The first stands still while the machine sleeps; the second does not, but can be set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) instant: Instant,
    wall: SystemTime,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { instant: Instant::now(), wall: SystemTime::now() }
    }

    /// Both clocks are before it. Who sets a clock forward ends a term early, which does no harm.
    fn is_ahead(self) -> bool {
        Instant::now() < self.instant && SystemTime::now() < self.wall
    }

    fn after(self, duration: Duration) -> Self {
        let far = self.wall.checked_add(duration).unwrap_or(self.wall);
        Self { instant: self.instant + duration, wall: far }
    }
}

/// A time during which we lead without interruption.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    /// Counts terms.
    number: u64,
    /// When it ends unless it is prolonged.
    end: Option<Moment>,
}

impl Term {
    fn is_on(self) -> bool {
        self.end.is_some_and(Moment::is_ahead)
    }
}

/// Tells whether we lead. Clones tell the same.
#[derive(Clone, Debug)]
pub struct Leadership {
    term: watch::Receiver<Term>,
    changes: watch::Receiver<bool>,
    holder: watch::Receiver<String>,
    margin: Duration,
}

impl Leadership {
    /// A lease that nobody holds, ever.
    #[cfg(test)]
    pub(crate) fn of_nobody() -> Self {
        Office::vacant(Duration::ZERO).1
    }

    /// Whether we lead at this moment.
    pub fn is_leader(&self) -> bool {
        self.term.borrow().is_on()
    }

    /// The number of our term, if we lead: it differs after any interruption.
    pub fn term(&self) -> Option<u64> {
        let term = *self.term.borrow();
        term.is_on().then_some(term.number)
    }

    /// Who else leads, as far as we know; `""` if nobody does.
    pub fn other(&self) -> String {
        if self.is_leader() { String::new() } else { self.holder.borrow().clone() }
    }

    /// How long a write that begins while we lead may take, so that it has ended when others lead.
    pub fn margin(&self) -> Duration {
        self.margin
    }

    /// Tells when to look at [`is_leader`](Self::is_leader) again: when a term begins and when it ends. Renewals are
    /// silent.
    pub fn changes(&self) -> watch::Receiver<bool> {
        self.changes.clone()
    }
}

/// The other side of [`Leadership`].
#[derive(Debug)]
pub(super) struct Office {
    term: watch::Sender<Term>,
    changes: watch::Sender<bool>,
    holder: watch::Sender<String>,
}

impl Office {
    /// An office that nobody holds; `margin` is how long what is begun in a term may outlast it.
    pub(super) fn vacant(margin: Duration) -> (Self, Leadership) {
        let (term, term_seen) = watch::channel(Term::default());
        let (changes, changes_seen) = watch::channel(false);
        let (holder, holder_seen) = watch::channel(String::new());
        let leadership = Leadership { term: term_seen, changes: changes_seen, holder: holder_seen, margin };
        (Self { term, changes, holder }, leadership)
    }

    /// Somebody else was seen to lead, or nobody.
    pub(super) fn saw(&self, holder: &str) {
        self.holder.send_if_modified(|before| {
            let news = before != holder;
            if news {
                holder.clone_into(before);
            }
            news
        });
    }

    pub(super) fn is_held(&self) -> bool {
        self.term.borrow().is_on()
    }

    /// We lead for so long, counted from when we asked for it. Says whether a new term begins.
    pub(super) fn hold(&self, asked: Moment, duration: Duration) -> bool {
        let mut begins = false;
        self.term.send_modify(|term| {
            begins = !term.is_on();
            *term = Term { number: term.number + u64::from(begins), end: Some(asked.after(duration)) };
        });
        begins
    }

    /// We lead no longer. Says whether we did.
    pub(super) fn vacate(&self) -> bool {
        let mut ends = false;
        self.term.send_modify(|term| {
            ends = term.is_on();
            term.end = None;
        });
        ends
    }

    /// Tells of terms that begin and end; never done.
    pub(super) async fn announce(&self) {
        let mut terms = self.term.subscribe();
        let mut told = 0;
        loop {
            let term = *terms.borrow_and_update();
            let is_on = term.is_on();
            self.changes.send_if_modified(|before| {
                let news = *before != is_on || told != term.number;
                *before = is_on;
                news
            });
            told = term.number;
            let ended = async {
                match term.end.filter(|_| is_on) {
                    Some(end) => sleep_until(end.instant).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // The sender is ours.
                _ = terms.changed() => {}
                () = ended => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Duration = Duration::from_secs(50);
    const MARGIN: Duration = Duration::from_secs(8);
    const ALMOST: Duration = Duration::from_millis(49_999);

    #[tokio::test(start_paused = true)]
    async fn terms_end_by_themselves() {
        let (office, leadership) = Office::vacant(MARGIN);
        assert_eq!((leadership.is_leader(), leadership.term()), (false, None));
        assert!(office.hold(Moment::now(), DEADLINE));
        assert_eq!(leadership.term(), Some(1));
        tokio::time::advance(ALMOST).await;
        assert!(!office.hold(Moment::now(), DEADLINE), "a renewal is no new term");
        tokio::time::advance(ALMOST).await;
        assert_eq!(leadership.term(), Some(1));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(leadership.term(), None);
        assert!(office.hold(Moment::now(), DEADLINE));
        assert_eq!(leadership.term(), Some(2), "there was an interruption");
        drop(office);
        assert!(leadership.is_leader(), "until its time is up");
        tokio::time::advance(DEADLINE).await;
        assert!(!leadership.is_leader());
    }

    #[tokio::test(start_paused = true)]
    async fn only_beginnings_and_ends_are_announced() {
        let (office, leadership) = Office::vacant(MARGIN);
        let mut changes = leadership.changes();
        let told = async {
            for expected in [true, false] {
                changes.changed().await.unwrap();
                assert_eq!(*changes.borrow_and_update(), expected);
                assert_eq!(leadership.is_leader(), expected);
            }
            Instant::now()
        };
        let held = async {
            for _ in 0..10 {
                office.hold(Moment::now(), DEADLINE);
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
            std::future::pending::<()>().await;
        };
        let began = Instant::now();
        let ended = tokio::select! {
            ended = told => ended,
            () = office.announce() => unreachable!(),
            () = held => unreachable!(),
        };
        assert_eq!(ended.duration_since(began).as_secs(), 18 + 50);
    }

    #[tokio::test(start_paused = true)]
    async fn who_set_the_clock_or_slept_does_not_lead() {
        let (office, leadership) = Office::vacant(MARGIN);
        let long_ago = SystemTime::now() - Duration::from_secs(51);
        office.hold(Moment { wall: long_ago, ..Moment::now() }, DEADLINE);
        assert!(!leadership.is_leader());
    }
}
