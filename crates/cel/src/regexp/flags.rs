//! `(?`: flags, names, and groups that are only groups.

use std::fmt::Write as _;

use super::{Fault, Parser, taken};

const NAMED: &str = "invalid named capture";
const PERL: &str = "invalid or unsupported Perl syntax";

impl Parser<'_> {
    /// `(?` with flags, a name, or only a group.
    pub(super) fn flags(&mut self) -> Result<(), Fault> {
        let at = self.rest;
        let name_at = if at.len() > 4 && at.starts_with("(?P<") {
            Some(4)
        } else {
            (at.len() > 3 && at.starts_with("(?<")).then_some(3)
        };
        if let Some(start) = name_at {
            let Some(end) = at.find('>') else { return Err((NAMED, at.to_owned())) };
            let name = at.get(start..end).unwrap_or_default();
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return Err((NAMED, at.get(..=end).unwrap_or_default().to_owned()));
            }
            // Names mean nothing here, and those of the regex crate may not begin with a digit.
            self.open(true, "(");
            self.skip(end + 1);
            return Ok(());
        }
        let mut flags = String::new();
        let (mut negative, mut saw_flag) = (false, false);
        let mut rest = at.get(2..).unwrap_or_default();
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                'i' | 'm' | 's' | 'U' => {
                    saw_flag = true;
                    flags.push(c);
                }
                '-' if !negative => {
                    negative = true;
                    saw_flag = false;
                    flags.push('-');
                }
                ':' | ')' if !negative || saw_flag => {
                    self.rest = rest;
                    if c == ':' {
                        self.open(false, &format!("(?{}:", distinct(&flags)));
                    } else if !flags.is_empty() {
                        let _ = write!(self.out, "(?{})", distinct(&flags));
                    }
                    return Ok(());
                }
                _ => break,
            }
        }
        Err((PERL, taken(at, rest)))
    }
}

/// Flags, each where it counts: Go takes one twice, the regex crate does not, and the last mention wins.
fn distinct(flags: &str) -> String {
    let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
    let keep = |part: &str, except: &str| -> String {
        "imsU".chars().filter(|flag| part.contains(*flag) && !except.contains(*flag)).collect()
    };
    let (on, off) = (keep(on, off), keep(off, ""));
    if off.is_empty() { on } else { format!("{on}-{off}") }
}
