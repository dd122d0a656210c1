//! Ranges of sizes and costs; what is too large stays the largest number.

use crate::value::convert::TWO_TO_64;

/// The least and most elements of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// The least and most an expression costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are computed in floats, and the range is checked before"
)]
pub(super) fn times(value: u64, factor: f64) -> u64 {
    let float = value as f64;
    if float > 0.0 && factor > 0.0 && float > TWO_TO_64 / factor {
        return u64::MAX;
    }
    let product = (float * factor).ceil();
    if product >= TWO_TO_64 { u64::MAX } else { product as u64 }
}

impl Size {
    pub(crate) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(crate) const fn fixed(size: u64) -> Self {
        Self { min: size, max: size }
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    pub(super) fn cost(self, per_unit: f64) -> Cost {
        Cost { min: times(self.min, per_unit), max: times(self.max, per_unit) }
    }

    pub(super) fn times_cost(self, cost: Cost) -> Cost {
        Cost { min: self.min.saturating_mul(cost.min), max: self.max.saturating_mul(cost.max) }
    }
}

impl Cost {
    pub(crate) const ZERO: Self = Self { min: 0, max: 0 };

    pub(super) const fn fixed(cost: u64) -> Self {
        Self { min: cost, max: cost }
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { min: times(self.min, factor), max: times(self.max, factor) }
    }
}
