//! All that is printed passes here: data to stdout, everything else to stderr, colour only where it is wanted.

use std::io::{IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};

/// Headings.
pub(crate) const HEADING: Style = Style::new().bold();
/// What is granted.
pub(crate) const YES: Style = AnsiColor::Green.on_default();
/// What is refused or revoked.
pub(crate) const NO: Style = AnsiColor::Red.on_default();
/// What changes in place, or wants attention.
pub(crate) const CHANGE: Style = AnsiColor::Yellow.on_default();
/// What only supports.
pub(crate) const QUIET: Style = Style::new().dimmed();

/// The width of pages for people in a pipe.
const WIDTH: usize = 100;
/// Narrower ones are left to the terminal.
const NARROWEST: usize = 60;

/// Between an error and the way out.
const HINT: &str = "; hint: ";

/// Standard output; colour is stripped when nobody looks or `NO_COLOR` is set.
pub(crate) fn stdout() -> impl Write {
    anstream::AutoStream::auto(std::io::stdout())
}

/// The width that pages for people keep to: that of the terminal, where there is one.
pub(crate) fn width() -> usize {
    let stdout = std::io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(stdout).ok()).flatten();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.map_or(WIDTH, |columns| columns.max(NARROWEST))
}

/// An error with its causes, on stderr. A stderr that is gone is nobody's loss.
pub(crate) fn error(error: &anyhow::Error) {
    let _ = writeln!(anstream::stderr(), "{NO}error:{NO:#} {}", in_words(error));
}

/// An error with its causes in one line. What to do about it comes last, whichever of them says so.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let (mut causes, mut hints) = (Vec::new(), Vec::new());
    for cause in error.chain().map(ToString::to_string) {
        match cause.split_once(HINT) {
            Some((cause, hint)) => {
                causes.push(cause.to_owned());
                hints.push(hint.to_owned());
            }
            None => causes.push(cause),
        }
    }
    // Some wrap an error in itself.
    causes.dedup();
    hints.dedup();
    let causes = causes.join(": ");
    if hints.is_empty() { causes } else { format!("{causes}{HINT}{}", hints.join(HINT)) }
}

/// A word beside the data, on stderr.
pub(crate) fn note(text: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{QUIET}note:{QUIET:#} {text}");
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn the_way_out_comes_last() {
        let cause = anyhow!("permission denied; hint: be root");
        assert_eq!(in_words(&cause), "permission denied; hint: be root");
        let outer = cause.context("cannot write `a`").context("cannot start; hint: --port 0 takes a free one");
        assert_eq!(
            in_words(&outer),
            "cannot start: cannot write `a`: permission denied; hint: --port 0 takes a free one; hint: be root"
        );
        assert_eq!(in_words(&anyhow!("b").context("a")), "a: b");
        assert_eq!(in_words(&anyhow!("b").context("b").context("a")), "a: b");
    }
}
