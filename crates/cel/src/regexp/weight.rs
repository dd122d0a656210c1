//! What limits look at while an expression is read.

/// The most nodes on the way to a leaf.
pub(super) const HEIGHT_MAX: usize = 1000;
/// The most instructions of a compiled expression.
pub(super) const SIZE_MAX: u64 = (128 << 20) / 40;
/// The most that counted repetitions within each other may multiply to.
pub(super) const REPEATS_MAX: u64 = 1000;

/// What limits look at in an expression.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    pub(super) height: usize,
    pub(super) size: u64,
    pub(super) repeats: u64,
}

impl Weight {
    pub(super) const LEAF: Self = Self { height: 1, size: 1, repeats: 1 };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            height: self.height.max(other.height),
            size: self.size.saturating_add(other.size),
            repeats: self.repeats.max(other.repeats),
        }
    }

    pub(super) fn within(self, size: u64) -> Self {
        Self { height: self.height + 1, size: self.size.saturating_add(size), ..self }
    }
}

/// A group that is open, or the whole.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) captures: bool,
    /// What comes before the last item, in this branch and in those before it.
    pub(super) before: Option<Weight>,
    pub(super) branches: Option<Weight>,
    /// The last item, which can be repeated.
    pub(super) last: Option<Weight>,
}

impl Group {
    pub(super) fn push(&mut self, weight: Weight) {
        self.before = join(self.before, self.last.take());
        self.last = Some(weight);
    }

    pub(super) fn end_branch(&mut self) -> Weight {
        let branch = join(self.before.take(), self.last.take()).unwrap_or(Weight::LEAF);
        let all = self.branches.map_or(branch, |branches| branches.and(branch));
        self.branches = Some(all);
        all
    }
}

fn join(one: Option<Weight>, other: Option<Weight>) -> Option<Weight> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.or(other),
    }
}
