//! The live view: lines that come, and on a terminal a line that stays.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use anstyle::Style;
use clap::ValueEnum;
use rolewright_plan::{Severity, Time};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::AbortHandle;

use super::message::{Deed, Message, State, What};
use crate::output::{CHANGE, HEADING, NO, QUIET, YES};
use crate::render;

/// What waits to be shown beyond this is not.
const QUEUE: usize = 4096;
/// Terminals that do not say how wide they are.
const USUAL_WIDTH: usize = 80;

/// How it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// A page and lines for people
    Human,
    /// One object per line
    Json,
}

/// How much and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A terminal with a line that stays.
    Terminal,
    /// Lines, as wide as they are.
    Plain,
    Json,
    /// One line when everything is there.
    Quiet,
}

/// A view that runs beside the manager.
pub(super) struct View {
    pub(super) messages: SyncSender<Message>,
    /// Tells of another width.
    resizes: Option<AbortHandle>,
    thread: JoinHandle<io::Result<()>>,
}

impl View {
    /// Begins to show what comes. `ready` is called before the page is printed, `gone` when nobody reads any more.
    pub(super) fn start(
        output: Output,
        quiet: bool,
        began: Instant,
        ready: impl FnOnce(&super::summary::Summary) + Send + 'static,
        gone: impl FnOnce() + Send + 'static,
    ) -> Self {
        let (messages, coming) = sync_channel(QUEUE);
        let is_terminal = io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let kind = match () {
            () if output == Output::Json => Kind::Json,
            () if quiet => Kind::Quiet,
            () if is_terminal => Kind::Terminal,
            () => Kind::Plain,
        };
        let coloured = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let quiet = quiet && output == Output::Json;
        let screen = Screen {
            out: io::stdout(),
            kind,
            coloured,
            quiet,
            began,
            state: State::default(),
            counts: [0; 3],
            width: terminal_width,
            standing: 0,
        };
        let resizes = (kind == Kind::Terminal).then(|| follow_width(messages.clone())).flatten();
        let thread = std::thread::spawn(move || {
            let shown = show(screen, &coming, ready);
            if shown.is_err() {
                gone();
            }
            shown
        });
        Self { messages, resizes, thread }
    }

    /// Shows what is left; says whether somebody read all of it.
    pub(super) fn end(self) -> io::Result<()> {
        // Whoever can still speak is waited for.
        if let Some(resizes) = self.resizes {
            resizes.abort();
        }
        drop(self.messages);
        self.thread.join().unwrap_or(Ok(()))
    }
}

fn show<W: Write>(
    mut screen: Screen<W>,
    coming: &Receiver<Message>,
    ready: impl FnOnce(&super::summary::Summary),
) -> io::Result<()> {
    let mut ready = Some(ready);
    while let Ok(message) = coming.recv() {
        // Whoever reads that it is ready finds it by what is told here.
        if let Message::Ready(summary) = &message
            && let Some(ready) = ready.take()
        {
            ready(summary);
        }
        screen.take(&message)?;
    }
    screen.end()
}

/// Prints a text with or without its colours.
pub(super) fn print(text: &str) -> io::Result<()> {
    write!(crate::output::stdout(), "{text}")
}

/// Tells when the terminal has another width.
fn follow_width(messages: SyncSender<Message>) -> Option<AbortHandle> {
    let mut changes = signal(SignalKind::window_change()).ok()?;
    let following = tokio::spawn(async move {
        while changes.recv().await.is_some() {
            // What is printed next finds out as well.
            let _ = messages.try_send(Message::Resized);
        }
    });
    Some(following.abort_handle())
}

fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH)
}

/// Where lines go.
pub(super) struct Screen<W> {
    pub(super) out: W,
    pub(super) kind: Kind,
    pub(super) coloured: bool,
    /// For programs that only want to know when it is ready.
    pub(super) quiet: bool,
    pub(super) began: Instant,
    pub(super) state: State,
    /// Since it is ready: written, repaired, revoked.
    pub(super) counts: [usize; 3],
    pub(super) width: fn() -> usize,
    /// How long the line is that stays.
    pub(super) standing: usize,
}

