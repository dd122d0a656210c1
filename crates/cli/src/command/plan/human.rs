//! A plan as a page for people.

mod group;

use std::io::Write;

use anstyle::Style;
use anyhow::Result;
use rolewright_core::diff::Change;
use rolewright_plan::{Diagnostic, ObjectRef, Severity};

use self::group::Group;
use super::preflight::{Footing, Verdict};
use super::review::{Done, Review, Sign};
use crate::output::{self, CHANGE, HEADING, NO, QUIET, YES};
use crate::render;

/// The column of headings.
const MARGIN: usize = 11;
/// So many rows of a kind are shown one by one, unless all are wanted.
const FEW: usize = 8;
/// So many characters of a reason are shown, or none.
const LEAST: usize = 24;
/// A subject whose name is longer has a line of its own.
const LONG_NAME: usize = 40;
/// So many rights of a subject are shown, unless all are wanted.
const SOME_RIGHTS: usize = 6;
/// So many characters of a message are shown, unless all are wanted.
const LONGEST: usize = 300;

pub(super) fn print(review: &Review, wide: bool, out: &mut impl Write) -> Result<()> {
    let mut page = Page { out, wide, width: output::width() };
    for missing in &review.missing {
        let rows = page.told(missing, "", NO);
        page.section("INCOMPLETE", &rows)?;
    }
    if review.has_files {
        page.files(review)?;
    }
    if !review.cluster.is_empty() {
        page.done("Cluster", &review.cluster)?;
    }
    page.done("Manager", &review.manager)?;
    page.access(&review.access)?;
    page.preflight(review)?;
    page.problems(review)?;
    page.summary(review)?;
    if !review.ignored.is_empty() {
        let kinds: Vec<&str> = review.ignored.iter().map(String::as_str).collect();
        output::note(format!("not looked at, because nobody's rights depend on it: {}", kinds.join(", ")));
    }
    Ok(())
}

impl Sign {
    fn style(self) -> (&'static str, Style) {
        match self {
            Self::Add => ("+", YES),
            Self::Change => ("~", CHANGE),
            Self::Remove => ("-", NO),
        }
    }
}

struct Page<'a, W> {
    out: &'a mut W,
    wide: bool,
    width: usize,
}

