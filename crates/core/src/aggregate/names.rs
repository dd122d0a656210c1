//! Role names as small numbers, and lists of roles in the order of their names.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::Name;

/// A ClusterRole, for as long as it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RoleId(u32);

impl RoleId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Gives numbers to names and takes them back.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    ids: FxHashMap<Name, RoleId>,
    texts: Vec<Name>,
    free: Vec<RoleId>,
}

impl Names {
    pub(super) fn find(&self, name: &str) -> Option<RoleId> {
        self.ids.get(name).copied()
    }

    pub(super) fn text(&self, id: RoleId) -> &Name {
        self.texts.get(id.index()).expect("a RoleId comes from `add`, and `texts` never shrinks")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.ids.reserve(more);
        self.texts.reserve(more);
    }

    /// A number for a name that has none.
    pub(super) fn add(&mut self, name: &Name) -> RoleId {
        let id = if let Some(id) = self.free.pop() {
            if let Some(text) = self.texts.get_mut(id.index()) {
                text.clone_from(name);
            }
            id
        } else {
            let id = u32::try_from(self.texts.len()).expect("four billion ClusterRoles do not fit into memory");
            self.texts.push(name.clone());
            RoleId(id)
        };
        self.ids.insert(name.clone(), id);
        id
    }

    /// Forgets a role that nothing refers to any more; its number may be used again.
    pub(super) fn remove(&mut self, id: RoleId) {
        if let Some(text) = self.texts.get(id.index()) {
            self.ids.remove(text);
            self.free.push(id);
        }
    }

    fn order(&self, a: RoleId, b: RoleId) -> Ordering {
        self.text(a).cmp(self.text(b))
    }
}

/// Roles in ascending order of their names, bytewise, each once: the order in which Kubernetes unites them.
///
/// Most labels have one carrier, which needs no room of its own.
#[derive(Clone, Debug)]
pub(super) enum Roster {
    One(RoleId),
    Many(Vec<RoleId>),
}

impl Default for Roster {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Roster {
    /// Brings any list of roles into order.
    pub(super) fn sorted(mut roles: Vec<RoleId>, names: &Names) -> Self {
        roles.sort_by(|&a, &b| names.order(a, b));
        roles.dedup();
        Self::Many(roles)
    }

    /// The roles of this list that `keep` accepts.
    pub(super) fn filtered(&self, keep: impl Fn(RoleId) -> bool) -> Self {
        Self::Many(self.iter().filter(|&id| keep(id)).collect())
    }

    pub(super) fn insert(&mut self, id: RoleId, names: &Names) {
        let Err(place) = self.place(id, names) else { return };
        match self {
            Self::Many(roles) if roles.is_empty() => *self = Self::One(id),
            Self::Many(roles) => roles.insert(place, id),
            Self::One(other) => *self = Self::Many(if place == 0 { vec![id, *other] } else { vec![*other, id] }),
        }
    }

    pub(super) fn remove(&mut self, id: RoleId, names: &Names) {
        let Ok(place) = self.place(id, names) else { return };
        match self {
            Self::One(_) => *self = Self::default(),
            Self::Many(roles) => {
                roles.remove(place);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = RoleId> {
        self.as_slice().iter().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    fn as_slice(&self) -> &[RoleId] {
        match self {
            Self::One(id) => std::slice::from_ref(id),
            Self::Many(roles) => roles,
        }
    }

    fn place(&self, id: RoleId, names: &Names) -> Result<usize, usize> {
        let roles = self.as_slice();
        // WHY: many roles at once come in name order, so that the end is the place and no search is needed.
        if roles.last().is_none_or(|&last| names.order(last, id).is_lt()) {
            return Err(roles.len());
        }
        roles.binary_search_by(|&other| names.order(other, id))
    }
}
