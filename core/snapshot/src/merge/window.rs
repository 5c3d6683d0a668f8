//! Output window of a merge, and whether levels exist that are older than the merged levels.

use std::ops::Range;

/// A rectangle of the merge output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Row range.
    pub rows: Range<u32>,
    /// Column range.
    pub columns: Range<u32>,
}

/// Whether levels exist that are older than the merged levels. If so, a merge must retain blanks
/// and `General` formats that hide older cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OlderLevels {
    /// Older levels exist, so blanks and moves that affect older cells are retained.
    Present,
    /// No older level exists, so blanks are dropped.
    Absent,
    /// Neither an older level nor a range format exists, so a `General` format hides nothing and is
    /// dropped.
    AbsentWithoutRangeFormats,
}

impl OlderLevels {
    /// Returns whether an older level exists.
    #[must_use]
    pub fn are_present(self) -> bool {
        self == Self::Present
    }
}
