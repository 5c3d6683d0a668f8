//! The output window of a merge, and the kind of contents below the merged levels.

use std::ops::Range;

/// A rectangle of the merge output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Row range.
    pub rows: Range<u32>,
    /// Column range.
    pub columns: Range<u32>,
}

/// Kind of contents below the merged levels. It determines which blanks and `General` formats a
/// merge must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// Older levels exist, so blanks and moves that affect older cells are kept.
    Levels,
    /// No level exists below, so blanks need not be kept.
    Nothing,
    /// No level exists below, and no range format that the `General` format of a cell could hide.
    NothingFormatted,
}

impl Below {
    /// Returns whether no level exists below.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self != Self::Levels
    }
}
