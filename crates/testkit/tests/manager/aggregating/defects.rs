//! What Kubernetes' controller gets wrong, by the letters of ARCHITECTURE.md: it is said beside it, and right without it.

use serde_json::{Value, json};

use super::case::Step::{Delete, Holds, Merge, Ours, Put, Theirs, Told, Writes};
use super::case::{Case, On};
use super::roles::{by, gathers, on, role};
use crate::place::with;

/// How long the chain is.
const DEPTH: usize = 8;

/// A rule of some 450 kB: three fit into a role, four do not.
fn large(which: char) -> Value {
    let names: Vec<String> = (0..1_800).map(|number| format!("{which}{number:0>249}")).collect();
    with(on("configmaps"), json!({"resourceNames": names}))
}

pub(super) fn cases() -> Vec<Case> {
    vec![empty(), latched(), livelock(), waves(), oversized()]
}

fn empty() -> Case {
    let name = "a-empty";
    let own = with(gathers(name, &[], [by("a-nothing")]), json!({"rules": [on("own")]}));
    let steps = vec![
        Put(own),
        Ours(name, vec![]),
        Theirs(name, vec![on("own")]),
        Told(&[], &[("RW0104", "a-empty")]),
        Writes(1),
    ];
    Case { name, on: On::Unlike, steps }
}

fn latched() -> Case {
    let steps = vec![
        Put(gathers("b-1", &["b-to-2"], [by("b-to-1")])),
        Put(gathers("b-2", &["b-to-1"], [by("b-to-2")])),
        Put(role("b-leaf", &["b-to-1"], &[on("pods")])),
        Holds("b-1", vec![on("pods")]),
        Holds("b-2", vec![on("pods")]),
        Told(&[("RW0102", "b-1"), ("RW0102", "b-2")], &[("RW0102", "b-1"), ("RW0102", "b-2")]),
        Writes(2),
        Delete("b-leaf"),
        Ours("b-1", vec![]),
        Ours("b-2", vec![]),
        Writes(4),
        Theirs("b-1", vec![on("pods")]),
        Theirs("b-2", vec![on("pods")]),
        Told(
            &[("RW0102", "b-1"), ("RW0102", "b-2")],
            &[("RW0102", "b-1"), ("RW0102", "b-2"), ("RW0104", "b-1"), ("RW0104", "b-2")],
        ),
        // Whoever opens the circle heals it.
        Merge("b-1", json!({"metadata": {"labels": {"b-to-2": null}}})),
        Holds("b-1", vec![]),
        Holds("b-2", vec![]),
        Told(&[], &[]),
    ];
    Case { name: "b-", on: On::Unlike, steps }
}

/// Two leaves whose rules would change places for ever.
fn livelock() -> Case {
    let steps = vec![
        Put(gathers("c-1", &["c-to-2"], [by("c-to-1")])),
        Put(gathers("c-2", &["c-to-1"], [by("c-to-2")])),
        Put(role("c-leaf-1", &["c-to-1"], &[on("pods")])),
        Ours("c-1", vec![on("pods")]),
        Ours("c-2", vec![on("pods")]),
        Writes(2),
        Put(role("c-leaf-2", &["c-to-2"], &[on("secrets")])),
        Writes(4),
        Delete("c-leaf-1"),
        Ours("c-1", vec![on("secrets")]),
        Ours("c-2", vec![on("secrets")]),
        Writes(6),
        Delete("c-leaf-2"),
        Ours("c-1", vec![]),
        Ours("c-2", vec![]),
        Writes(8),
    ];
    Case { name: "c-", on: On::Ours, steps }
}

/// A chain is written with one write per role: none is ever seen half done.
fn waves() -> Case {
    let mut steps = Vec::new();
    for depth in 0..DEPTH {
        let (own, next) = (format!("d-to-{depth}"), format!("d-to-{}", depth + 1));
        steps.push(Put(gathers(&format!("d-{depth}"), &[&next], [by(&own)])));
    }
    steps.extend([
        Put(role("d-leaf", &["d-to-0"], &[on("pods")])),
        Ours("d-7", vec![on("pods")]),
        Writes(8),
        Delete("d-leaf"),
        Ours("d-7", vec![]),
        Writes(16),
    ]);
    Case { name: "d-", on: On::Ours, steps }
}

fn oversized() -> Case {
    let name = "f-union";
    let steps = vec![
        Put(gathers(name, &[], [by("f-union")])),
        Put(role("f-union-1", &["f-union"], &[large('a'), on("pods")])),
        Put(role("f-union-2", &["f-union"], &[large('b')])),
        Put(role("f-union-3", &["f-union"], &[large('c')])),
        Holds(name, vec![large('a'), on("pods"), large('b'), large('c')]),
        Put(role("f-union-4", &["f-union"], &[large('d')])),
        Told(&[("RW0101", "f-union")], &[("RW0101", "f-union"), ("RW0104", "f-union")]),
        // What is revoked goes, and what fits comes.
        Put(role("f-union-1", &["f-union"], &[large('a')])),
        Ours(name, vec![large('a'), large('b'), large('c')]),
        Put(role("f-union-5", &["f-union"], &[on("secrets")])),
        Ours(name, vec![large('a'), large('b'), large('c'), on("secrets")]),
        Theirs(name, vec![large('a'), on("pods"), large('b'), large('c')]),
        Told(&[("RW0101", "f-union")], &[("RW0101", "f-union"), ("RW0104", "f-union")]),
        Delete("f-union-4"),
        Holds(name, vec![large('a'), large('b'), large('c'), on("secrets")]),
        Told(&[], &[]),
    ];
    Case { name, on: On::Unlike, steps }
}
