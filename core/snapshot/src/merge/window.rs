//! The window of a merge, and what lies below the merged levels.

use std::ops::Range;

/// A rectangle of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Row range.
    pub rows: Range<u32>,
    /// Column range.
    pub columns: Range<u32>,
}

/// Kind of contents below the merged levels. Determines which blanks and `General` formats a merge
/// must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// Older levels: blanks and moves that affect older cells are kept.
    Levels,
    /// No level: blanks need not be kept.
    Nothing,
    /// No level and no range format that a cell's own `General` format could hide.
    NothingFormatted,
}

impl Below {
    /// Returns whether no level exists below.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self != Self::Levels
    }
}