impl<W: Write> Page<'_, W> {
    /// Rows under a heading that stands before the first of them.
    fn section(&mut self, heading: &str, rows: &[String]) -> Result<()> {
        for (index, row) in rows.iter().enumerate() {
            let heading = if index == 0 { heading } else { "" };
            writeln!(self.out, "{HEADING}{heading:<MARGIN$}{HEADING:#}{row}")?;
        }
        Ok(())
    }

    fn files(&mut self, review: &Review) -> Result<()> {
        let rows: Vec<(Sign, &ObjectRef, &str)> =
            review.files.iter().map(|change| (change.sign, &change.object, place(&change.file))).collect();
        let mut rows = self.objects(&rows, "change nothing");
        for change in &review.files {
            for fault in &change.faults {
                let text = format!("REFUSED {}: {fault}", render::object(&change.object));
                rows.extend(self.told(&text, "REFUSED", NO));
            }
        }
        self.section("Files", &rows)
    }

    fn done(&mut self, heading: &str, done: &[Done]) -> Result<()> {
        let rows: Vec<(Sign, &ObjectRef, &str)> =
            done.iter().map(|done| (done.sign, &done.object, done.because.as_str())).collect();
        let rows = self.objects(&rows, "nothing to write");
        self.section(heading, &rows)
    }

    /// Objects with a word each, or how many they are.
    fn objects(&self, rows: &[(Sign, &ObjectRef, &str)], nothing: &str) -> Vec<String> {
        if rows.is_empty() {
            return vec![format!("{QUIET}{nothing}{QUIET:#}")];
        }
        let width = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0).min(50);
        if self.wide {
            let names: Vec<String> = rows.iter().map(|(_, object, _)| render::object(object)).collect();
            let width = width(&mut names.iter().map(|name| name.chars().count()));
            let all = rows.iter().zip(names);
            return all.map(|((sign, _, word), name)| row(*sign, &format!("{name:<width$}"), word)).collect();
        }
        let groups = if rows.len() <= FEW * FEW { group::groups(rows) } else { Vec::new() };
        if (1..=FEW).contains(&groups.len()) {
            let single = groups.iter().filter(|group| group.ends.is_empty());
            let width = width(&mut single.map(|group| group.name.chars().count()));
            return groups.iter().flat_map(|group| grouped(group, width, self.width - MARGIN - 2)).collect();
        }
        let mut counts: Vec<((Sign, &str), usize)> = Vec::new();
        for (sign, object, _) in rows {
            let key = (*sign, object.kind.kind);
            match counts.iter_mut().find(|(known, _)| *known == key) {
                Some((_, count)) => *count += 1,
                None => counts.push((key, 1)),
            }
        }
        let words = counts.into_iter().map(|((sign, kind), count)| {
            let (sign, style) = sign.style();
            format!("{style}{sign}{style:#} {}", render::count(count, kind))
        });
        vec![format!("{}   {QUIET}(-o wide){QUIET:#}", words.collect::<Vec<_>>().join("   "))]
    }

    fn access(&mut self, changes: &[Change]) -> Result<()> {
        let width = |words: &dyn Fn(&Change) -> String, most: usize| {
            changes.iter().map(|change| words(change).chars().count()).max().unwrap_or(0).min(most)
        };
        let who = width(&|change| render::subject(&change.principal), usize::MAX);
        let place = width(&|change| change.scope.to_string(), 20);
        let mut rows = Vec::new();
        // Beside a long name there is no room for what it may do.
        let above = !self.wide && who > LONG_NAME;
        let mut last = None;
        for change in changes {
            if above && last != Some(&change.principal) {
                rows.push(render::subject(&change.principal));
                last = Some(&change.principal);
            }
            let lists = [
                ("+", YES, &change.gained, ""),
                ("-", NO, &change.lost, "BREAKING"),
                ("=", QUIET, &change.kept, "stays"),
            ];
            for (sign, style, rules, word) in lists {
                let rights = if self.wide { render::rows(rules) } else { render::short_rows(rules) };
                let shown = if self.wide { rights.len() } else { SOME_RIGHTS };
                for (on, verbs) in rights.iter().take(shown) {
                    let scope = change.scope.to_string();
                    let start = if above {
                        format!("{scope:<place$}  ")
                    } else {
                        format!("{:<who$}  {scope:<place$}  ", render::subject(&change.principal))
                    };
                    let taken = MARGIN + 2 + start.chars().count() + if word.is_empty() { 0 } else { word.len() + 2 };
                    let room = self.width.saturating_sub(taken);
                    let word = if word.is_empty() { String::new() } else { format!("  {style}{word}{style:#}") };
                    let rest = if self.wide { format!("{on}  {verbs}") } else { right(on, verbs, room) };
                    rows.push(format!("{style}{sign}{style:#} {start}{rest}{word}"));
                }
                if rights.len() > shown {
                    let more = rights.len() - shown;
                    rows.push(format!(
                        "{style}{sign}{style:#} {QUIET}and {}   (-o wide){QUIET:#}",
                        render::count(more, "more right")
                    ));
                }
            }
        }
        if rows.is_empty() {
            rows.push(format!("{QUIET}everybody may do the same{QUIET:#}"));
        }
        self.section("Access", &rows)
    }

    /// Whether somebody may.
    fn verdict(&self, who: &str, verdict: &Verdict) -> Vec<String> {
        if verdict.refused.is_empty() {
            let word = match (verdict.writes, who) {
                (0, "you") => "have nothing to write",
                (0, _) => "has nothing to write",
                _ => "ok",
            };
            return vec![format!("{who} {YES}{word}{YES:#}")];
        }
        let mut rows = Vec::new();
        let shown = if self.wide { verdict.refused.len() } else { FEW };
        for refused in verdict.refused.iter().take(shown) {
            let object = render::object(&refused.object);
            let text = format!("{who} REFUSED on {object}: {}", refused.why);
            rows.extend(self.told(&text, "REFUSED", NO));
        }
        if verdict.refused.len() > shown {
            rows.push(format!("{who} {NO}REFUSED{NO:#} on {} more   (-o wide)", verdict.refused.len() - shown));
        }
        rows
    }

    fn preflight(&mut self, review: &Review) -> Result<()> {
        let mut rows = match (review.footing, &review.manager_verdict) {
            (Footing::Absent, verdict) if verdict.refused.is_empty() && verdict.writes > 0 => {
                vec![format!("{QUIET}manager not installed; ok with `rolewright manifests rbac`{QUIET:#}")]
            }
            (Footing::Unseen, verdict) if verdict.refused.is_empty() => {
                vec![format!("{QUIET}manager unknown; its rights could not be read{QUIET:#}")]
            }
            (_, verdict) => self.verdict("manager", verdict),
        };
        match (&review.your_verdict, &review.user) {
            (Some(yours), Some(_)) if review.has_files => rows.extend(self.verdict("you", yours)),
            (None, _) if review.has_files => {
                rows.push(format!("{QUIET}you unknown; --as USER asks for somebody{QUIET:#}"));
            }
            _ => {}
        }
        self.section("Preflight", &rows)
    }

    fn problems(&mut self, review: &Review) -> Result<()> {
        let told = |problem: &Diagnostic| {
            let style = match problem.code.severity() {
                Severity::Error => NO,
                Severity::Warning => CHANGE,
                Severity::Note => QUIET,
            };
            let code = problem.code.to_string();
            let text = format!("{code} {}: {}", render::object(&problem.object), problem.message);
            self.told(&text, &code, style)
        };
        let rows: Vec<String> = review.problems.iter().flat_map(told).collect();
        self.section("Problems", &rows)
    }

    fn summary(&mut self, review: &Review) -> Result<()> {
        let [add, change, remove] = review.counts();
        let [wider, narrower] = review.subjects();
        let subjects = render::count(wider, "subject");
        Ok(writeln!(self.out, "{add} add, {change} change, {remove} remove; {subjects} wider, {narrower} narrower")?)
    }

    /// A text in as many lines as it takes, with one word of it in colour. Only who wants all gets a very long one whole.
    fn told(&self, text: &str, word: &str, style: Style) -> Vec<String> {
        let text = if self.wide { text.to_owned() } else { render::cut(text, LONGEST) };
        let lines = render::wrapped(&text, self.width - MARGIN - 2);
        let coloured = lines.iter().enumerate().map(|(index, line)| match index {
            0 => line.replacen(word, &format!("{style}{word}{style:#}"), 1),
            _ => format!("  {line}"),
        });
        coloured.collect()
    }
}

