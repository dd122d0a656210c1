//! The text of an expression, its places, and what is wrong at them.
use std::fmt;

/// More problems than this are counted but not told.
const MOST_TOLD: usize = 100;
/// A longer line is not repeated below a problem.
const LONGEST_SNIPPET: usize = 16384;

/// An expression's text, addressed by code points.
#[derive(Debug)]
pub(crate) struct Source {
    chars: Vec<char>,
    /// Offsets at which the second and later lines start.
    lines: Vec<u32>,
}

/// A place in a text: line from 1, column from 0; none when the problem has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    line: i64,
    column: i64,
}

impl Location {
    pub(crate) const NONE: Self = Self { line: -1, column: -1 };
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let ends = chars.iter().zip(1_u32..).filter(|(char, _)| **char == '\n').map(|(_, next)| next);
        let mut lines: Vec<u32> = ends.collect();
        lines.push(u32::try_from(chars.len() + 1).unwrap_or(u32::MAX));
        Self { chars, lines }
    }

    pub(crate) fn chars(&self) -> &[char] {
        &self.chars
    }

    pub(crate) fn slice(&self, start: usize, end: usize) -> String {
        self.chars.get(start..end.min(self.chars.len())).unwrap_or_default().iter().collect()
    }

    pub(crate) fn location(&self, offset: u32) -> Location {
        let before = self.lines.partition_point(|start| *start <= offset);
        let start = before.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or(0);
        Location { line: i64::try_from(before).unwrap_or(0) + 1, column: i64::from(offset - start) }
    }

    fn line_start(&self, line: i64) -> Option<usize> {
        match line {
            1 => Some(0),
            2.. => self.lines.get(usize::try_from(line).ok()?.checked_sub(2)?).and_then(|at| usize::try_from(*at).ok()),
            _ => None,
        }
    }

    fn snippet(&self, line: i64) -> Option<String> {
        let start = self.line_start(line)?;
        if self.chars.is_empty() {
            return None;
        }
        let end = self.line_start(line + 1).map_or(self.chars.len(), |next| next - 1);
        Some(self.slice(start, end))
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) at: Location,
    pub(crate) message: String,
}

/// Everything that is wrong with an expression, told as cel-go tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issues {
    problems: Vec<Problem>,
    count: usize,
    text: String,
}

impl Issues {
    pub(crate) fn report(&mut self, at: Location, message: impl Into<String>) {
        self.count += 1;
        if self.count <= MOST_TOLD {
            self.problems.push(Problem { at, message: message.into() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn append(&mut self, other: Self) {
        for problem in other.problems {
            self.report(problem.at, problem.message);
        }
    }

    /// Writes the report once the text is at hand; afterwards it prints.
    pub(crate) fn told(mut self, source: &Source) -> Self {
        self.problems.sort_by_key(|problem| (problem.at.line, problem.at.column));
        let mut parts: Vec<String> = self.problems.iter().map(|problem| display(problem, source)).collect();
        if self.count > MOST_TOLD {
            parts.push(format!("{} more errors were truncated", self.count - MOST_TOLD));
        }
        self.text = parts.join("\n");
        self
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Issues {}

fn display(problem: &Problem, source: &Source) -> String {
    let Location { line, column } = problem.at;
    let mut text = format!("ERROR: <input>:{line}:{}: {}", column + 1, problem.message);
    let Some(snippet) = source.snippet(line).filter(|snippet| snippet.len() <= LONGEST_SNIPPET) else { return text };
    let snippet = snippet.replace('\t', " ");
    text.push_str("\n | ");
    text.push_str(&snippet);
    text.push_str("\n | ");
    let mut chars = snippet.chars();
    for char in chars.by_ref().take(usize::try_from(column).unwrap_or(0)) {
        text.push(if char.len_utf8() > 1 { '\u{ff0e}' } else { '.' });
    }
    text.push(if chars.next().is_some_and(|char| char.len_utf8() > 1) { '\u{ff3e}' } else { '^' });
    text
}