impl<W: Write> Screen<W> {
    pub(super) fn take(&mut self, message: &Message) -> io::Result<()> {
        match message {
            Message::Ready(summary) => {
                let text = match self.kind {
                    Kind::Terminal | Kind::Plain => format!(
                        "{}\n{HEADING}What happens{HEADING:#} from now on, and why (Ctrl-C ends):\n",
                        summary.page()
                    ),
                    Kind::Json => format!("{}\n", summary.to_json()),
                    Kind::Quiet => format!("{}\n", summary.line()),
                };
                self.print(&text)
            }
            Message::Deed(deed) => {
                match deed.what {
                    What::Wrote(_) => self.counts[0] += 1,
                    What::Repaired(_) => self.counts[1] += 1,
                    What::Revoked(_) => self.counts[2] += 1,
                    _ => {}
                }
                let text = self.deed(deed);
                self.print(&text)
            }
            Message::State(state) => {
                self.state = *state;
                self.print("")
            }
            Message::Resized => self.print(""),
        }
    }

    fn deed(&self, deed: &Deed) -> String {
        match self.kind {
            Kind::Quiet => String::new(),
            Kind::Json if self.quiet => String::new(),
            Kind::Json => format!("{}\n", deed.to_json(&now())),
            // Conditions are news to the object's owner, not to whoever watches.
            _ if deed.what == What::Reported => String::new(),
            Kind::Plain => line(deed, self.began.elapsed(), None),
            Kind::Terminal => line(deed, self.began.elapsed(), Some((self.width)())),
        }
    }

    /// Prints above the line that stays.
    fn print(&mut self, text: &str) -> io::Result<()> {
        if self.kind == Kind::Terminal {
            let status = self.status();
            self.clear()?;
            self.styled(text)?;
            self.styled(&format!("{QUIET}{status}{QUIET:#}"))?;
            self.standing = status.chars().count();
        } else {
            self.styled(text)?;
        }
        self.out.flush()
    }

    /// Back to the margin, and what stood there is gone. A terminal that became narrower has it in several lines.
    fn clear(&mut self) -> io::Result<()> {
        let above = self.standing.saturating_sub(1) / (self.width)().max(1);
        if above > 0 {
            write!(self.out, "\x1b[{above}A")?;
        }
        write!(self.out, "\r\x1b[J")
    }

    fn styled(&mut self, text: &str) -> io::Result<()> {
        if self.coloured && self.kind != Kind::Json {
            write!(self.out, "{text}")
        } else {
            write!(self.out, "{}", anstream::adapter::strip_str(text))
        }
    }

    fn status(&self) -> String {
        let [written, repaired, revoked] = self.counts;
        let State { kept, waiting } = self.state;
        let now = if waiting == 0 { "at rest".to_owned() } else { format!("{waiting} planned") };
        // Short, so that it seldom has to be in two lines.
        let text = format!("{now}: {kept} kept, {written} written, {repaired} repaired, {revoked} revoked");
        // One column is left free: some terminals break a line that is full.
        render::cut(&text, (self.width)().saturating_sub(1))
    }

    fn end(&mut self) -> io::Result<()> {
        match self.kind {
            Kind::Terminal => self.clear()?,
            Kind::Json => writeln!(self.out, "{}", json!({ "event": "ended", "time": now() }))?,
            Kind::Plain | Kind::Quiet => {}
        }
        self.out.flush()
    }
}

fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or_default()).to_rfc3339()
}

