//! Strongly connected components: which roles select each other in circles, and what follows from what.

use rustc_hash::FxHashMap;

use super::names::RoleId;

#[derive(Clone, Copy)]
struct Mark {
    /// When the role was first seen.
    index: usize,
    /// The earliest role that it is known to reach and that is still open.
    low: usize,
    /// Its component is not complete.
    open: bool,
}

/// Tarjan's algorithm without recursion, since chains may be long. The components of all that `roots` reach through
/// `next`, each sorted; a component comes after those that it reaches.
pub(super) fn components<I: Iterator<Item = RoleId>>(
    roots: impl IntoIterator<Item = RoleId>,
    next: impl Fn(RoleId) -> I,
) -> Vec<Vec<RoleId>> {
    let mut marks: FxHashMap<RoleId, Mark> = FxHashMap::default();
    let mut open = Vec::new();
    let mut path: Vec<(RoleId, Mark, I)> = Vec::new();
    let mut found = Vec::new();
    for root in roots {
        let mut entered = (!marks.contains_key(&root)).then_some(root);
        loop {
            if let Some(role) = entered.take() {
                let mark = Mark { index: marks.len(), low: marks.len(), open: true };
                marks.insert(role, mark);
                open.push(role);
                path.push((role, mark, next(role)));
            }
            let Some((_, mark, edges)) = path.last_mut() else { break };
            if let Some(role) = edges.next() {
                match marks.get(&role) {
                    None => entered = Some(role),
                    Some(seen) if seen.open => mark.low = mark.low.min(seen.index),
                    Some(_) => {}
                }
            } else if let Some((role, mark, _)) = path.pop() {
                if let Some((_, parent, _)) = path.last_mut() {
                    parent.low = parent.low.min(mark.low);
                }
                if mark.low == mark.index {
                    found.push(close(role, &mut open, &mut marks));
                }
            }
        }
    }
    found
}

/// Takes off the stack all that was opened since `root`: one component.
fn close(root: RoleId, open: &mut Vec<RoleId>, marks: &mut FxHashMap<RoleId, Mark>) -> Vec<RoleId> {
    let start = open.iter().rposition(|&role| role == root).unwrap_or(open.len());
    let mut members = open.split_off(start);
    for role in &members {
        if let Some(mark) = marks.get_mut(role) {
            mark.open = false;
        }
    }
    members.sort_unstable();
    members
}
