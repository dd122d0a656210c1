//! Who may do what: a table of questions and subjects, asked by SubjectAccessReview.
//!
//! `matrix.txt` has a section for each step of the story. The first has all questions, later ones only those whose answers
//! change; of all others, some are asked again after each step. `y` is yes and `-` is no; of a question with
//! `{a,b}` all parts have the same answer, and `*` is every question, of which
//! a part is asked.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::place::{PATIENCE, Place};
use crate::platform::{LONG, SYSTEM};

const TABLE: &str = include_str!("matrix.txt");
/// Reviews that are under way at the same time.
const AT_ONCE: usize = 16;
/// Of what a step does not change, one part of so many is asked.
const PARTS: usize = 8;
/// Of what a step changes all at once, one of so many.
const FEW: usize = 4;

/// The answers to all questions after a step.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// The rows that the step changes, and what of the others is asked.
    changed: Vec<usize>,
    nth: usize,
    subjects: Vec<&'static str>,
    rows: Vec<(&'static str, Vec<bool>)>,
}

/// A question, or a part of one, with its row and column.
type Cell = (usize, usize, Question);

/// One question about one subject.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) subject: &'static str,
    pub(crate) text: String,
    review: Value,
}

impl Matrix {
    /// The table after a step: its section over those before.
    pub(crate) fn after(step: &str) -> Result<Self> {
        let mut matrix = Self { changed: Vec::new(), nth: 0, subjects: Vec::new(), rows: Vec::new() };
        for (nth, section) in TABLE.split("\n== ").skip(1).enumerate() {
            (matrix.nth, matrix.changed) = (nth, Vec::new());
            let (title, lines) = section.split_once('\n').context("a section has a title")?;
            for line in lines.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
                matrix.read(line).with_context(|| format!("{title}: {line}"))?;
            }
            if title == step {
                return Ok(matrix);
            }
        }
        bail!("there is no step `{step}`")
    }

    fn read(&mut self, line: &'static str) -> Result<()> {
        let (question, cells) = line.split_once('|').context("a line has a bar")?;
        let (question, cells) = (question.trim(), cells.split_whitespace());
        if question.is_empty() {
            self.subjects = cells.collect();
            return Ok(());
        }
        let answers: Vec<bool> = cells.map(|cell| cell == "y").collect();
        ensure!(answers.len() == self.subjects.len(), "it has {} answers", answers.len());
        if question == "*" {
            self.changed = (0..self.rows.len()).step_by(FEW).collect();
            self.rows.iter_mut().for_each(|row| row.1.clone_from(&answers));
            return Ok(());
        }
        let at = self.rows.iter().position(|(known, _)| *known == question);
        self.changed.push(at.unwrap_or(self.rows.len()));
        match at.and_then(|at| self.rows.get_mut(at)) {
            Some(row) => row.1 = answers,
            None => self.rows.push((question, answers)),
        }
        Ok(())
    }

    /// The rows to ask: those that the step changes, and of the others each time another part.
    fn asked(&self) -> Vec<usize> {
        let all = 0..self.rows.len();
        all.filter(|row| self.changed.contains(row) || row % PARTS == self.nth % PARTS).collect()
    }

    /// Waits until the server says what the table says.
    pub(crate) async fn holds(&self, place: &Place) -> Result<()> {
        let start = Instant::now();
        let all = self.questions();
        // What changes tells when it is time to ask for the rest.
        for rows in [&self.changed, &self.asked()] {
            let asked = all.iter().filter(|(row, ..)| rows.contains(row)).collect::<Vec<_>>();
            let mut wrong = self.wrong(place, &asked).await?;
            while !wrong.is_empty() {
                ensure!(start.elapsed() < PATIENCE, "{} answers are wrong:\n{}", wrong.len(), self.told(&wrong));
                sleep(Duration::from_millis(50)).await;
                wrong = self.wrong(place, &wrong).await?;
                if wrong.is_empty() {
                    // What was right before may no longer be.
                    wrong = self.wrong(place, &asked).await?;
                }
            }
        }
        Ok(())
    }

    /// Those of some questions to which the server has another answer than the table.
    async fn wrong<'a>(&self, place: &Place, asked: &[&'a Cell]) -> Result<Vec<&'a Cell>> {
        let answers = asked.iter().map(|cell| async move {
            let right = cell.2.answer(place).await? == self.says(cell.0, cell.1);
            anyhow::Ok((!right).then_some(*cell))
        });
        let wrong: Vec<_> = futures::stream::iter(answers).buffered(AT_ONCE).try_collect().await?;
        Ok(wrong.into_iter().flatten().collect())
    }

    fn told(&self, wrong: &[&Cell]) -> String {
        let told = wrong.iter().map(|(row, column, question)| {
            let says = if self.says(*row, *column) { "may" } else { "may not" };
            format!("  {} {says} {}, says the table", question.subject, question.text)
        });
        told.collect::<Vec<_>>().join("\n")
    }

    /// Everything that both tables allow.
    pub(crate) fn both(one: &Self, other: &Self) -> Vec<Question> {
        let both = one.questions().into_iter();
        both.filter(|(row, column, _)| one.says(*row, *column) && other.says(*row, *column))
            .map(|(.., it)| it)
            .collect()
    }

    fn says(&self, row: usize, column: usize) -> bool {
        self.rows[row].1[column]
    }

    fn questions(&self) -> Vec<Cell> {
        let mut all = Vec::new();
        for (row, (text, _)) in self.rows.iter().enumerate() {
            for text in expanded(text) {
                for (column, subject) in self.subjects.iter().enumerate() {
                    all.push((row, column, Question::new(subject, &text)));
                }
            }
        }
        all
    }
}