/// One deed: in one line, or in two where it does not fit.
fn line(deed: &Deed, at: Duration, width: Option<usize>) -> String {
    let style = style(deed.what);
    let clock = format!("{:02}:{:02}", at.as_secs() / 60, at.as_secs() % 60);
    let object = match deed.what {
        What::Planned(writes) => format!("{} for {}", render::count(writes, "write"), render::object(&deed.object)),
        what => match what.sign() {
            Some(sign) => format!("{} {}", sign.letter(), render::object(&deed.object)),
            None => render::object(&deed.object),
        },
    };
    let word = deed.what.word();
    // `00:12 repaired `
    let margin = clock.len() + 1 + 9;
    let in_one = margin + object.chars().count() + 2 + deed.cause.chars().count();
    match width {
        Some(width) if in_one > width => {
            let mut names = broken(&object, width.saturating_sub(margin + 2)).into_iter();
            let first = names.next().unwrap_or_default();
            let mut text = format!("{QUIET}{clock}{QUIET:#} {style}{word:<9}{style:#}{first}\n");
            // Writing to a `String` cannot fail.
            for rest in names {
                let _ = writeln!(text, "{:margin$}  {rest}", "");
            }
            for line in render::wrapped(&deed.cause, width.saturating_sub(margin + 2)) {
                let line = render::cut(&line, width.saturating_sub(margin + 2));
                let _ = writeln!(text, "{:margin$}  {QUIET}{line}{QUIET:#}", "");
            }
            text
        }
        _ => format!("{QUIET}{clock}{QUIET:#} {style}{word:<9}{style:#}{object}  {QUIET}{}{QUIET:#}\n", deed.cause),
    }
}

/// A text in lines of a width, with all its letters: broken between words, or else after a sign within one.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in render::wrapped(text, width) {
        let mut rest = line.as_str();
        while let Some((end, _)) = rest.char_indices().nth(width.max(1)) {
            let (fits, _) = rest.split_at(end);
            let sign = fits.rfind([':', '-', '.', '/']).map_or(end, |at| at + 1);
            let (first, others) = rest.split_at(sign);
            lines.push(first.to_owned());
            rest = others;
        }
        lines.push(rest.to_owned());
    }
    lines
}

fn style(what: What) -> Style {
    match what {
        What::Wrote(_) | What::Solved => YES,
        What::Repaired(_) | What::Problem(Severity::Note | Severity::Warning) => CHANGE,
        What::Revoked(_) | What::Failed | What::Problem(Severity::Error) => NO,
        What::Planned(_) | What::Reported => QUIET,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_too_long_are_broken_and_not_cut() {
        let name = "~ ClusterRole crossplane:provider:aws-s3:aggregate-to-edit";
        let lines = broken(name, 26);
        assert_eq!(lines, ["~ ClusterRole", "crossplane:provider:aws-", "s3:aggregate-to-edit"]);
        assert_eq!(broken("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(broken("a b", 0), ["a", "b"]);
    }

    #[test]
    fn the_line_that_stays_is_gone_also_from_a_terminal_that_became_narrower() {
        let mut screen = Screen {
            out: Vec::new(),
            kind: Kind::Terminal,
            coloured: false,
            quiet: false,
            began: Instant::now(),
            state: State { kept: 56, waiting: 0 },
            counts: [0, 1, 1],
            width: || 80,
            standing: 0,
        };
        screen.take(&Message::State(screen.state)).unwrap();
        let line = "at rest: 56 kept, 0 written, 1 repaired, 1 revoked";
        assert_eq!(String::from_utf8(std::mem::take(&mut screen.out)).unwrap(), format!("\r\x1b[J{line}"));
        // Fifty letters are now in three lines.
        screen.width = || 20;
        screen.take(&Message::Resized).unwrap();
        let shown = String::from_utf8(std::mem::take(&mut screen.out)).unwrap();
        assert_eq!(shown, "\x1b[2A\r\x1b[Jat rest: 56 kept,..");
        screen.end().unwrap();
        assert_eq!(String::from_utf8(screen.out).unwrap(), "\r\x1b[J");
    }
}
