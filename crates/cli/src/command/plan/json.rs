//! A plan for programs.

use std::io::Write;

use anyhow::Result;
use rolewright_core::diff::Change;
use rolewright_core::{Principal, Scope};
use rolewright_plan::{Diagnostic, ObjectRef, Severity};
use serde_json::{Value, json};

use super::preflight::{Footing, Refused, Verdict};
use super::review::{Done, Review, Sign};

pub(super) fn print(review: &Review, out: &mut impl Write) -> Result<()> {
    let [add, change, remove] = review.counts();
    let [wider, narrower] = review.subjects();
    let you = review.your_verdict.as_ref().zip(review.user.as_ref()).map(|(yours, user)| {
        let mut yours = verdict(yours);
        if let Some(yours) = yours.as_object_mut() {
            yours.insert("user".to_owned(), json!({ "name": user.name, "groups": user.groups }));
        }
        yours
    });
    let file = |change: &super::review::FileChange| {
        let mut file = object(change.sign, &change.object);
        if let Some(file) = file.as_object_mut() {
            file.insert("file".to_owned(), json!(change.file));
            file.insert("faults".to_owned(), json!(change.faults));
        }
        file
    };
    let mut manager = verdict(&review.manager_verdict);
    if let Some(manager) = manager.as_object_mut() {
        let installed = match review.footing {
            Footing::Given => Some(true),
            Footing::Absent => Some(false),
            Footing::Supposed | Footing::Unseen => None,
        };
        manager.insert("installed".to_owned(), json!(installed));
    }
    let page = json!({
        "incomplete": review.missing,
        "notLookedAt": review.ignored,
        "files": review.files.iter().map(file).collect::<Vec<_>>(),
        "cluster": review.cluster.iter().map(done).collect::<Vec<_>>(),
        "manager": review.manager.iter().map(done).collect::<Vec<_>>(),
        "access": review.access.iter().map(access).collect::<Vec<_>>(),
        "preflight": { "manager": manager, "you": you },
        "problems": review.problems.iter().map(problem).collect::<Vec<_>>(),
        "summary": { "add": add, "change": change, "remove": remove, "wider": wider, "narrower": narrower },
    });
    serde_json::to_writer_pretty(&mut *out, &page)?;
    Ok(writeln!(out)?)
}

fn object(sign: Sign, object: &ObjectRef) -> Value {
    let change = match sign {
        Sign::Add => "add",
        Sign::Change => "change",
        Sign::Remove => "remove",
    };
    let ObjectRef { kind, namespace, name } = object;
    let mut out = json!({ "change": change, "group": kind.group, "kind": kind.kind, "name": name });
    if let Some(out) = out.as_object_mut().filter(|_| !namespace.is_empty()) {
        out.insert("namespace".to_owned(), json!(namespace));
    }
    out
}

fn done(done: &Done) -> Value {
    let mut out = object(done.sign, &done.object);
    if let Some(out) = out.as_object_mut() {
        out.insert("because".to_owned(), json!(done.because));
    }
    out
}

fn access(change: &Change) -> Value {
    let (kind, name) = match &change.principal {
        Principal::User(name) => ("User", name),
        Principal::Group(name) => ("Group", name),
    };
    let namespace = match &change.scope {
        Scope::Cluster => None,
        Scope::Namespace(namespace) => Some(namespace),
    };
    json!({
        "subject": { "kind": kind, "name": name },
        "namespace": namespace,
        "gained": change.gained,
        "lost": change.lost,
        "kept": change.kept,
    })
}

fn verdict(verdict: &Verdict) -> Value {
    let refused = |refused: &Refused| json!({ "object": refused.object.to_string(), "why": refused.why, "missing": refused.missing });
    json!({
        "allowed": verdict.refused.is_empty(),
        "writes": verdict.writes,
        "refused": verdict.refused.iter().map(refused).collect::<Vec<_>>(),
    })
}

fn problem(problem: &Diagnostic) -> Value {
    let severity = match problem.code.severity() {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    json!({
        "code": problem.code.to_string(),
        "reason": problem.code.reason(),
        "severity": severity,
        "object": problem.object.to_string(),
        "message": problem.message,
    })
}
