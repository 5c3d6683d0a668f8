//! The output window of a merge, and what lies below the merged levels.

use std::ops::Range;

/// A rectangle of the merge output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Row range.
    pub rows: Range<u32>,
    /// Column range.
    pub columns: Range<u32>,
}

/// What lies below the merged levels, which determines the blanks and `General` formats that a
/// merge must retain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// Older levels exist, so blanks and moves that affect older cells are retained.
    Levels,
    /// No older level exists, so blanks are dropped.
    Nothing,
    /// There is neither an older level nor a range format that a cell's `General` format could
    /// hide.
    NothingFormatted,
}

impl Below {
    /// Returns whether no older level exists.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self != Self::Levels
    }
}