/// `get {a,b}.c` is `get a.c` and `get b.c`.
fn expanded(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let (parts, after) = rest.split_once('}').unwrap_or((rest, ""));
    parts.split(',').flat_map(|part| expanded(&format!("{before}{part}{after}"))).collect()
}

impl Question {
    /// `VERB RESOURCE.GROUP[/SUBRESOURCE] [in NAMESPACE]`; the group `LONG` is one that fits into no label.
    pub(crate) fn new(subject: &'static str, text: &str) -> Self {
        let mut words = text.split_whitespace();
        let (verb, resource) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let namespace = words.nth(1).unwrap_or_default();
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        let group = if group == "LONG" { LONG } else { group };
        let (user, groups) = identity(subject);
        let attributes = json!({"verb": verb, "group": group, "resource": resource, "subresource": subresource,
            "namespace": namespace});
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "metadata": {}, "spec": {"user": user, "groups": groups, "resourceAttributes": attributes}});
        Self { subject, text: text.to_owned(), review }
    }

    pub(crate) async fn answer(&self, place: &Place) -> Result<bool> {
        place.review(&self.review).await
    }

    /// Waits for an answer.
    pub(crate) async fn until(&self, place: &Place, expected: bool) -> Result<()> {
        let start = Instant::now();
        while self.answer(place).await? != expected {
            ensure!(start.elapsed() < PATIENCE, "{}: `{}` is not {expected}", self.subject, self.text);
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

/// Who a column is about. `t1e` is who edits in namespace `team-1`, `helm1` the account of the first revision of that
/// provider.
fn identity(subject: &str) -> (String, Vec<String>) {
    let account = |name: &str| {
        let groups = ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{SYSTEM}")];
        let groups = groups.into_iter().chain(["system:authenticated".to_owned()]).collect();
        (format!("system:serviceaccount:{SYSTEM}:{name}"), groups)
    };
    let person = |name: &str, group: Option<&str>| {
        let groups = group.into_iter().chain(["system:authenticated"]).map(str::to_owned).collect();
        (name.to_owned(), groups)
    };
    let team = |subject: &str| {
        let (number, role) = subject.strip_prefix('t')?.split_at_checked(subject.len().checked_sub(2)?)?;
        let role = [("e", "edit"), ("v", "view")].into_iter().find(|(letter, _)| *letter == role)?.1;
        number.parse::<u8>().ok().map(|number| format!("team-{number}-{role}"))
    };
    match subject {
        "core" => account("crossplane"),
        // Somebody gave that provider an account of a name of their own.
        "irsa" => account(subject),
        "helm2" => account("provider-helm-2"),
        "kube" => account("provider-kube-1"),
        "admin" => person("ada", Some("crossplane:masters")),
        "edit" | "view" | "browse" | "nobody" => person(subject, None),
        _ => match team(subject) {
            Some(user) => person(&user, None),
            None => account(&format!("provider-{subject}-1")),
        },
    }
}
