//! Two parameters of a merge: the output window, and whether levels exist that are older than the
//! merged levels.

use std::ops::Range;

/// A rectangle of the merge output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Row range.
    pub rows: Range<u32>,
    /// Column range.
    pub columns: Range<u32>,
}

/// Whether levels exist that are older than the merged levels. If so, a merge must keep blanks and
/// `General` formats that hide older cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OlderLevels {
    /// Older levels exist, so the merge keeps blanks, axis maps and cleared regions that affect
    /// older cells.
    Present,
    /// No older level exists, so the merge drops blanks. It keeps `General` formats, because they
    /// may hide range formats.
    Absent,
    /// Neither an older level nor a range format exists. The merge drops blanks, and also `General`
    /// formats, because they hide nothing.
    AbsentWithoutRangeFormats,
}

impl OlderLevels {
    /// Returns whether an older level exists.
    #[must_use]
    pub fn are_present(self) -> bool {
        self == Self::Present
    }
}