/// Where a manifest is.
fn place(file: &str) -> &str {
    if file == "-" { "(standard input)" } else { file }
}

/// Objects that belong together: in one line if they fit, otherwise the ends of their names in the next.
fn grouped(group: &Group<'_>, width: usize, room: usize) -> Vec<String> {
    let Group { sign, name, ends, word } = group;
    if ends.is_empty() {
        let left = room.saturating_sub(2 + width.max(name.chars().count()));
        // A few letters of a reason say nothing.
        let word = if word.chars().count() > left && left < LEAST { String::new() } else { render::cut(word, left) };
        return vec![row(*sign, &format!("{name:<width$}"), &word)];
    }
    if name.chars().count() + ends.chars().count() <= room {
        return vec![row(*sign, &format!("{name}{ends}"), "")];
    }
    vec![row(*sign, name, ""), format!("    {}", render::cut(ends, room - 2))]
}

fn row(sign: Sign, name: &str, word: &str) -> String {
    let (sign, style) = sign.style();
    match word {
        "" => format!("{style}{sign}{style:#} {}", name.trim_end()),
        word => format!("{style}{sign}{style:#} {name}  {QUIET}{word}{QUIET:#}"),
    }
}

/// What a right is on and its verbs, in so much room: verbs are cut first.
fn right(on: &str, verbs: &str, room: usize) -> String {
    let on = render::cut(on, room.saturating_sub(10).max(16));
    let left = room.saturating_sub(on.chars().count() + 2).max(8);
    format!("{on}  {}", render::cut(verbs, left))
}
