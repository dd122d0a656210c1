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
        };
        let thread = std::thread::spawn(move || {
            let shown = show(screen, &coming, ready);
            if shown.is_err() {
                gone();
            }
            shown
        });
        Self { messages, thread }
    }

    /// Shows what is left; says whether somebody read all of it.
    pub(super) fn end(self) -> io::Result<()> {
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
            // Back to the margin, and what was there is cleared.
            write!(self.out, "\r\x1b[2K")?;
            self.styled(text)?;
            self.styled(&status)?;
        } else {
            self.styled(text)?;
        }
        self.out.flush()
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
        let text =
            format!("{now}: {kept} kept, {written} written, {repaired} repaired, {revoked} revoked since the start");
        // One column is left free: some terminals break a line that is full.
        let text = render::cut(&text, (self.width)().saturating_sub(1));
        format!("{QUIET}{text}{QUIET:#}")
    }

    fn end(&mut self) -> io::Result<()> {
        match self.kind {
            Kind::Terminal => write!(self.out, "\r\x1b[2K")?,
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
            let object = render::cut(&object, width.saturating_sub(margin));
            let mut text = format!("{QUIET}{clock}{QUIET:#} {style}{word:<9}{style:#}{object}\n");
            for line in render::wrapped(&deed.cause, width.saturating_sub(margin + 2)) {
                let line = render::cut(&line, width.saturating_sub(margin + 2));
                // Writing to a `String` cannot fail.
                let _ = writeln!(text, "{:margin$}  {QUIET}{line}{QUIET:#}", "");
            }
            text
        }
        _ => format!("{QUIET}{clock}{QUIET:#} {style}{word:<9}{style:#}{object}  {QUIET}{}{QUIET:#}\n", deed.cause),
    }
}

fn style(what: What) -> Style {
    match what {
        What::Wrote(_) | What::Solved => YES,
        What::Repaired(_) | What::Problem(Severity::Note | Severity::Warning) => CHANGE,
        What::Revoked(_) | What::Failed | What::Problem(Severity::Error) => NO,
        What::Planned(_) | What::Reported => QUIET,
    }
}
