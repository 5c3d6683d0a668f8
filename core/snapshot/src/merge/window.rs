//! The output window of a merge, and whether levels older than the merged ones exist.

use std::ops::Range;

/// A rectangle of the merge output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Row range.
    pub rows: Range<u32>,
    /// Column range.
    pub columns: Range<u32>,
}

/// Whether levels exist that are older than the merged ones, which determines the blanks and
/// `General` formats that a merge must retain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OlderLevels {
    /// Older levels exist, so blanks and moves that affect older cells are retained.
    Present,
    /// No older level exists, so blanks are dropped.
    Absent,
    /// There is neither an older level nor a range format that a cell's `General` format could
    /// hide.
    AbsentWithoutRangeFormats,
}

impl OlderLevels {
    /// Returns whether an older level exists.
    #[must_use]
    pub fn are_present(self) -> bool {
        self == Self::Present
    }
}
