//! Ranges of integer lists.

use crate::chunk::bit_packing::significant_bits;

/// Smallest and greatest integer of a list.
#[derive(Clone, Copy)]
pub(super) struct IntegerRange {
    pub(super) min: i64,
    pub(super) max: i64,
}

impl IntegerRange {
    pub(super) const EMPTY: Self = Self { min: i64::MAX, max: i64::MIN };

    pub(super) fn of(integers: &[i64]) -> Self {
        let mut range = Self::EMPTY;
        integers.iter().for_each(|integer| range.include(*integer));
        range
    }

    pub(super) fn include(&mut self, integer: i64) {
        self.min = self.min.min(integer);
        self.max = self.max.max(integer);
    }

    pub(super) fn joined(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns the number of bits that the difference between the smallest integer and any other one
    /// needs. This is 0 if all integers are equal or the list is empty.
    pub(super) fn offset_bits(self) -> u32 {
        if self.max < self.min { 0 } else { significant_bits(self.max.abs_diff(self.min)) }
    }
}
